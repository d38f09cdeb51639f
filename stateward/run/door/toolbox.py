"""Tools by name: those that a chart is compiled with, and those that a state declares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from langchain_core.tools import BaseTool

from stateward.chart.argument import several
from stateward.errors import DefinitionError, UnknownTool
from stateward.run.door.tool import Tool, adapt


def toolbox(tools: Iterable[Tool | BaseTool]) -> Mapping[str, Tool]:
    """Collect tools by name.

    Args:
        tools: Stateward's or LangChain's tools; one alone is taken as one.

    Returns:
        The tools by name.

    Raises:
        DefinitionError: One is no tool, or two have one name.
    """
    box: dict[str, Tool] = {}
    given = several(tools, name="tools", expected="tools", where="compile(tools=…)", alone=(str, bytes, Tool, BaseTool))
    for item in given:
        entry = adapt(item) if isinstance(item, BaseTool) else item
        if not isinstance(entry, Tool):
            raise DefinitionError(f"{item!r} is no tool", where="compile(tools=…)", fix="Make one with `sw.tool`.")
        if entry.name in box:
            raise DefinitionError(f"Two tools are named `{entry.name}`", fix="Rename one of them.")
        box[entry.name] = entry
    return box


def select(box: Mapping[str, Tool], names: Iterable[str], *, where: str) -> Mapping[str, Tool]:
    """Pick the tools a state declares.

    Args:
        box: All registered tools.
        names: The declared names.
        where: The state path, for the message.

    Returns:
        The declared tools by name.

    Raises:
        UnknownTool: A name is not registered.
    """
    picked: dict[str, Tool] = {}
    for name in names:
        if name not in box:
            raise UnknownTool(
                f"State declares the tool `{name}`, which nobody registered",
                where=where,
                fix=f"Registered: {', '.join(sorted(box)) or 'none'}. Pass it as `compile(tools=[…])`.",
            )
        picked[name] = box[name]
    return picked
