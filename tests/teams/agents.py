"""Agents in the smallest chart: one block, and the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, ToolCall

import stateward as sw
from stateward import teams
from stateward.govern.policy import Policy
from stateward.run.graph import ChartGraph
from stateward.run.repair import dangling
from stateward.testing import ScriptedModel


class Work(teams.TeamState, total=False):
    """The state: a conversation of the agent's own, and what it found."""

    own: sw.Messages
    found: dict[str, Any]


@sw.tool(effect="pure")
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@sw.tool(effect="pure")
def fail(why: str) -> str:
    """Fail."""
    raise ValueError(why)


TOOLS = (add, fail)

_CALLS = st.builds(
    ToolCall,
    name=st.sampled_from(["add", "fail", "nope", ""]),
    args=st.dictionaries(st.sampled_from("ab"), st.integers()),
    id=st.sampled_from(["x", "y", None]),
)
REPLIES = st.builds(
    AIMessage,
    content=st.sampled_from(["", "ok", "{", '{"total": 1}']),
    tool_calls=st.lists(_CALLS, max_size=3),
)
"""What a model may say: words, calls that can and cannot be made, and both."""


def alone(block: Any, model: ScriptedModel, *, policy: Policy | None = None, handles: Sequence[str] = ()) -> ChartGraph:
    """Compile a chart of one block; the events of `handles` lead to HELP."""
    chart = sw.Chart(
        "alone",
        Work,
        teams.placed(block, to="DONE", on=[sw.on(event, "HELP") for event in handles]),
        sw.State("HELP", on=[sw.on("again", block.name)]),
        sw.Final("DONE"),
        policy=policy,
    )
    return chart.compile(tools=TOOLS, models={"m": model})


def calculator(*replies: Any, handles: Sequence[str] = (), policy: Policy | None = None, **rest: Any) -> ChartGraph:
    """Compile an agent `CALC` that may add, whose model says what it is told."""
    model = ScriptedModel.of(*replies)
    return alone(teams.agent("CALC", model="m", tools=TOOLS, **rest), model, policy=policy, handles=handles)


def said(values: Mapping[str, Any], key: str = "messages") -> list[tuple[str, str]]:
    """Kind and text of each message of a conversation."""
    return [(message.type, message.text) for message in values[key]]


def is_whole(messages: Sequence[BaseMessage]) -> bool:
    """Whether every call of a history has one answer right behind it."""
    return dangling(messages) == ()


def ask(text: str = "1 + 2?") -> dict[str, Any]:
    """The input: a person says something."""
    return {"messages": [("user", text)]}
