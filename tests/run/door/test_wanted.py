"""A tool call on its way in: paths are brought to what they name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

import stateward as sw
from stateward.govern.decision import CallRequest
from stateward.govern.effective import Effective, effective
from stateward.govern.kinds.arguments import ArgumentRule
from stateward.govern.policy import Policy, Rule, ToolPolicy
from stateward.run.door.wanted import Wanted
from tests.run.store.desk import entry


class Note(BaseModel):
    """A value with a path inside."""

    path: str
    text: str = ""


@sw.tool(effect="pure")
def read(path: str, at: Path, notes: list[Note], more: dict[str, Any]) -> str:
    """Read files."""
    return f"{path} {at} {notes} {more}"


def ruled(*names: str) -> Effective:
    """A policy that rules these paths."""
    rules = tuple(ArgumentRule(name=name, under="") for name in names)
    rule = Rule(match=".*", level="allowed", arguments=rules)
    return effective([("", Policy(name="p", tools=ToolPolicy(rules=(rule,))))], path="A")


@pytest.fixture
def wanted() -> Wanted:
    """A call with paths in all kinds of values."""
    given = {"path": "a/../b", "at": "c", "notes": [{"path": "d", "text": "t"}], "more": {"files": ["e", "f"]}}
    parsed = read.parse(given)
    request = CallRequest(
        kind="tool", name="read", arguments=read.plain(parsed), path="A", declared=frozenset({"read"})
    )
    return Wanted(tool=read, arguments=parsed, request=request, entry=entry())


def test_each_kind_of_value_keeps_its_kind(wanted: Wanted) -> None:
    """Texts, paths, models, lists and mappings."""
    placed = wanted.placed(ruled("path", "at", "notes.path", "more.files"))
    assert placed == {
        "path": "/desk/b",
        "at": Path("/desk/c"),
        "notes": [Note(path="/desk/d", text="t")],
        "more": {"files": ["/desk/e", "/desk/f"]},
    }


def test_what_is_not_ruled_stays_as_it_is(wanted: Wanted) -> None:
    """And what was asked for is not changed."""
    before = dict(wanted.arguments)
    assert wanted.placed(ruled("path"))["at"] == Path("c")
    assert wanted.arguments == before
    assert wanted.placed(ruled("other")) == before


def test_it_is_placed_where_a_path_is_ruled(wanted: Wanted) -> None:
    """Only then a folder is needed."""
    plain = effective([("", Policy(name="p"))], path="A")
    assert (wanted.is_placed(ruled("path")), wanted.is_placed(plain)) == (True, False)
