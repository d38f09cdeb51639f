"""Who hears what a call of a graph tells: it puts events into LangGraph's own stream, so that they keep their order.

There is one only while somebody reads a session's events. Without one nothing is made, and nothing is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field, replace
from typing import Any, cast

from langchain_core.runnables import RunnableConfig

from stateward.run.checkpoint import CHANNEL
from stateward.run.events.event import Answered, Asked, Emitted, StreamEvent
from stateward.run.events.move import first_moves, moves
from stateward.run.store.ask import Ask, envelope

LISTEN = "__stateward_listen"
"""The configurable key that says that somebody reads the events of a call."""
Writer = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Heard:
    """An event on its way through LangGraph's custom stream."""

    event: StreamEvent


@dataclass(slots=True, kw_only=True)
class Listener:
    """Hears one call of a graph, and the calls of graphs inside it."""

    prefix: str = ""
    """The path of what is around the graph."""
    _writer: Writer | None = None
    _context: Context | None = None
    _settled: set[str] = field(default_factory=set[str])
    """The questions whose settlement was told."""

    def inside(self, path: str) -> Listener:
        """Return who hears a graph that is called inside.

        Args:
            path: The state or agent that calls it; empty when nobody can say.
        """
        return replace(self, prefix=f"{self.prefix}{path}/" if path else self.prefix)

    def begins(self, node: str, values: Mapping[str, Any], writer: Writer) -> None:
        """Take LangGraph's writer to the custom stream, with the context that it needs; called in a node.

        Args:
            node: The node, which is a state's path, or one of several states.
            values: What it begins with.
            writer: Of the node's runtime.
        """
        if self._writer is None:
            self._writer, self._context = writer, copy_context()
        for each in first_moves(_begun(node, values)):
            self.tell(each)

    def tell(self, event: StreamEvent) -> None:
        """Send an event; from any thread.

        Args:
            event: Its path is the one inside the graph.
        """
        if self._writer is None or self._context is None:
            return
        if self.prefix:
            event = replace(event, path=f"{self.prefix}{event.path}")
        with suppress(RuntimeError):  # the loop of the stream is closed: nobody reads any more
            self._context.copy().run(self._writer, Heard(event))

    def says(self, path: str) -> Writer:
        """Return a writer for what the activity of a state emits.

        Args:
            path: The state.
        """
        return lambda data: self.tell(Emitted(path=path, data=data))

    def stepped(self, node: str, before: Mapping[str, Any], update: object) -> None:
        """Tell what a step has left and entered.

        Args:
            node: The node.
            before: The values before the step.
            update: What it writes: by key, or as pairs.
        """
        writes = cast("Mapping[str, Any]", update).items() if isinstance(update, Mapping) else update
        for key, delta in cast("Iterable[tuple[str, Any]]", writes or ()):
            if key == CHANNEL:
                for each in moves(before.get(CHANNEL) or {}, delta, begun=_begun(node, before)):
                    self.tell(each)

    def asked(self, asks: Iterable[Ask]) -> None:
        """Tell that people are asked.

        Args:
            asks: The questions.
        """
        for ask in asks:
            self.tell(Asked(path=ask.path, ask=ask.id, question=envelope(ask)))

    def answered(self, asks: Iterable[Ask]) -> None:
        """Tell which questions are settled, each once.

        Args:
            asks: Questions that were waited for, open ones too.
        """
        for ask in asks:
            if ask.status != "open" and ask.id not in self._settled:
                self._settled.add(ask.id)
                decision = ask.decision or ""
                self.tell(Answered(path=ask.path, ask=ask.id, status=ask.status, decision=decision, by=ask.by or ""))


def _begun(node: str, before: Mapping[str, Any]) -> str:
    """Return the state in which a run begins with a node; empty when it began before, or in several states at once."""
    return "" if (before.get(CHANNEL) or {}).get("at") or node.startswith("__") else node


def listening(config: RunnableConfig) -> Listener | None:
    """Return who hears a call, if its config says that somebody does.

    Args:
        config: LangGraph's config of the call.
    """
    return Listener() if config.get("configurable", {}).get(LISTEN) else None
