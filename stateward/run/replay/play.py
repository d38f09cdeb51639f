"""Playing a recorded run: the same graph over a database in memory, given what came from outside in the record.

The chart runs as ever: nodes, kernel, guards, policies, budgets, journal. From the record come inputs, events, answers,
the time, the order in which regions went on, and what tools and models returned. No tool and no model is called.
"""

from __future__ import annotations

from contextlib import aclosing, closing
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command

from stateward.run.checkpoint import CHANNEL
from stateward.run.configurable import with_invocation
from stateward.run.drive import Bridge, Steps, Work, drive_sync
from stateward.run.edit import any_node, placed
from stateward.run.graph import ChartGraph
from stateward.run.invocation import Invocation
from stateward.run.replay.attention import RecordedAttention
from stateward.run.replay.contexts import Contexts, context_of
from stateward.run.replay.decisions import undecided
from stateward.run.replay.divergence import Difference, Replayed
from stateward.run.replay.node import played
from stateward.run.replay.record import recordings
from stateward.run.replay.recording import Moment, Recording
from stateward.run.replay.score import PlayOver, Score
from stateward.run.replay.stage import RecordedClock, Stage
from stateward.run.session import Session
from stateward.run.store.database import Database, open_database
from stateward.run.store.serializer import StrictSerializer


def play(graph: ChartGraph, recording: Recording, *, context: object = None) -> Replayed:
    """Play a recorded run again and compare it step by step.

    Args:
        graph: The chart as it is now; its tools and models are not called.
        recording: The run.
        context: LangGraph's `context=` for calls whose own was not recorded.

    Returns:
        What it came to.
    """
    with closing(Bridge()) as bridge:
        return drive_sync(_played(graph, recording, context=context, bridge=bridge), bridge=bridge)


def replaying(session: Session, run: int | None, *, bridge: Bridge) -> Steps[tuple[Replayed, ...]]:
    """Play the recorded runs of a session again, the oldest first, up to the first that differs.

    Args:
        session: The session, with the graph as it is now.
        run: Only the run of this number, from 1; None for all.
        bridge: Where async work runs.

    Returns:
        A generator of work that returns what each came to.

    Raises:
        UnknownSession: No session has this id, it is another tenant's, or it has no checkpoint here.
        NotExpected: The session has no such run.
    """
    found: tuple[Recording, ...] = yield Work(fn=_recorded, args=(session, run))
    played: list[Replayed] = []
    for one in found:
        played.append((yield from _played(session.graph, one, context=session.context, bridge=bridge)))
        if not played[-1].same:
            break
    return tuple(played)


def _recorded(session: Session, run: int | None) -> tuple[Recording, ...]:
    session.refuse_stranger()
    return recordings(session.graph, database=session.database, session=session.id, run_no=run)


def _played(graph: ChartGraph, recording: Recording, *, context: object, bridge: Bridge) -> Steps[Replayed]:
    score = Score(recording, serde=StrictSerializer(allowed=graph.allowed))
    contexts = Contexts(recording, graph, given=context)
    with open_database("memory:", clock=RecordedClock(score)) as database:
        yield from _Play(graph, score, database=database, contexts=contexts, bridge=bridge).run()
        return Replayed(
            run_no=recording.run_no,
            run=recording.run,
            steps=score.steps,
            calls=len(score.made),
            divergence=contexts.explained(undecided(score, database=database) or score.divergence),
            drift=_drift(graph, recording),
        )


def _drift(graph: ChartGraph, recording: Recording) -> tuple[str, ...]:
    pins = graph.machine.pins
    now = {**pins.to_json(), "mode": pins.mode}
    return tuple(part for part, value in recording.pins.items() if value != now[part])


class _Play:
    """One play: calls of the graph, one for each time something came from outside."""

    def __init__(
        self, graph: ChartGraph, score: Score, *, database: Database, contexts: Contexts, bridge: Bridge
    ) -> None:
        self._machine = graph.machine
        self._serde = StrictSerializer(allowed=graph.allowed)
        self._stage = Stage(score, database)
        self._graph = played(graph.attach(database), self._stage)
        self._score, self._database = score, database
        self._contexts, self._bridge = contexts, bridge
        self._seeds = 0

    def run(self) -> Steps[None]:
        """Play until the record is at its end, or differs."""
        score = self._score
        self._stage.begin()
        if score.recording.before is not None:
            yield self._seeded(score.recording.before)
        while (coming := score.expected) is not None and score.divergence is None:
            played_to, self._stage.context = score.steps, context_of(score.ahead)
            try:
                yield from self._called((yield from self._brought(coming)))
            except PlayOver:
                continue
            except Exception as error:  # noqa: BLE001  # whatever it is, the record has none
                told = f"{type(error).__name__}: {error}"
                score.differ(Difference(what="error", recorded="none", came=told))
            if score.steps == played_to:
                score.differ(Difference(what="steps", recorded="another one", came="none: it goes no further"))

    def _brought(self, coming: Moment) -> Steps[Any]:
        """Return what the graph is given, so that it comes to a recorded moment."""
        score, has_begun = self._score, self._score.steps > 0
        if coming.source == "input":
            score.turn()
            return coming.given
        if coming.source == "edit" or not has_begun:  # the first part of a record may be gone
            self._stage.put(coming)
            yield self._seeded(coming)
            score.turn()
            return None
        if not score.present.resumed:
            return None
        self._stage.resumed = True
        update = cast("Any", list(score.present.update) or None)
        return Command(resume=score.present.payload, update=update)

    def _seeded(self, moment: Moment) -> Work:
        """Let a thread of its own stand where the record stands."""
        self._seeds += 1
        values = {**moment.values, CHANNEL: moment.control}
        update = placed(values, goto=moment.next, node=any_node(self._machine))
        graph, args = self._graph, (self._config, [[update]])
        return Work(fn=graph.bulk_update_state, afn=graph.abulk_update_state, args=args)

    @property
    def _config(self) -> RunnableConfig:
        session = self._score.recording.session
        return {"configurable": {"thread_id": f"{session}#{self._seeds}" if self._seeds else session}}

    def _called(self, given: Any) -> Steps[None]:
        """Call the graph once."""
        recording = self._score.recording
        invocation = Invocation(
            session=recording.session,
            open_database=lambda: self._database,
            bridge=self._bridge,
            threads=self._database.threads,
            tenant=recording.tenant,
            serde=self._serde,
            shared=True,
            attention=RecordedAttention(self._score, self._machine),
            script=self._score,
        )
        config = with_invocation(self._config, invocation)
        try:
            yield Work(fn=self._stream, afn=self._astream, args=(given, config), activity=True)
        finally:
            if invocation.attention.is_used:
                yield Work(afn=invocation.attention.end)

    @property
    def _context(self) -> Any:  # LangGraph's `context=`, of the user's own type
        return self._contexts.of(self._stage.context)

    def _stream(self, given: Any, config: RunnableConfig) -> None:
        parts = self._graph.stream(given, config, context=self._context, durability="sync")
        with closing(cast("Any", parts)) as streaming:
            for _ in streaming:
                pass
        self._score.arrive(self._graph.get_state(config).values)

    async def _astream(self, given: Any, config: RunnableConfig) -> None:
        parts = self._graph.astream(given, config, context=self._context, durability="sync")
        async with aclosing(cast("Any", parts)) as streaming:
            async for _ in streaming:
                pass
        self._score.arrive((await self._graph.aget_state(config)).values)
