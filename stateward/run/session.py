"""A session: one conversation or case, driven from any process that has the database.

An event can be sent to a session that somebody else runs: it is posted to the mailbox, and who runs the session takes
it. Nothing that was accepted is lost: after posting, the sender tries to take the session itself, and who lets go of it
looks at the mailbox in the same transaction.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, StateSnapshot

from stateward.errors import NotExpected, SessionBusy, StatewardError, UnknownSession
from stateward.run.admission import refuse_drift
from stateward.run.call import committed, is_held
from stateward.run.checkpoint import CHANNEL, Control, decode, wakes_at
from stateward.run.drive import Bridge, Steps, Work, drive_async, drive_sync
from stateward.run.graph import ChartGraph
from stateward.run.resume import Verdict, known_event
from stateward.run.store.ask import Ask
from stateward.run.store.database import Database
from stateward.run.store.mailbox import POLL_S, Letter
from stateward.run.store.sessions import SessionRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Where a session stands after a call."""

    session: str
    status: str
    """One of the status words."""
    path: str
    """The active state; with `.ask` while a person is asked."""
    values: Mapping[str, Any]
    """The state's keys."""
    asks: tuple[str, ...] = ()
    """Ids of the open asks."""
    reason: Mapping[str, Any] | None = None
    """Why the run ended, when it did not complete."""
    wakes_at: float | None = None
    """When the first pending timer is due, in seconds since the epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What became of an event that was sent."""

    outcome: Outcome | None
    """Where the session stands, when this call went on with it; None when somebody else runs it."""
    letter: Letter | None = None
    """The event in the mailbox, when somebody else ran the session; its status says whether it was taken yet."""

    @property
    def taken(self) -> bool:
        """Whether a transition took the event; False while its turn has not come."""
        return self.letter is None or self.letter.status == "taken"


