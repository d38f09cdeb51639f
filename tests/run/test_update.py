"""What an activity returns."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from langgraph.types import Command
from pydantic import BaseModel

from stateward.errors import UpdateRefused
from stateward.run.update import as_update


@dataclass
class Point:
    """A dataclass state."""

    x: int
    y: int = 0


class Named(BaseModel):
    """A Pydantic state."""

    name: str
    age: int = 3


def test_mapping_is_itself_and_none_is_nothing() -> None:
    """The usual two."""
    assert (as_update({"a": 1}, where="A"), as_update(None, where="A")) == ({"a": 1}, {})


def test_dataclass_gives_all_its_fields() -> None:
    """It has no notion of one that was not set."""
    assert as_update(Point(x=1), where="A") == {"x": 1, "y": 0}


def test_model_gives_only_what_was_set() -> None:
    """A default does not overwrite what the state has."""
    assert as_update(Named(name="ann"), where="A") == {"name": "ann"}


@pytest.mark.parametrize("other", [Command(goto="B"), 7, ["a"], Point])
def test_anything_else_is_refused(other: object) -> None:
    """A `Command` above all: the chart decides where to go."""
    with pytest.raises(UpdateRefused, match="not an update"):
        as_update(other, where="A")
