"""The turns of `benchmarks.teams` by LangChain's own agents, in the ways that its documentation shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]  # a saver of anything
from langchain_core.tools import tool

from benchmarks.team_model import QuickModel, always, first_calls
from benchmarks.team_side import ANSWERS, COUNTED, PROMPT, TASK, Side, called_a_tool


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def react(saver: Any) -> Any:
    """Return an agent that adds once, and then answers.

    Args:
        saver: LangGraph's.
    """
    model = QuickModel(rule=first_calls("add", says=ANSWERS["react"], a=1, b=2))
    return cast(Any, create_agent(model, [add], system_prompt=PROMPT, name="AGENT", checkpointer=saver))


def delegation(saver: Any) -> Any:
    """Return an agent that has another one as a tool.

    Args:
        saver: LangGraph's.
    """
    worker = cast(Any, create_agent(QuickModel(rule=always(COUNTED)), [], system_prompt=PROMPT, name="WORKER"))

    @tool
    def count(task: str) -> str:
        """Have the worker do something."""
        return worker.invoke({"messages": [("user", task)]})["messages"][-1].text

    lead = QuickModel(rule=first_calls("count", says=ANSWERS["delegation"], task=TASK))
    return cast(Any, create_agent(lead, [count], system_prompt=PROMPT, name="LEAD", checkpointer=saver))


def worker_was_a_tool(values: Mapping[str, Any]) -> bool:
    """Tell whether the worker was asked once, and answered as a tool does.

    Args:
        values: At the end of the turn.
    """
    person, asked, seen, _ = values["messages"][-4:]
    return (person.type, len(asked.tool_calls), seen.type, seen.text) == ("human", 1, "tool", COUNTED)


AGENTS = (
    Side(name="create_agent", turn="delegation", make=delegation, happened=worker_was_a_tool),
    Side(name="create_agent", turn="react", make=react, happened=called_a_tool),
)
