"""Arguments are copied, and are exactly what they seem."""

from __future__ import annotations

from collections import OrderedDict
from enum import Enum
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel, Field, Secret, SecretBytes, SecretStr

from stateward.run.door.exact import exact, is_hiding


class Pair(NamedTuple):
    one: int
    other: int


class Text(str):
    """A text with more to it."""


class Number(float):
    """A number with more to it."""


class Count(int):
    """A count with more to it."""


class Two(dict[str, int]):
    """Reads differently than it is."""

    def __getitem__(self, key: str) -> int:
        return 2


class Word(str, Enum):  # noqa: UP042  # what people have
    A = "a"


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ([1, {"a": [True, None]}], [1, {"a": [True, None]}]),
        (OrderedDict[str, int](a=1), {"a": 1}),
        (Two(a=1), {"a": 1}),
        (Pair(1, 2), (1, 2)),
        ({Text("a"): [Number(1.5), Count(3)]}, {"a": [1.5, 3]}),
        ({Count(1)}, {1}),
        (frozenset({Text("a")}), frozenset({"a"})),
    ],
)
def test_values_are_of_the_types_that_they_seem_to_be(given: Any, plain: Any) -> None:
    """Equal by what they hold, and by their types all the way down."""
    assert repr(exact(given)) == repr(plain)


def test_containers_are_copied() -> None:
    """Who keeps the first changes nothing in the second."""
    given = {"a": [{"b": 1}]}
    copied = exact(given)
    given["a"][0]["b"] = 2
    assert copied == {"a": [{"b": 1}]}


@pytest.mark.parametrize("value", [Word.A, object(), b"x", None, True])
def test_other_objects_are_left_alone(value: Any) -> None:
    """Members of an enum among them."""
    assert exact(value) is value


def test_what_contains_itself_cannot_be_copied() -> None:
    """The tool says so as of any argument that does not fit."""
    around: list[Any] = []
    around.append(around)
    with pytest.raises(RecursionError):
        exact(around)


class Kept(BaseModel):
    name: str = "x"


class Dropped(BaseModel):
    name: str = Field(default="x", exclude=True)


@pytest.mark.parametrize("value", [SecretStr("x"), SecretBytes(b"x"), Secret[int](1), Dropped()])
def test_what_is_not_written_is_hidden(value: object) -> None:
    """However deep it lies."""
    assert is_hiding(value)
    assert is_hiding({"a": [({"b": value},)]})


@pytest.mark.parametrize("value", ["x", 1, None, [Kept()], {"a": object()}, b"x"])
def test_other_values_hide_nothing(value: object) -> None:
    """What cannot be written is refused for that."""
    assert not is_hiding(value)
