"""Tools that are found at run time: an activity offers them to its own door, and the policy says which may be used."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from langchain_core.tools import BaseTool

from stateward.errors import DefinitionError, RunError
from stateward.run.context import Run, SyncRun
from stateward.run.door.tool import Tool
from stateward.run.door.toolbox import toolbox


def discover(run: Run[Any] | SyncRun[Any], tools: Iterable[Tool | BaseTool]) -> tuple[str, ...]:
    """Let an activity call tools that it has found, as if its state declared them.

    They are held against everything that holds for other tools and, first, against `tools.discovered` of every policy
    around the state that has such a list. Another activity, or the same one in another activation, has to find them
    again. What is found should come from a tool's result, which is in the journal: an activity that is entered again,
    or replayed, then finds the same.

    Args:
        run: What the activity got as `run`.
        tools: Stateward's or LangChain's tools.

    Returns:
        Their names, in order.

    Raises:
        RunError: No policy around the state says which tools that are found may be used.
        DefinitionError: One is no tool, or has the name of a tool that the activity has already.

    Source:
        SYSTEMS.md, D1.
    """
    door = run.door
    if not door.effective.discovered:
        raise RunError(
            "Tools were found at run time, and no policy here says which of them may be used",
            where=run.path,
            fix="List their names under `tools.discovered` of a policy around the state.",
        )
    found = toolbox(tools)
    for name in found:
        if name in door.tools:
            raise DefinitionError(
                f"A tool that was found is named `{name}`, like one that the activity has already",
                where=run.path,
                fix="Give it a name of its own, with the name of where it was found in front for instance.",
            )
    door.tools = {**door.tools, **{name: replace(tool, is_discovered=True) for name, tool in found.items()}}
    return tuple(found)
