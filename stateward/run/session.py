"""A session: one conversation or case, driven from any process that has the database.

It is the unit of ownership: what belongs to one conversation is a field of it and is passed in with each call, never
kept on a graph or an agent. So one graph serves many sessions, and many owners, at once.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from langgraph.types import Command, StreamMode

from stateward.run.cancel import cancelled
from stateward.run.drain import drained
from stateward.run.drive import Steps, Work
from stateward.run.events.event import StreamEvent
from stateward.run.events.following import OPTIONS, afollow, follow
from stateward.run.going import going, tidied
from stateward.run.outcome import Outcome, Sent
from stateward.run.questioned import Questioned
from stateward.run.sending import command, sending
from stateward.run.stream import stream_async, stream_sync
from stateward.run.streaming import Options, Said
from stateward.run.verdict import Verdict

STOP_WAIT_S = 60.0
"""How long who cancels or drains waits for the call that runs the session, in seconds, unless they say otherwise."""


@dataclass(frozen=True, slots=True)
class Session(Questioned):
    """One session of one graph.

    Args:
        id: LangGraph's `thread_id`; not empty.
        graph: The compiled chart. One without a checkpointer is attached to the database.
        database: From `stateward.open`.
        context: LangGraph's `context=`.
        tenant: Whose session it is; a session keeps its first tenant, and for others it is not there. Who names none
            is let in: that is the host itself.
        user: Who gives its inputs, as the host knows them; under `four_eyes` they may not approve what comes of it.
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
        drift: What becomes of an unfinished run that began under another definition: `refuse` raises `Drift`, `keep`
            lets it go on under the policies that it began under, when nothing but a policy is another one.

    Raises:
        InputRefused: The id is empty or no text, the deadline no number above 0, the queue no number from 0,
            or `drift` none of its words.
        DefinitionError: The graph keeps its checkpoints and its tables elsewhere, or no state has a model of a role.
    """

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
        return self._done(self._sending(event, data, by=by, wait_s=wait_s))

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
        return await self._adone(self._sending(event, data, by=by, wait_s=wait_s))

    def _sending(self, event: str, data: Mapping[str, Any] | None, *, by: str, wait_s: float) -> Steps[Sent]:
        sent = yield from sending(self._caller, event, data, by=by, wait_s=wait_s)
        if sent.outcome is not None:
            yield from tidied(sent.outcome, self._terms)
        return sent

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
            InputRefused: Nobody is said to cancel it.
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
            InputRefused: Nobody is said to cancel it.
            UnknownSession: There is no such session.
            NotExpected: It has no run, or its run has ended.
            SessionBusy: Who runs it has not stopped in time; the order stands.
        """
        return await self._adone(self._cancelling(by, reason, wait_s))

    def _cancelling(self, by: str, reason: str, wait_s: float) -> Steps[Outcome]:
        yield from cancelled(self._caller, by=by, reason=reason, wait_s=wait_s)
        yield Work(fn=self._container.clean_up)
        return (yield self._caller.looking())

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
        return (yield self._caller.looking())

    def stream(
        self,
        input: Mapping[str, Any] | Command[Any] | None = None,
        *,
        event: str | None = None,
        data: Mapping[str, Any] | None = None,
        answers: Mapping[str, Verdict | Mapping[str, Any]] | None = None,
        by: str = "",
        note: str = "",
        stream_mode: StreamMode | Sequence[StreamMode] | None = None,
        subgraphs: bool = False,
        **options: Unpack[Options],
    ) -> Generator[Any]:
        """Do what `start`, `resume` or `answer` does, and stream meanwhile; `outcome` tells afterwards where it stands.

        Args:
            input: State keys, LangGraph's `Command(resume=…)`, or None to go on.
            event: Instead of an input, the name of an event to go on with.
            data: The event's fields.
            answers: Instead of both, answers to asks: id to a word, or to an answer as `Command(resume=…)` takes it.
            by: Who answers.
            note: Why.
            stream_mode: LangGraph's.
            subgraphs: Whether graphs inside are streamed as well, as LangGraph does.
            options: LangGraph's other arguments of `stream`.

        Returns:
            LangGraph's stream. Closed or left early it ends the call, which is gone on with by `resume`.

        Raises:
            InputRefused: What was given does not fit, or is more than one of these; nothing was committed.
            SessionBusy: Another run holds the session.
            NotExpected: The chart has no transition for the event now, or the session does not wait for an answer.
            UnknownAsk: No ask has such an id.
            AskClosed: An ask was answered, withdrawn or expired before.
            Drift: The run was started by another definition.
        """
        given = Said(input=input, event=event, data=data, answers=answers, by=by, note=note)
        return stream_sync(self._streaming(given, {**options, "stream_mode": stream_mode, "subgraphs": subgraphs}))

    def astream(
        self,
        input: Mapping[str, Any] | Command[Any] | None = None,
        *,
        event: str | None = None,
        data: Mapping[str, Any] | None = None,
        answers: Mapping[str, Verdict | Mapping[str, Any]] | None = None,
        by: str = "",
        note: str = "",
        stream_mode: StreamMode | Sequence[StreamMode] | None = None,
        subgraphs: bool = False,
        **options: Unpack[Options],
    ) -> AsyncGenerator[Any]:
        """Do what `astart` or `aresume` does, and stream meanwhile; see `stream`.

        Args:
            input: As for `stream`.
            event: As for `stream`.
            data: As for `stream`.
            answers: As for `stream`.
            by: As for `stream`.
            note: As for `stream`.
            stream_mode: As for `stream`.
            subgraphs: As for `stream`.
            options: As for `stream`.

        Returns:
            LangGraph's stream.

        Raises:
            StatewardError: As for `stream`.
        """
        given = Said(input=input, event=event, data=data, answers=answers, by=by, note=note)
        steps = self._streaming(given, {**options, "stream_mode": stream_mode, "subgraphs": subgraphs})
        return stream_async(steps, threads=self.database.threads)

    def events(
        self,
        input: Mapping[str, Any] | Command[Any] | None = None,
        *,
        event: str | None = None,
        data: Mapping[str, Any] | None = None,
        answers: Mapping[str, Verdict | Mapping[str, Any]] | None = None,
        by: str = "",
        note: str = "",
    ) -> Generator[StreamEvent]:
        """Do what `stream` does, and tell by typed events: states, calls, tokens, questions, costs, checkpoints.

        Args:
            input: As for `stream`.
            event: As for `stream`.
            data: As for `stream`.
            answers: As for `stream`.
            by: As for `stream`.
            note: As for `stream`.

        Returns:
            The events in the order in which they happen, numbered from 1; the last one says where the session stands.

        Raises:
            StatewardError: As for `stream`.
        """
        given = Said(input=input, event=event, data=data, answers=answers, by=by, note=note)
        parts = stream_sync(self._streaming(given, OPTIONS, heard=True))
        return follow(parts, machine=self.graph.machine, look=self.outcome)

    def aevents(
        self,
        input: Mapping[str, Any] | Command[Any] | None = None,
        *,
        event: str | None = None,
        data: Mapping[str, Any] | None = None,
        answers: Mapping[str, Verdict | Mapping[str, Any]] | None = None,
        by: str = "",
        note: str = "",
    ) -> AsyncGenerator[StreamEvent]:
        """Do what `astream` does, and tell by typed events; see `events`.

        Args:
            input: As for `stream`.
            event: As for `stream`.
            data: As for `stream`.
            answers: As for `stream`.
            by: As for `stream`.
            note: As for `stream`.

        Returns:
            The events.

        Raises:
            StatewardError: As for `stream`.
        """
        given = Said(input=input, event=event, data=data, answers=answers, by=by, note=note)
        parts = stream_async(self._streaming(given, OPTIONS, heard=True), threads=self.database.threads)
        return afollow(parts, machine=self.graph.machine, look=self.aoutcome)
