"""Tools that an activity brings along, so that whoever compiles the chart need not name them again."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import cast

from langchain_core.tools import BaseTool

from stateward.chart.definition import Definition
from stateward.errors import DefinitionError
from stateward.run.door.tool import Tool
from stateward.run.door.toolbox import toolbox


def with_carried(chart: Definition, tools: Iterable[Tool | BaseTool]) -> Mapping[str, Tool]:
    """Collect tools by name: those given, and of the others those that the chart's activities bring along.

    Args:
        chart: Whose activities; a method brings what its object has as `carries`.
        tools: Stateward's or LangChain's tools, which count before what is brought.

    Returns:
        The tools by name.

    Raises:
        DefinitionError: One is no tool, or two of the same kind have one name.
    """
    given = toolbox(tools)
    brought: dict[str, Tool] = {}
    for node in chart.nodes:
        for tool in carried(node.activity.do) if node.activity else ():
            if brought.setdefault(tool.name, tool) is not tool and tool.name not in given:
                raise DefinitionError(
                    f"Two tools are named `{tool.name}`", where=node.path, fix="Rename one of them, or share one."
                )
    return {**brought, **given}


def carried(do: object) -> tuple[Tool, ...]:
    """Return the tools that an activity brings along.

    Args:
        do: What a state has as `do`.
    """
    method: object = inspect.unwrap(do) if callable(do) else do
    return cast("tuple[Tool, ...]", getattr(getattr(method, "__self__", None), "carries", ()))
