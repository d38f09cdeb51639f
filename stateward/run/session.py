"""A session: one conversation or case, driven from any process that has the database.

It is the unit of ownership: what belongs to one conversation is a field of it and is passed in with each call, never
kept on a graph or an agent. So one graph serves many sessions, and many owners, at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from langchain_core.runnables import RunnableConfig

from stateward.errors import InputRefused
from stateward.run.alarm import checked_deadline
from stateward.run.answering import claimed, expect, refuse_strange
from stateward.run.caller import Caller
from stateward.run.cancel import cancelled
from stateward.run.container import KEY, Container
from stateward.run.drain import drained
from stateward.run.drive import Bridge, Steps, Work, drive_async, drive_sync
from stateward.run.going import Provider, Terms, going
from stateward.run.graph import ChartGraph
from stateward.run.outcome import Outcome, Sent
from stateward.run.override import refuse_strange_roles, roles
from stateward.run.resume import Verdict
from stateward.run.seat import seated
from stateward.run.sending import command, sending
from stateward.run.store.ask import Ask
from stateward.run.store.database import Database
from stateward.run.store.session_row import SessionRow

T = TypeVar("T")

STOP_WAIT_S = 60.0
"""How long who cancels or drains waits for the call that runs the session, in seconds, unless they say otherwise."""


@dataclass(frozen=True, slots=True)
class Session:
    """One session of one graph.

    Args:
        id: LangGraph's `thread_id`; not empty.
        graph: The compiled chart. One without a checkpointer is attached to the database.
        database: From `stateward.open`.
        context: LangGraph's `context=`.
        tenant: Whose session it is; a session keeps its first tenant, and for others it is not there. Who names none
            is let in: that is the host itself.
        deadline_s: Seconds that each call may take as a whole, above 0: then the chart gets the event `fuse.deadline`,
            and the run is halted when no transition takes it.
        queue: How many inputs may wait while another call holds the session, in the order in which they came; with 0
            they are refused.
        queue_wait_s: Seconds that an input waits for its turn.
        staged: Content by name that is put ready for the activities: `run.session.staged`.
        models: Models by role that stand in for the graph's.
        scratch: The folder of scratch folders (`run.session.scratch`); the system's temporary folder by default.
        provider: Is asked what comes next while the run waits, with the outcome so far: it returns what
            `Command(resume=…)` takes, or None to leave the run waiting.

    Raises:
        InputRefused: The id is empty or no text, the deadline no number above 0, or the queue no number from 0.
        DefinitionError: The graph keeps its checkpoints and its tables elsewhere, or no state has a model of a role.
    """

    id: str
    graph: ChartGraph
    database: Database
    context: Any = field(default=None, kw_only=True)
    tenant: str = field(default="", kw_only=True)
    deadline_s: float | None = field(default=None, kw_only=True)
    queue: int = field(default=0, kw_only=True)
    queue_wait_s: float = field(default=60.0, kw_only=True)
    staged: Mapping[str, Any] = field(default_factory=dict[str, Any], kw_only=True)
    models: Mapping[str, Any] = field(default_factory=dict[str, Any], kw_only=True)  # as for `compile`
    scratch: Path | None = field(default=None, kw_only=True)
    provider: Provider | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Check what was given, and bring the graph to the database before anything runs."""
        if not isinstance(cast("object", self.id), str) or not self.id:
            raise InputRefused(f"A session's id is a text, not {self.id!r}", fix="Give an id that is not empty.")
        if self.queue < 0:
            raise InputRefused(f"The queue of session `{self.id}` is {self.queue}", fix="Give a number from 0.")
        checked_deadline(self.deadline_s)
        refuse_strange_roles(self.models, self.graph.machine)
        object.__setattr__(self, "graph", seated(self.graph, self.database))

    @property
    def config(self) -> RunnableConfig:
        """LangGraph's config of this session, with what belongs to it."""
        configurable: dict[str, Any] = {"thread_id": self.id}
        if self.tenant:
            configurable["tenant"] = self.tenant
        if self.deadline_s is not None:
            configurable["deadline"] = self.deadline_s
        if self.tenant or self.staged or self.models or self.scratch is not None:
            configurable[KEY] = self._container
        return {"configurable": configurable}

    @property
    def _container(self) -> Container:
        given, root = roles(self.models), self.scratch
        return Container(session=self.id, tenant=self.tenant, staged=self.staged, models=given, root=root)

    @property
    def _caller(self) -> Caller:
        return Caller(
            session=self.id, graph=self.graph, database=self.database, config=self.config, context=self.context
        )

    @property
    def _terms(self) -> Terms:
        return Terms(
            container=self._container,
            deadline_s=self.deadline_s,
            queue=self.queue,
            queue_wait_s=self.queue_wait_s,
            provider=self.provider,
        )

    def _done(self, steps: Steps[T]) -> T:
        return drive_sync(steps, bridge=Bridge())

    async def _adone(self, steps: Steps[T]) -> T:
        return await drive_async(steps, threads=self.database.threads)

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
        return self._done(going(self._caller, given, self._terms))

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
        return await self._adone(going(self._caller, given, self._terms))

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
        return self._done(going(self._caller, command(event, data), self._terms))

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
        return await self._adone(going(self._caller, command(event, data), self._terms))

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
        return self._done(sending(self._caller, event, data, by=by, wait_s=wait_s))

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
        return await self._adone(sending(self._caller, event, data, by=by, wait_s=wait_s))

    def cancel(self, *, by: str, reason: str = "", wait_s: float = STOP_WAIT_S) -> Outcome:
        """End the run, whoever runs it: another task, thread or process, or nobody.

        Async work stops at its next await; its calls are closed, its questions taken back. Sync code of an activity
        cannot be stopped: the run ends when it returns.

        Args:
            by: Who cancels, for the terminal record and the audit log.
            reason: Why.
            wait_s: How many seconds to wait, from 0, until who runs it has stopped.

        Returns:
            Where the session stands: its status is `cancelled`.

        Raises:
            UnknownSession: There is no such session.
            NotExpected: It has no run, or its run has ended.
            SessionBusy: Who runs it has not stopped in time; the order stands.
        """
        return self._done(self._cancelling(by, reason, wait_s))

    async def acancel(self, *, by: str, reason: str = "", wait_s: float = STOP_WAIT_S) -> Outcome:
        """End the run, whoever runs it; see `cancel`.

        Args:
            by: Who cancels.
            reason: Why.
            wait_s: How many seconds to wait, from 0, until who runs it has stopped.

        Returns:
            Where the session stands: its status is `cancelled`.

        Raises:
            UnknownSession: There is no such session.
            NotExpected: It has no run, or its run has ended.
            SessionBusy: Who runs it has not stopped in time; the order stands.
        """
        return await self._adone(self._cancelling(by, reason, wait_s))

    def _cancelling(self, by: str, reason: str, wait_s: float) -> Steps[Outcome]:
        yield from cancelled(self._caller, by=by, reason=reason, wait_s=wait_s)
        yield Work(fn=self._container.clean_up)
        return (yield Work(fn=self.outcome))

    def drain(self, *, by: str = "", reason: str = "", wait_s: float = STOP_WAIT_S) -> Outcome:
        """Let whoever runs the session end its present step and let go; `resume` goes on with it.

        Args:
            by: Who wants it, for the audit log.
            reason: Why.
            wait_s: How many seconds to wait, from 0, until the step has ended.

        Returns:
            Where the session stands.

        Raises:
            UnknownSession: There is no such session.
            SessionBusy: The step has not ended in time; the order stands.
        """
        return self._done(self._draining(by, reason, wait_s))

    async def adrain(self, *, by: str = "", reason: str = "", wait_s: float = STOP_WAIT_S) -> Outcome:
        """Let whoever runs the session end its present step and let go; see `drain`.

        Args:
            by: Who wants it.
            reason: Why.
            wait_s: How many seconds to wait, from 0, until the step has ended.

        Returns:
            Where the session stands.

        Raises:
            UnknownSession: There is no such session.
            SessionBusy: The step has not ended in time; the order stands.
        """
        return await self._adone(self._draining(by, reason, wait_s))

    def _draining(self, by: str, reason: str, wait_s: float) -> Steps[Outcome]:
        yield Work(fn=self._caller.refuse_stranger)
        yield from drained(self.database, session=self.id, by=by, reason=reason, wait_s=wait_s)
        return (yield Work(fn=self.outcome))

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
        return self._done(self._caller.trying(None)) or self.outcome()

    def refuse_strange(self) -> None:
        """Check that the session can be gone on with here.

        Raises:
            NotExpected: It keeps its checkpoints elsewhere.
        """
        refuse_strange(self._caller)

    def expect(self, ask: str) -> None:
        """Check that an answer would lead somewhere, before it is recorded: an ask takes only one.

        Args:
            ask: Its id.

        Raises:
            UnknownAsk: No ask has this id.
            NotExpected: The session does not wait for it, or keeps its checkpoints elsewhere, or what comes first, a
                timer for instance, leaves the state that asked.
            Drift: The run was started by another definition.
        """
        expect(self._caller, ask)

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
        return claimed(self._caller, ask, decision, by=by, note=note)

    def row(self) -> SessionRow | None:
        """Return the session's row, or None when it was never started."""
        return self._caller.row()

    def outcome(self) -> Outcome:
        """Read where the session stands, from its latest checkpoint."""
        return self._caller.outcome()
