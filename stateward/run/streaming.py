"""What a session does while it streams: the same as without a stream, by calls that have parts."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import aclosing, closing, suppress
from dataclasses import dataclass, fields
from typing import Any, Literal, TypedDict, cast

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphDrained
from langgraph.runtime import RunControl
from langgraph.types import All, Durability, StreamMode

from stateward.errors import InputRefused
from stateward.run.answering import recording
from stateward.run.caller import Caller
from stateward.run.drive import Bridge, Steps, Work, drive_async, drive_sync
from stateward.run.going import Terms, going, going_on
from stateward.run.sending import command
from stateward.run.stream import Parts
from stateward.run.verdict import Verdict


class Options(TypedDict, total=False):
    """LangGraph's other arguments of `stream`, as they are there."""

    print_mode: StreamMode | Sequence[StreamMode]
    output_keys: str | Sequence[str] | None
    interrupt_before: All | Sequence[str] | None
    interrupt_after: All | Sequence[str] | None
    durability: Durability | None
    control: RunControl | None
    debug: bool | None
    version: Literal["v1", "v2"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a session is told as its stream begins."""

    input: object = None
    event: str | None = None
    data: Mapping[str, Any] | None = None
    answers: Mapping[str, Verdict | Mapping[str, Any]] | None = None
    by: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Streamed(Caller):
    """A session that calls its graph and streams.

    Args:
        options: LangGraph's arguments of `stream`.
    """

    options: Mapping[str, Any]

    def calling(self, given: object, *, more: Mapping[str, Any] | None = None) -> Work:
        """Return the work of one call, with its parts.

        Args:
            given: State keys, a `Command`, or None to go on.
            more: What the call has in `configurable` beside the session's own.
        """
        return Parts(
            parts=self._parts,
            aparts=self._aparts,
            args=(given, self.configured(more)),
            ended=self.looking(),
        )

    def _parts(self, given: object, config: RunnableConfig) -> Generator[Any]:
        graph, config = drive_sync(self.at_hand(config), bridge=Bridge())
        made = graph.stream(given, config, context=self.context, **self.options)
        with suppress(GraphDrained), closing(cast("Generator[Any]", made)) as parts:
            yield from parts

    async def _aparts(self, given: object, config: RunnableConfig) -> AsyncGenerator[Any]:
        graph, config = await drive_async(self.at_hand(config), threads=self.database.threads)
        made = graph.astream(given, config, context=self.context, **self.options)
        with suppress(GraphDrained):
            async with aclosing(cast("AsyncGenerator[Any]", made)) as parts:
                async for part in parts:
                    yield part


def streaming(caller: Caller, said: Said, *, options: Mapping[str, Any], terms: Terms) -> Steps[object]:
    """Do what a session is told, by calls that have parts.

    Args:
        caller: The session.
        said: What it is told.
        options: LangGraph's arguments of `stream`.
        terms: On what terms it makes its calls.

    Returns:
        A generator of work, for the drivers of `stream.py`.

    Raises:
        InputRefused: It is told more than one thing, or LangGraph's `stream` has no such argument.
    """
    _refuse_strange(options)
    if sum(one is not None for one in (said.input, said.event, said.answers)) > 1:
        raise InputRefused(
            "A stream begins with one thing",
            where=f"session `{caller.session}`",
            fix="Give an input, or an event, or answers; nothing to go on.",
        )
    streamed = Streamed(**{each.name: getattr(caller, each.name) for each in fields(caller)}, options=options)
    if said.answers is None:
        given = said.input if said.event is None and said.data is None else command(said.event, said.data)
        return (yield from going(streamed, given, terms))
    yield from recording(caller, said.answers, by=said.by, note=said.note)
    return (yield from going_on(streamed, terms))


def _refuse_strange(options: Mapping[str, Any]) -> None:
    known = ("stream_mode", "subgraphs", *Options.__annotations__)
    for name in options:
        if name not in known:
            raise InputRefused(
                f"A session's stream takes no `{name}`",
                fix=f"It takes {', '.join(f'`{one}`' for one in known)}; what belongs to the session, such as its"
                " context, is given to `Session(…)`.",
            )
