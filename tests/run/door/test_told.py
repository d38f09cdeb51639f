"""What is told of an exception."""

from __future__ import annotations

import pytest

from stateward.run.door.told import named, told
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
