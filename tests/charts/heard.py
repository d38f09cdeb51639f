"""Read a session's events through one of the two ways, and say in short what they tell."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import stateward as sw
from stateward.events import CallEvent, Checkpoint, Emitted, StateEntered, StateLeft, StreamEvent, Token
from stateward.testing import How

Hear = Callable[..., list[StreamEvent]]


def events(session: sw.Session, how: How, *given: Any, **rest: Any) -> list[StreamEvent]:
    """Read a session's events to the end."""

    async def whole() -> list[StreamEvent]:
        return [event async for event in session.aevents(*given, **rest)]

    return list(session.events(*given, **rest)) if how == "sync" else asyncio.run(whole())


def short(told: Iterable[StreamEvent], *, of: type[StreamEvent] | tuple[type[StreamEvent], ...] = StreamEvent) -> str:
    """Say of which kind events are, and what each is about; no checkpoints."""
    chosen = [event for event in told if isinstance(event, of) and not isinstance(event, Checkpoint)]
    return " ".join(f"{_SIGNS.get(event.kind, event.kind)}{_about(event)}" for event in chosen)


_SIGNS = {"state_entered": "+", "state_left": "-", "call_started": "(", "call_ended": ")", "spent": "$"}


def _about(event: StreamEvent) -> str:
    if isinstance(event, CallEvent):
        return event.name
    if isinstance(event, Token):
        return f":{event.text}"
    if isinstance(event, Emitted):
        return f":{event.data}"
    return event.path.rpartition(".")[2] if isinstance(event, StateEntered | StateLeft) else ""
