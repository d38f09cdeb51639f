"""The door: the one way from an activity to a tool or a model.

Order, for every call (DESIGN decision 10): decide, ask, decide again, reserve, journal, call, redact, settle, audit.
Follow a tool call: `node` makes the activity's `Run`, `context.Run.tool` numbers the call, this file takes it through:
`admission` lets it in, `performing` makes it, `journal` and `ledger` keep it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from stateward.errors import CheckpointError, Diverged
from stateward.govern.decision import CallRequest
from stateward.govern.effective import Effective
from stateward.govern.rate import paces
from stateward.govern.sink import taken_out
from stateward.run.deadline import at_end
from stateward.run.door.activation import Activation
from stateward.run.door.admission import Admission
from stateward.run.door.calling import WAITED, Calling, Paused, inside
from stateward.run.door.in_flight import InFlight, together
from stateward.run.door.outcome import Outcome, seen, undeclared
from stateward.run.door.passage import Passage
from stateward.run.door.performing import Performers, performed
from stateward.run.door.playing import Playing
from stateward.run.door.recovery import Recovery
from stateward.run.door.report import Report
from stateward.run.door.script import Script
from stateward.run.door.signal import Signal, Suspend, Trip, as_error, strongest
from stateward.run.door.straggler import Stragglers
from stateward.run.door.time_left import TimeLeft
from stateward.run.door.tool import Tool, ToolResult, refusal
from stateward.run.door.traffic import Traffic
from stateward.run.door.wanted import Wanted
from stateward.run.events.calls import Calls
from stateward.run.store.database import Database
from stateward.run.store.journal import Entry
from stateward.run.threads import Threads

T = TypeVar("T")

FAN_OUT = 8
"""Calls of one activity that run at the same time, where no policy says it; the others wait their turn."""


class Door:
    """The governed way out of one activation.

    Args:
        database: Journal, ledger, asks and audit.
        activation: Whose calls these are.
        effective: The folded policy of the state.
        tools: The tools the state declares.
        fence: The session's fencing token, or None when nothing is leased.
        threads: Where sync tools and work on the database run.
        notify: Told of each result as it comes, whatever the order of the calls.
        script: In a replay, what stands in the place of tools and models; None otherwise.
        stragglers: Of the graph's call; None for a door of its own.
        traffic: Of the graph's call: what its calls share; None for a door of its own.
        time: How long the activation may still take; None for as long as it likes.
        events: Tells of all calls; None while nobody listens.
    """

    def __init__(
        self,
        *,
        database: Database,
        activation: Activation,
        effective: Effective,
        tools: Mapping[str, Tool],
        fence: int | None,
        threads: Threads,
        notify: Callable[[ToolResult], None],
        script: Script | None = None,
        stragglers: Stragglers | None = None,
        traffic: Traffic | None = None,
        time: TimeLeft | None = None,
        events: Calls | None = None,
    ) -> None:
        self.notify = notify
        self.events = events
        self.database = database
        self.activation = activation
        self.effective = effective
        self.tools = tools
        self.fence = fence
        self.threads = threads
        self.signal: Signal | None = None
        """Why the activity must end here; it stands even if the activity swallowed what was raised."""
        self.playing = None if script is None else Playing(script, activation)
        self.traffic = traffic or Traffic()
        self.in_flight = InFlight()
        """The calls that are being made."""
        self.report = Report(database, activation, classes=taken_out(effective, sink="audit"))
        """What it tells the audit log."""
        self.stragglers = stragglers or Stragglers()
        self.time = time or TimeLeft()
        self.is_agent = False
        """Whether it is an agent's, and no chart's: `run.governor` says so."""
        self._performers = Performers(threads=threads, stragglers=self.stragglers)
        self._admission = Admission(
            database=database,
            activation=activation,
            effective=effective,
            fence=fence,
            report=self.report,
            playing=self.playing,
            traffic=self.traffic,
            time=self.time,
            tools=tools,
            make=self._wanted,
        )
        limits = paces(effective, part="parallel") if script is None else ()
        self._slots = None if limits else asyncio.Semaphore(FAN_OUT)
        self.passage = Passage(
            lanes={(activation.run, limit.scope): int(limit.value) for limit in limits},
            traffic=self.traffic,
            providers=database.providers,
            refuse_ended=self._refuse_ended,
        )
        """How calls come to their turn."""

    def _refuse_ended(self) -> None:
        self.in_flight.check()
        self._check()

    # -- tools --------------------------------------------------------------------------------------------

    async def tool(self, name: str, arguments: Mapping[str, Any], *, call: int, call_id: str = "") -> ToolResult:
        """Call a tool, if the policy lets it pass.

        Args:
            name: The tool.
            arguments: Its arguments, not yet validated.
            call: The call's number in the activation, from 1.
            call_id: The id of the model's tool call, when there is one.

        Returns:
            The observation: the result, or why there is none.

        Raises:
            Diverged: The journal has another call under this number.
        """
        with self.in_flight.call():
            self._check()
            result = await self._tool(name, arguments, call=call, call_id=call_id)
            if self.events is not None:
                self.events.refused(result, self.activation)
            return result

    def _check(self) -> None:
        if self.signal is not None:
            raise self.signal

    async def _tool(self, name: str, arguments: Mapping[str, Any], *, call: int, call_id: str) -> ToolResult:
        known = self.tools.get(name)
        if known is None:
            return await self._deny(name, arguments, undeclared(name, self.tools), call=call, call_id=call_id)
        try:
            wanted = self._wanted(known, arguments, call)
        except ValueError as wrong:
            await self.visit(self.report.write, "invalid", name, arguments, str(wrong), call)
            return refusal(name, "invalid", str(wrong), call=call, call_id=call_id)
        if self._slots is None:
            return await self._call_tool(wanted, call_id=call_id)
        async with self._slots:
            return await self._call_tool(wanted, call_id=call_id)

    def _wanted(self, tool: Tool, arguments: Mapping[str, Any], call: int) -> Wanted:
        parsed = tool.parse(arguments)
        request = CallRequest(
            kind="tool",
            name=tool.name,
            arguments=tool.plain(parsed),
            path=self.activation.path,
            declared=frozenset(self.tools),
            is_discovered=tool.is_discovered,
            cleared=tool.cleared,
            work=self.activation.work,
        )
        entry = self._admission.entry(request, call=call, effect=tool.effect)
        return Wanted(tool=tool, arguments=parsed, request=request, entry=entry)

    async def _call_tool(self, wanted: Wanted, *, call_id: str) -> ToolResult:
        # Where there is no lane to wait for, nothing is held while the call is let in.
        if self.passage.is_free and self._admission.short.is_open("tool"):
            begun = await self.visit(self._admission.straight, wanted)
            if begun is not None:
                return await self._made(wanted, begun, call_id)
        async with self.passage.aturn(lambda: self._admitted(wanted)) as admitted:
            if isinstance(admitted, ToolResult):
                return replace(admitted, call_id=call_id)
            return await self._made(admitted, admitted.entry, call_id)

    async def _made(self, wanted: Wanted, entry: Entry, call_id: str) -> ToolResult:
        """Make a call that was let in, and settle it."""
        if self.events is not None:
            self.events.started(entry)
        outcome = await self._perform(wanted, entry)
        await self.visit(self._settle, entry, outcome)
        self.notify(result := seen(entry, outcome, call_id=call_id))
        return result

    async def _admitted(self, wanted: Wanted) -> Wanted | ToolResult:
        recovery = Recovery(
            database=self.database,
            report=self.report,
            fence=self.fence,
            threads=self.threads,
            loop=asyncio.get_running_loop(),
        )
        admit = partial(self._admission.tool, wanted, recovery)
        try:
            if self.playing is not None or self.database.is_in_memory:
                # On the loop, so that calls of a batch are begun one after the other (in a replay, in their recorded
                # order); but not before all of them have been made: one that asks does not keep its siblings from being
                # asked about.
                await asyncio.sleep(0)
            if self.playing is not None:
                return admit()
            if wanted.tool.lookup:
                return await self.threads.lookups.run(admit)
            return await self.visit(admit)
        except (Suspend, Trip, Diverged) as signal:
            self.signal = self.signal or signal
            raise

    async def tools_batch(self, calls: Sequence[tuple[int, str, Mapping[str, Any], str]]) -> list[ToolResult]:
        """Make several calls at the same time; every one that may run does, whatever becomes of its siblings.

        Args:
            calls: Number, tool, arguments and model's call id, in call order.

        Returns:
            The observations in call order.

        Raises:
            Suspend: At least one call needs a person; carries all the asks. The others are in the journal.
            Trip: A fuse tripped; the first in call order is told.
            Diverged: The journal has another call under the number of one of them.
        """
        self._check()
        numbers = [number for number, *_ in calls]
        order = range(len(calls)) if self.playing is None else self.playing.order(numbers)
        made = (
            self.tool(name, args, call=no, call_id=its_id) for no, name, args, its_id in map(calls.__getitem__, order)
        )
        came = dict(zip(order, await together(made), strict=True))
        results = [came[place] for place in range(len(calls))]
        self.signal = strongest(results) or self.signal
        self._check()
        for result in results:
            if isinstance(result, BaseException):
                raise result
        return [result for result in results if isinstance(result, ToolResult)]

    # -- models -------------------------------------------------------------------------------------------

    def admit_model(self, request: CallRequest, *, call: int) -> Entry:
        """Take a model call through decision, reservation and journal; blocking.

        Args:
            request: The call; its estimate is an upper bound.
            call: The call's number in the activation, from 1.

        Returns:
            The journal's entry: `completed` or `failed` when the call was already made, else `started`.

        Raises:
            FuseTripped: A fuse forbids the call.
            TooEarly: The call has to wait for its turn; who takes it through `passage` waits.
            TimeoutError: No time is left for the call.
            Diverged: The journal has another call under this number.
            RunError: The activity is over.
        """
        self.in_flight.check()
        try:
            self._check()
            entry = self._admission.entry(request, call=call, effect="idempotent")
            begun = self._admission.model(request, entry)
        except Diverged as diverged:
            self.signal = self.signal or diverged
            raise
        except (Suspend, Trip) as signal:
            # LangChain expects models to raise exceptions; the signal is kept beside, for the node to find.
            self.signal = self.signal or signal
            raise as_error(signal, where=request.path) from signal
        if self.events is not None and begun.status == "started":
            self.events.started(begun)
        if self.playing is None or begun.status != "started":
            return begun
        outcome = self.playing.of_model(begun)
        return begun if outcome is None else self._settle(begun, outcome)

    def settle_model(self, entry: Entry, outcome: Outcome) -> None:
        """Close a model call in journal, ledger and audit; blocking.

        Args:
            entry: What `admit_model` returned.
            outcome: What the call came to.
        """
        self._settle(entry, outcome)

    # -- time ------------------------------------------------------------------------------------------------

    def limit_s(self, *limits: float | None) -> float | None:
        """Return how long a call may take, in seconds: policy, activity, working time and deadline let it no longer.

        Args:
            limits: What the call itself brings along; None for nothing.
        """
        return self._admission.limit_s(*limits)

    def remaining(self) -> Mapping[str, float]:
        """Return what is left of each limited unit, by the tightest scope; blocking."""
        return self._admission.remaining()

    def left_s(self) -> float | None:
        """Return how many seconds the activity leaves its calls; None for as many as they like."""
        return self._admission.left_s()

    # -- call, redact, settle, audit ----------------------------------------------------------------------

    async def _perform(self, wanted: Wanted, entry: Entry) -> Outcome:
        tool, given = wanted.tool, wanted.arguments
        if self.playing is not None:
            asked = self.playing.script.asked_inside(entry)
            if not asked:
                return await self.playing.of_tool(entry)
            self.database.journal.extend(entry.key, progress=WAITED, fence=self.fence)
            raise Suspend(asked)
        where, limit_s = self.activation.path, self.limit_s(tool.timeout_s)
        calling = Calling(door=self, call=entry.key.call)
        try:
            if tool.takes_context or wanted.is_placed(self.effective):
                given = await self.visit(wanted.given, self.effective, self.activation)
            with self.in_flight.inside(), inside(lambda: calling):
                outcome = await performed(tool, given, self._performers, where=where, timeout_s=limit_s)
            if calling.signal is not None:  # of an agent inside, if the tool has swallowed it
                raise calling.signal
            return outcome
        except (Suspend, Trip, Paused):
            # An agent inside waits: the tool is entered again, and the journal answers for what the agent did.
            await self.visit(partial(self.database.journal.extend, entry.key, progress=WAITED, fence=self.fence))
            raise
        except asyncio.CancelledError:
            if tool.is_unknown_when_cut:
                # At once, while the lease is ours: who goes on with the run shall not take it for a crash.
                with suppress(CheckpointError):  # then it stays `started`, which is found out about all the same
                    await self.visit(partial(self.database.journal.mark_unknown, entry.key, fence=self.fence))
            raise

    def _settle(self, entry: Entry, outcome: Outcome) -> Entry:
        settled = self.database.journal.settle(
            entry.key,
            status=outcome.status,
            result=outcome.result,
            spent=outcome.spent,
            tokens_in=outcome.tokens_in,
            tokens_out=outcome.tokens_out,
            fence=self.fence,
            before=entry,
        )
        if self.events is not None:
            self.events.ended(settled)
        return settled

    async def _deny(
        self, name: str, arguments: Mapping[str, Any], reason: str, *, call: int, call_id: str
    ) -> ToolResult:
        await self.visit(self.report.write, "denied", name, arguments, reason, call)
        return refusal(name, "denied", reason, call=call, call_id=call_id)

    async def visit(self, work: Callable[..., T], *args: Any) -> T:
        """Work on the database, in a thread where it may block; cancelled, it is waited for.

        Nothing may be journaled after the end of the run has closed its calls.

        Args:
            work: The work.
            args: What it is called with.

        Returns:
            What it returns.
        """
        if self.database.is_in_memory:
            return work(*args)
        return await at_end(self.threads.database, work, *args)
