"""The types a checkpoint may hold are those the schema declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

import stateward as sw
from stateward.errors import UpdateRefused
from stateward.run.allowlist import allowlist
from tests.charts.drive import Driven

Drive = Callable[..., Driven]


class Colour(Enum):
    RED = "red"


@dataclass
class Inner:
    colour: Colour


class Outer(BaseModel):
    inner: list[Inner]


@dataclass
class Stranger:
    number: int


class Holding(TypedDict, total=False):
    outer: Outer | None
    anything: Any


def test_declared_types_are_listed_at_any_depth() -> None:
    """Models, dataclasses and enums inside lists, unions and fields."""
    names = {name for _, name in allowlist({"outer": dict[str, Outer | None]})}
    assert names == {"Outer", "Inner", "Colour"}


def test_plain_types_are_not_listed() -> None:
    """They need no permission."""
    assert allowlist({"a": int, "b": list[str], "c": Any}) == frozenset()


def holding(update: Any) -> Any:
    return sw.Chart(
        "holding",
        Holding,
        sw.State("A", do=lambda s: update, to="B"),
        sw.State("B", on=[sw.on("go", "DONE")]),
        sw.Final("DONE"),
    ).compile()


def test_declared_type_comes_back_as_itself(drive: Drive) -> None:
    """Strict msgpack: what the schema declares is loaded as what it was."""
    outer = Outer(inner=[Inner(Colour.RED)])
    assert drive(holding({"outer": outer})).start({}).values["outer"] == outer


def test_undeclared_type_is_refused_before_it_is_stored(drive: Drive) -> None:
    """An unlisted type is an error, not a dict with a log line; the session can still be read."""
    driven = drive(holding({"anything": Stranger(1)}))
    with pytest.raises(UpdateRefused, match=r"Stranger` is not on the allowlist"):
        driven.start({"anything": "text"})
    assert driven.session.outcome().values["anything"] == "text"
