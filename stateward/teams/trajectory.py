"""What an agent did, step by step, as typed records: read out of its conversation, so that nothing is kept twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from stateward.teams.conversation import has_calls

Kind = Literal["task", "action", "answer"]
"""What a step is.

task: somebody said what is to be done. action: a reply that calls tools, with what came of each. answer: a reply that
calls none.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One call, and its observation."""

    tool: str
    args: Mapping[str, Any]
    """As the model gave them; empty where they could not be read."""
    status: Literal["success", "error", "open"]
    """`open`: it has no observation yet."""
    observation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrajectoryStep:
    """One step of an agent."""

    kind: Kind
    by: str
    """Who spoke; empty when nobody said it."""
    text: str
    acts: tuple[Act, ...] = ()
    """In call order."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return asdict(self)


def trajectory(messages: Sequence[BaseMessage]) -> tuple[TrajectoryStep, ...]:
    """Read the steps out of a conversation.

    Args:
        messages: The conversation of one agent or of several.

    Returns:
        The steps in order; messages of the system are none.

    Source:
        SYSTEMS.md, A4.
    """
    return tuple(
        _step(message, messages[place + 1 :])
        for place, message in enumerate(messages)
        if message.type in ("human", "ai")
    )


def _step(message: BaseMessage, behind: Sequence[BaseMessage]) -> TrajectoryStep:
    by = message.name or ""
    if message.type == "human":
        return TrajectoryStep(kind="task", by=by, text=message.text)
    if not has_calls(message):
        return TrajectoryStep(kind="answer", by=by, text=message.text)
    return TrajectoryStep(kind="action", by=by, text=message.text, acts=_acts(cast(AIMessage, message), behind))


def _acts(reply: AIMessage, behind: Sequence[BaseMessage]) -> tuple[Act, ...]:
    answers: dict[str, ToolMessage] = {}
    for message in behind:
        if not isinstance(message, ToolMessage):
            break
        answers[message.tool_call_id] = message
    return tuple(_act(call, answers.get(str(call["id"]))) for call in (*reply.tool_calls, *reply.invalid_tool_calls))


def _act(call: Mapping[str, Any], answer: ToolMessage | None) -> Act:
    given: object = call["args"]
    return Act(
        tool=call["name"] or "",
        args=cast("Mapping[str, Any]", given) if isinstance(given, Mapping) else {},
        status="open" if answer is None else answer.status,
        observation="" if answer is None else answer.text,
    )
