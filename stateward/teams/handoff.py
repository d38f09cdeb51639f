"""Handing a conversation over: tools that are shown to a model, and are no calls.

What a member asks for is an ordinary tool call to its model, so that every provider knows it; nothing goes through the
door for it. Of several handoffs in one reply the first in call order wins, whatever runs beside it, and every call has
its answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.messages import BaseMessage, ToolCall, ToolMessage

from stateward.chart.event import Occurrence
from stateward.run.context import Run
from stateward.run.door.tool import ToolResult
from stateward.teams.conversation import observed, refused
from stateward.teams.seen_history import View, seen
from stateward.teams.state import joined, record_of, recorded

Passed = Literal["full", "filtered", "summary"]
"""What the next member sees of what was said before it took over.

full: all of it. filtered: what people and members said, without calls and their results. summary: the note that was
handed over, or a count of what was left out, and the user's last words.
"""
PREFIX = "transfer_to_"
"""How the tool of a handoff is called: this and the member's name."""
ACTIVE = "active"
"""The field of the swarm's record that names the member whose turn it is."""
COUNT = "handoffs"
"""The field of the swarm's record that counts the handoffs of the run."""
VIEW = "view"
"""The field of a member's record that says what it sees."""
SPENT = "handoffs.spent"
"""The event of a handoff that is refused since the run has used up its handoffs; nobody needs to take it."""


@dataclass(frozen=True, slots=True)
class Handoff:
    """One way out of a member.

    Args:
        to: The member that takes over.
        history: What it sees of what was said before.
        about: What the model is told of it; empty for what the member says of itself.
    """

    to: str
    history: Passed = "full"
    about: str = ""

    @property
    def tool(self) -> str:
        """What its tool is called."""
        return f"{PREFIX}{self.to}"

    @property
    def schema(self) -> dict[str, Any]:
        """It as a model is shown it."""
        note = {"type": "string", "description": "What the other one must know or do."}
        parameters: dict[str, Any] = {"type": "object", "properties": {"note": note}, "required": []}
        told = f"Hand the conversation over to {self.to}." + (f" {self.about}" if self.about else "")
        return {"type": "function", "function": {"name": self.tool, "description": told, "parameters": parameters}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Exits:
    """The ways out of one member of a swarm: what is aside of its tools."""

    swarm: str
    member: str
    handoffs: Mapping[str, Handoff]
    """By the name of the tool."""
    max_handoffs: int

    def offered(self, state: Any) -> Sequence[Mapping[str, Any]]:
        """Return the schemas of the handoffs; none when the run has used them up."""
        return [] if self.is_spent(state) else [handoff.schema for handoff in self.handoffs.values()]

    def takes(self, name: str) -> bool:
        """Whether a call is a handoff."""
        return name in self.handoffs

    def heard(self, state: Any, calls: Sequence[ToolCall], run: Run[Any]) -> tuple[list[ToolMessage], dict[str, Any]]:
        """Let the first handoff win, and tell the others so."""
        if self.is_spent(state):
            run.raise_event(Occurrence(name=SPENT, data={"swarm": self.swarm, "member": self.member}))
            return [refused(call, "no handoffs are left; answer yourself") for call in calls], {}
        first, *others = calls
        handoff = self.handoffs[first["name"]]
        said = [refused(call, f"the conversation is handed over to {handoff.to} already") for call in others]
        # The same in a replay, for the record of who takes over names it; another in every run.
        at = run.door.activation
        won = self._won(first, handoff).model_copy(update={"id": f"{at.run}-{at.path}-{at.number}"})
        count = int(record_of(state, self.swarm).get(COUNT, 0)) + 1
        view = View(mode=handoff.history, behind=str(won.id), by=self.member, note=_note(first))
        update = joined(
            recorded(self.swarm, **{ACTIVE: handoff.to, COUNT: count}), recorded(handoff.to, **{VIEW: view.content})
        )
        return [won, *said], update

    def _won(self, call: ToolCall, handoff: Handoff) -> ToolMessage:
        told = f"{handoff.to} goes on with the conversation."
        result = ToolResult(name=call["name"], status="ok", value=told, call_id=str(call["id"]))
        return observed(result)

    def seen(self, state: Any, messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
        """Return what the member sees of the conversation."""
        content = record_of(state, self.member).get(VIEW)
        return messages if content is None else seen(messages, View(**content))

    def is_spent(self, state: Any) -> bool:
        """Whether the run has used up its handoffs."""
        return int(record_of(state, self.swarm).get(COUNT, 0)) >= self.max_handoffs

    def has_left(self, state: Any) -> bool:
        """Whether it is another member's turn."""
        return record_of(state, self.swarm).get(ACTIVE, self.member) != self.member


def _note(call: ToolCall) -> str:
    note = call["args"].get("note")
    return note.strip() if isinstance(note, str) else ""
