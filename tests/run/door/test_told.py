"""What is told of an exception."""

from __future__ import annotations

from typing import Any, cast

import pytest
from pydantic import BaseModel, ValidationError

from stateward.run.door.told import named, problems, shortened, told
from tests.charts.tools import Mute


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no order"), "no order"),
        (ValueError("\ud800"), "\\ud800"),
        (Mute(), "(its text cannot be read: RuntimeError)"),
    ],
)
def test_whatever_an_exception_says_can_be_kept(error: Exception, text: str) -> None:
    """It is text without lone surrogates, also of an exception that cannot say anything."""
    assert told(error) == text
    assert told(error).encode()


def test_an_exception_is_named() -> None:
    """Its type comes before its text."""
    assert named(KeyError("x")) == "KeyError: 'x'"


def test_secret_in_what_an_exception_says_is_not_told() -> None:
    """Providers quote a key that they do not know."""
    assert told(ValueError("incorrect key sk-proj4abcDEF7ghiJKL0")) == "incorrect key [redacted api_key]"


def test_a_long_list_of_problems_is_cut() -> None:
    """A model that got thousands of items wrong learns from the first of them."""

    class Many(BaseModel):
        numbers: list[int]

    with pytest.raises(ValidationError) as wrong:
        Many(numbers=cast(Any, ["x"] * 1000))
    text = problems(wrong.value, shape=Many, given={"numbers": ["x"] * 1000})
    assert text.startswith("numbers.0: Input should be a valid integer")
    assert text.endswith("; and 980 more")
    assert text.count(";") == 20


def test_no_list_is_made_of_problems_without_number() -> None:
    """Where the first items of a list are right, it is not searched for those that are wrong."""

    class Many(BaseModel):
        numbers: list[int]

    given: dict[str, Any] = {"numbers": [*range(150), *["x"] * 1000]}
    with pytest.raises(ValidationError) as wrong:
        Many(**given)
    assert (
        problems(wrong.value, shape=Many, given=given) == "1000 values do not fit; give fewer of them to be told which"
    )


def test_a_text_of_any_length_is_shortened() -> None:
    """So much of it is shown as tells what it is."""
    assert shortened("wipe") == "wipe"
    assert shortened("x" * 1_000_000) == f"{'x' * 200}… (1000000 letters)"
