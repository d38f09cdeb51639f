"""Reading a session's events: LangGraph's parts become events, each with its number, and the last one says the end."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator, Mapping
from contextlib import aclosing, closing
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage

from stateward.run.checkpoint import CHANNEL
from stateward.run.door.carried import GOVERNED
from stateward.run.events.event import Checkpoint, Emitted, Ended, StreamEvent, Token
from stateward.run.events.listener import Heard
from stateward.run.outcome import Outcome
from stateward.run.plan import HUB, Machine

OPTIONS: Mapping[str, Any] = {"stream_mode": ["custom", "checkpoints", "messages"], "subgraphs": True}
"""LangGraph's arguments of a stream whose parts are events."""
_Part = tuple[tuple[str, ...], str, Any]
"""Where it comes from, its mode, and what it says."""


class Numbered:
    """Makes numbered events of a stream's parts.

    Args:
        machine: The session's chart: of graphs inside a state whose data is secret nothing is told.
    """

    def __init__(self, machine: Machine) -> None:
        self._seq = 0
        self._secret = {held.path for held in machine.effectives.values() if held.sensitivity == "secret"}
        if self._secret:
            self._secret.add(HUB)  # which of several states it is, nobody can say

    @property
    def has_begun(self) -> bool:
        """Whether there was an event."""
        return self._seq > 0

    def events(self, part: _Part) -> Iterator[StreamEvent]:
        """Make the events of one part.

        Args:
            part: From LangGraph.

        Yields:
            At most one.
        """
        event = _event(*part)
        if event is not None and not (isinstance(event, Token | Emitted) and self._is_secret(part)):
            yield self._next(event)

    def _is_secret(self, part: _Part) -> bool:
        """Whether no state's policy stood between a graph inside and this part, and should have."""
        ns, mode, data = part
        return bool(ns) and not (mode == "custom" and isinstance(data, Heard)) and _inside(ns[:1]) in self._secret

    def end(self, outcome: Outcome) -> StreamEvent:
        """Make the last event.

        Args:
            outcome: Where the session stands.
        """
        ended = Ended(path=outcome.path, status=outcome.status, reason=outcome.reason, asks=outcome.asks)
        return self._next(ended)

    def _next(self, event: StreamEvent) -> StreamEvent:
        self._seq += 1
        return replace(event, seq=self._seq)


def follow(parts: Generator[Any], *, machine: Machine, look: Callable[[], Outcome]) -> Generator[StreamEvent]:
    """Read a session's stream as events.

    Args:
        parts: The stream.
        machine: The session's chart.
        look: Reads where the session stands.

    Yields:
        The events. When the stream fails after the first one, the last one says where that has led, and then it fails.
    """
    numbered = Numbered(machine)
    try:
        with closing(parts):
            for part in parts:
                yield from numbered.events(part)
    except Exception:
        if numbered.has_begun:
            yield numbered.end(look())
        raise
    yield numbered.end(look())


async def afollow(
    parts: AsyncGenerator[Any], *, machine: Machine, look: Callable[[], Awaitable[Outcome]]
) -> AsyncGenerator[StreamEvent]:
    """Read a session's stream as events; see `follow`.

    Args:
        parts: The stream.
        machine: The session's chart.
        look: Reads where the session stands.

    Yields:
        The events.
    """
    numbered = Numbered(machine)
    try:
        async with aclosing(parts):
            async for part in parts:
                for event in numbered.events(part):
                    yield event
    except Exception:
        if numbered.has_begun:
            yield numbered.end(await look())
        raise
    yield numbered.end(await look())


def _event(ns: tuple[str, ...], mode: str, data: Any) -> StreamEvent | None:
    if mode == "custom":
        return data.event if isinstance(data, Heard) else Emitted(path=_inside(ns), data=data)
    if mode == "messages":
        return _foreign(ns, *data)
    return None if ns else _checkpoint(data)


def _checkpoint(part: Mapping[str, Any]) -> StreamEvent:
    control: Mapping[str, Any] = part["values"].get(CHANNEL) or {}
    return Checkpoint(
        path=", ".join(control.get("at") or ()),
        id=part["config"]["configurable"]["checkpoint_id"],
        step=part["metadata"]["step"],
        status=str(control.get("status") or ""),
    )


def _foreign(ns: tuple[str, ...], message: object, metadata: Mapping[str, Any]) -> StreamEvent | None:
    """Make the event of what a model says that no door is before; LangGraph tells of other messages as well."""
    is_model = "ls_model_type" in metadata and not metadata.get(GOVERNED)
    if not (is_model and isinstance(message, AIMessage) and message.text):
        return None
    return Token(
        path="/".join(name for name in (_inside(ns), str(metadata["langgraph_node"])) if name), text=message.text
    )


def _inside(ns: tuple[str, ...]) -> str:
    """Return the nodes that a part comes from, without the numbers of their tasks."""
    return "/".join(each.partition(":")[0] for each in ns)
