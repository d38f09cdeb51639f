"""The events of a session's stream: frozen values, each with its place in the stream and the state it is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from stateward.run.store.entry import CallKey

CallStatus = Literal["ok", "denied", "rejected", "failed", "invalid", "timeout", "unknown"]
"""How a call ended: as a tool's observation says; of a model `ok` or `failed`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEvent:
    """What every event has."""

    kind: ClassVar[str] = ""
    """Its name in JSON."""
    seq: int = 0
    """Its number in the stream, from 1, without a gap."""
    path: str = ""
    """The state it is about, as `WORK.ACT`; of an agent or a chart inside one as `WORK.ACT/agent`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateEntered(StreamEvent):
    """A state was entered; its activity begins afterwards."""

    kind: ClassVar[str] = "state_entered"
    activation: int
    """The n-th time in this run."""
    event: str
    """What led there; `start` at the beginning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateLeft(StreamEvent):
    """A state was left."""

    kind: ClassVar[str] = "state_left"
    event: str
    """What led out of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEvent(StreamEvent):
    """What every event about a governed call has."""

    key: CallKey
    """The call in the journal: `database.journal.get(event.key)`; a call that was refused is not there."""
    of: Literal["tool", "model"]
    name: str
    """The tool, or the model's role."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStarted(CallEvent):
    """A call was let through and is made now."""

    kind: ClassVar[str] = "call_started"
    arguments: Mapping[str, Any] | None
    """Of a tool, redacted; None of a model, and where the state's data is secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnded(CallEvent):
    """A call has ended, in the order in which calls end, or was refused."""

    kind: ClassVar[str] = "call_ended"
    status: CallStatus
    duration_s: float
    """Seconds; 0 of a call that was refused."""
    result: Any = None
    """JSON, redacted: what the tool returned, or what the model said (`content`, `tool_calls`)."""
    left_out: bool = False
    """Whether the result is only in the journal, because it is long or the state's data is secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent(CallEvent):
    """What a call has cost."""

    kind: ClassVar[str] = "spent"
    usd: float
    """US dollars."""
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Token(StreamEvent):
    """A piece of what a model says: a word of one that streams, else the whole."""

    kind: ClassVar[str] = "token"
    text: str
    key: CallKey | None = None
    """The call in the journal; None of a model that an agent without a governor calls."""
    name: str = ""
    """The model's role; empty as above."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(StreamEvent):
    """A person is asked."""

    kind: ClassVar[str] = "asked"
    ask: str
    """The id that an answer names."""
    question: Mapping[str, Any]
    """As an interrupt shows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered(StreamEvent):
    """A question is settled: answered, expired or withdrawn."""

    kind: ClassVar[str] = "answered"
    ask: str
    status: str
    decision: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Emitted(StreamEvent):
    """An activity said something by `run.emit`, or a graph inside by its stream writer."""

    kind: ClassVar[str] = "emitted"
    data: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint(StreamEvent):
    """A checkpoint was written; the path names the active states."""

    kind: ClassVar[str] = "checkpoint"
    id: str
    step: int
    """LangGraph's number."""
    status: str
    """The session's, one of the status words; empty before the first step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended(StreamEvent):
    """The last event: where the session stands. A session that waits has not ended its run."""

    kind: ClassVar[str] = "ended"
    status: str
    reason: Mapping[str, Any] | None = None
    """Why the run ended, when it did not complete."""
    asks: tuple[str, ...] = field(default=())
    """Ids of the open asks."""


KINDS: Mapping[str, type[StreamEvent]] = {
    each.kind: each
    for each in (
        StateEntered,
        StateLeft,
        CallStarted,
        CallEnded,
        Spent,
        Token,
        Asked,
        Answered,
        Emitted,
        Checkpoint,
        Ended,
    )
}
"""Every kind of event by its name in JSON."""