@dataclass(frozen=True, slots=True)
class Session:
    """One session of one graph.

    Args:
        id: LangGraph's `thread_id`.
        graph: The compiled chart.
        database: From `stateward.open`.
        context: LangGraph's `context=`.
    """

    id: str
    graph: ChartGraph
    database: Database
    context: Any = field(default=None, kw_only=True)

    @property
    def config(self) -> RunnableConfig:
        """LangGraph's config of this session."""
        return {"configurable": {"thread_id": self.id}}

    def start(self, given: Mapping[str, Any]) -> Outcome:
        """Send an input: it opens a run, or is the event `input` of a waiting one.

        Args:
            given: State keys.

        Returns:
            Where the session stands when the run ended or waits.

        Raises:
            InputRefused: The input does not fit; nothing was committed.
            SessionBusy: Another run holds the session, or its last run must be resumed first.
            NotExpected: The waiting chart takes no input now.
        """
        return self._call(given)

    async def astart(self, given: Mapping[str, Any]) -> Outcome:
        """Send an input; see `start`.

        Args:
            given: State keys.

        Returns:
            Where the session stands when the run ended or waits.

        Raises:
            InputRefused: The input does not fit; nothing was committed.
            SessionBusy: Another run holds the session, or its last run must be resumed first.
            NotExpected: The waiting chart takes no input now.
        """
        return await self._acall(given)

    def resume(self, event: str | None = None, *, data: Mapping[str, Any] | None = None) -> Outcome:
        """Go on with an unfinished run, or send an event to a waiting one.

        Args:
            event: The event's name; None to go on where a crash or an answer left off.
            data: The event's fields.

        Returns:
            Where the session stands.

        Raises:
            NotExpected: The chart has no transition for the event now.
            InputRefused: The data does not fit the event's type.
            Drift: The run was started by another definition.
        """
        return self._call(_command(event, data))

    async def aresume(self, event: str | None = None, *, data: Mapping[str, Any] | None = None) -> Outcome:
        """Go on, or send an event; see `resume`.

        Args:
            event: The event's name; None to go on where a crash or an answer left off.
            data: The event's fields.

        Returns:
            Where the session stands.

        Raises:
            NotExpected: The chart has no transition for the event now.
            InputRefused: The data does not fit the event's type.
            Drift: The run was started by another definition.
        """
        return await self._acall(_command(event, data))

    def send(self, event: str, *, data: Mapping[str, Any] | None = None, by: str = "", wait_s: float = 0) -> Sent:
        """Send an event: go on with a waiting session, or leave the event for who runs it.

        Args:
            event: The event's name.
            data: The event's fields.
            by: Who sends it, for the audit log.
            wait_s: How many seconds to wait, from 0, until somebody else has taken it or refused it.

        Returns:
            What became of it.

        Raises:
            NotExpected: No transition took the event, or its name is no event of the chart.
            InputRefused: The data does not fit the event's type.
            Drift: The run was started by another definition.
            UnknownSession: There is no such session.
        """
        return drive_sync(self._sending(event, data, by=by, wait_s=wait_s), bridge=Bridge())

    async def asend(
        self, event: str, *, data: Mapping[str, Any] | None = None, by: str = "", wait_s: float = 0
    ) -> Sent:
        """Send an event; see `send`.

        Args:
            event: The event's name.
            data: The event's fields.
            by: Who sends it, for the audit log.
            wait_s: How many seconds to wait, from 0, until somebody else has taken it or refused it.

        Returns:
            What became of it.

        Raises:
            NotExpected: No transition took the event, or its name is no event of the chart.
            InputRefused: The data does not fit the event's type.
            Drift: The run was started by another definition.
            UnknownSession: There is no such session.
        """
        return await drive_async(self._sending(event, data, by=by, wait_s=wait_s), threads=self.database.threads)

    def _sending(self, event: str, data: Mapping[str, Any] | None, *, by: str, wait_s: float) -> Steps[Sent]:
        known_event(self.graph.machine, event, data)
        row: SessionRow | None = yield Work(fn=self.row)
        if row is not None and row.status != "running":
            done: Outcome | None = yield from self._try(_command(event, data))
            if done is not None:
                return Sent(outcome=done)
        letter: Letter = yield Work(fn=self._post, args=(event, data, by))
        outcome, until = None, time.monotonic() + wait_s
        while True:
            free: bool = yield Work(fn=self._is_free)
            if free:
                outcome = (yield from self._go_on(letter)) or outcome
            letter = yield Work(fn=self.database.mailbox.get, args=(self.id, letter.no))
            if letter.status == "refused":
                raise NotExpected(letter.note, where=f"session `{self.id}`", fix="Send it when it is awaited.")
            if letter.status == "taken" or time.monotonic() >= until:
                return Sent(outcome=outcome, letter=letter)
            yield Work(fn=_pause, afn=asyncio.sleep, args=(POLL_S,))

    def _go_on(self, letter: Letter) -> Steps[Outcome | None]:
        """Go on with the session, so that the letter is taken; if that is refused, so is the letter."""
        try:
            return (yield from self._try(None))
        except StatewardError as refused:
            if not hasattr(refused, "__notes__"):  # no activity's error, which would be recorded
                yield Work(fn=self._take_back, args=(letter, str(refused)))
            raise

    def _is_free(self) -> bool:
        return self.database.leases.held(self.id) is None

    def _take_back(self, letter: Letter, why: str) -> None:
        with suppress(SessionBusy):  # somebody else can go on with it
            self.database.mailbox.refuse(self.id, letter.no, at="", note=why)

    def _try(self, given: object) -> Steps[Outcome | None]:
        """Go on with the session; None when somebody else holds it."""
        try:
            outcome: Outcome = yield Work(fn=self._call, afn=self._acall, args=(given,))
        except SessionBusy as busy:
            if is_held(busy, self.id):
                return None
            raise
        return outcome

    def _post(self, event: str, data: Mapping[str, Any] | None, by: str) -> Letter:
        return self.database.mailbox.post(self.id, event, dict(data) if data else None, by=by)

    def answer(self, ask: str, decision: Verdict, *, by: str, note: str = "") -> Outcome:
        """Answer an ask and go on as soon as its activity waits for no other; a run that is at work picks it up itself.

        Args:
            ask: Its id.
            decision: `approve` or `reject`.
            by: Who answers.
            note: Why, for the model and the audit log.

        Returns:
            Where the session stands.

        Raises:
            UnknownAsk: No ask has this id.
            AskClosed: It was answered, withdrawn or expired before.
            NotExpected: The ask is another session's, or its session does not wait for it here.
            Drift: The run was started by another definition; the answer is not recorded.
        """
        self.expect(ask)
        self.claim(ask, decision, by=by, note=note)
        return drive_sync(self._try(None), bridge=Bridge()) or self.outcome()

    def refuse_strange(self) -> None:
        """Check that the session can be gone on with here.

        Raises:
            NotExpected: It keeps its checkpoints elsewhere.
        """
        row = self.row()
        if (row is None or row.run) and self._control() is None:
            raise NotExpected(
                f"Session `{self.id}` has no checkpoint in this database",
                fix="Go on with it where it runs, over its own checkpointer.",
            )

    def expect(self, ask: str) -> None:
        """Check that an answer would lead somewhere, before it is recorded: an ask takes only one.

        Args:
            ask: Its id.

        Raises:
            UnknownAsk: No ask has this id.
            NotExpected: The session does not wait for it, or keeps its checkpoints elsewhere.
            Drift: The run was started by another definition.
        """
        if self.database.asks.get(ask).status != "open":
            return
        control = self._control()
        if control is None:
            raise NotExpected(
                f"Session `{self.id}` has no checkpoint in this database",
                fix=f'Answer where it runs: Command(resume={{"answers": {{"{ask}": "approve"}}}}).',
            )
        refuse_drift(self.graph.machine, control)
        if ask not in [one for ids in control.asks.values() for one in ids]:
            raise NotExpected(
                f"Session `{self.id}` does not wait for an answer to `{ask}`; it is {control.status}",
                fix="Resume it first." if control.status == "running" else "",
            )

    def _control(self) -> Control | None:
        values = cast("dict[str, Any]", self._latest().values or {})
        return decode(values.get(CHANNEL) or {}, self.graph.machine.chart)

    def _latest(self) -> StateSnapshot:
        return drive_sync(committed(self.graph, self.config), bridge=Bridge())

    def claim(self, ask: str, decision: Verdict, *, by: str, note: str = "") -> Ask:
        """Record an answer without going on.

        Args:
            ask: Its id.
            decision: `approve` or `reject`.
            by: Who answers.
            note: Why.

        Returns:
            The answered ask.

        Raises:
            UnknownAsk: No ask has this id.
            AskClosed: It was answered, withdrawn or expired before.
            NotExpected: The ask is another session's.
        """
        found = self.database.asks.get(ask)
        if found.session != self.id:
            raise NotExpected(f"Ask `{ask}` belongs to session `{found.session}`, not to `{self.id}`")
        return self.database.asks.answer(ask, decision=decision, by=by, note=note)

    def row(self) -> SessionRow | None:
        """Return the session's row, or None when it was never started."""
        try:
            return self.database.sessions.get(self.id)
        except UnknownSession:
            return None

    def outcome(self) -> Outcome:
        """Read where the session stands, from its latest checkpoint."""
        return self._outcome(self._latest().values)

    def _call(self, given: object) -> Outcome:
        self.graph.invoke(given, self.config, context=self.context)
        return self.outcome()

    async def _acall(self, given: object) -> Outcome:
        await self.graph.ainvoke(given, self.config, context=self.context)
        snapshot = await drive_async(committed(self.graph, self.config), threads=self.database.threads)
        return self._outcome(snapshot.values)

    def _outcome(self, values: Any) -> Outcome:
        raw = cast("dict[str, Any]", values or {})
        control = decode(raw.get(CHANNEL) or {}, self.graph.machine.chart)
        if control is None:
            return Outcome(session=self.id, status="new", path="", values=raw)
        return Outcome(
            session=self.id,
            status=control.status,
            path=_path(control, self.graph),
            values={key: value for key, value in raw.items() if key != CHANNEL},
            asks=tuple(ask for ids in control.asks.values() for ask in ids),
            reason=control.reason,
            wakes_at=wakes_at(control.raw),
        )


def _path(control: Control, graph: ChartGraph) -> str:
    chart = graph.machine.chart
    paths = [chart.nodes[index].path for index in control.configuration.atomic(chart)]
    return ", ".join(f"{path}.ask" if path in control.asks else path for path in paths)


def _pause(seconds: float) -> None:
    threading.Event().wait(seconds)


def _command(event: str | None, data: Mapping[str, Any] | None) -> object:
    return None if event is None else Command(resume={"event": event, "data": dict(data) if data else None})
