"""Tools are collected by name, and picked by it."""

from __future__ import annotations

from typing import Any, cast

import pytest

import stateward as sw
from stateward.errors import DefinitionError, UnknownTool
from stateward.run.door.toolbox import select, toolbox


@sw.tool
def order(item: str) -> str:
    """Order."""
    return item


def test_selection_names_what_is_registered() -> None:
    """An unknown tool is an error with the known ones."""
    with pytest.raises(UnknownTool, match="order"):
        select(toolbox([order]), ["nobody"], where="A")


def test_two_tools_of_one_name_are_refused() -> None:
    """A call would not say which."""
    with pytest.raises(DefinitionError, match="Two tools are named `order`"):
        toolbox([order, order])


def test_what_is_no_tool_is_refused() -> None:
    """A plain function has no effect that somebody has declared."""
    with pytest.raises(DefinitionError, match="is no tool"):
        toolbox([cast("Any", print)])
