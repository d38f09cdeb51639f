"""The door: the one way from an activity to a tool or a model.

Order, for every call (DESIGN decision 10): decide, ask, decide again, reserve, journal, call, redact, settle, audit.
Follow a tool call: `node` makes the activity's `Run`, `context.Run.tool` numbers the call, this file decides and calls,
`journal` and `ledger` keep it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from stateward.errors import CheckpointError, Diverged
from stateward.govern.decision import CallRequest, Decision, Deny, NeedsApproval, charges, decide
from stateward.govern.effective import Effective
from stateward.govern.fingerprint import fingerprint
from stateward.govern.redact import redact
from stateward.run.deadline import finished
from stateward.run.door.activation import Activation
from stateward.run.door.calling import WAITED, Calling, Paused, inside
from stateward.run.door.in_flight import InFlight, together
from stateward.run.door.outcome import SECRET, Outcome, replayed, status_of, undeclared
from stateward.run.door.performing import Performers, performed
from stateward.run.door.playing import Playing
from stateward.run.door.question import approval, refuse_restless, rejected
from stateward.run.door.recovery import Recovery
from stateward.run.door.report import Report
from stateward.run.door.script import Script
from stateward.run.door.signal import Signal, Suspend, Trip, as_error, raced, strongest
from stateward.run.door.straggler import Stragglers
from stateward.run.door.tool import Effect, Tool, ToolResult, refusal
from stateward.run.store.ask import ask_id
from stateward.run.store.database import Database
from stateward.run.store.journal import Entry, Reservation, Tripped
from stateward.run.store.ledger import BILLION
from stateward.run.threads import Threads

FAN_OUT = 8
"""Calls of one activity that run at the same time; the others wait their turn."""


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
    ) -> None:
        self.notify = notify
        self.database = database
        self.activation = activation
        self.effective = effective
        self.tools = tools
        self.fence = fence
        self.threads = threads
        self.signal: Signal | None = None
        """Why the activity must end here; it stands even if the activity swallowed what was raised."""
        self.playing = None if script is None else Playing(script, activation)
        self._report = Report(database, activation)
        self.stragglers = stragglers or Stragglers()
        self._performers = Performers(threads=threads, stragglers=self.stragglers)
        self._slots = asyncio.Semaphore(FAN_OUT)
        self.in_flight = InFlight()
        """The calls that are being made."""

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
            return await self._tool(name, arguments, call=call, call_id=call_id)

    def _check(self) -> None:
        if self.signal is not None:
            raise self.signal

    async def _tool(self, name: str, arguments: Mapping[str, Any], *, call: int, call_id: str) -> ToolResult:
        known = self.tools.get(name)
        if known is None:
            return await self._deny(name, arguments, undeclared(name, self.tools), call=call, call_id=call_id)
        try:
            parsed = known.parse(arguments)
            plain = known.plain(parsed)
        except ValueError as wrong:
            await self.threads.database.run(self._report.write, "invalid", name, arguments, str(wrong), call)
            return refusal(name, "invalid", str(wrong), call=call, call_id=call_id)
        return await self._call_tool(known, parsed, plain, call=call, call_id=call_id)

    async def _call_tool(
        self, tool: Tool, arguments: Mapping[str, Any], plain: Mapping[str, Any], *, call: int, call_id: str
    ) -> ToolResult:
        request = CallRequest(
            kind="tool",
            name=tool.name,
            arguments=plain,
            path=self.activation.path,
            declared=frozenset(self.tools),
            estimate_usd=0.0,
        )
        entry = self._entry(request, call=call, effect=tool.effect)
        async with self._slots:
            try:
                admitted = await self._admitted(request, entry, tool)
            except (Suspend, Trip, Diverged) as signal:
                self.signal = self.signal or signal
                raise
            if isinstance(admitted, ToolResult):
                return replace(admitted, call_id=call_id)
            outcome = await self._perform(tool, arguments, admitted)
            await finished(self.threads.database.run(self._settle, admitted, outcome))
        result = ToolResult(
            name=tool.name,
            status=status_of(outcome.status, outcome.result),
            value=outcome.result,
            call=call,
            call_id=call_id,
        )
        self.notify(result)
        return result

    async def _admitted(self, request: CallRequest, entry: Entry, tool: Tool) -> Entry | ToolResult:
        recovery = Recovery(
            database=self.database,
            report=self._report,
            fence=self.fence,
            threads=self.threads,
            loop=asyncio.get_running_loop(),
        )
        if self.playing is not None:
            # On the loop, so that calls of a batch are begun one after the other, in their recorded order; but not
            # before all of them have been made: one that asks does not keep its siblings from being asked about.
            await asyncio.sleep(0)
            return self._admit(request, entry, tool, recovery)
        if tool.lookup:
            return await self.threads.lookups.run(self._admit, request, entry, tool, recovery)
        # Cancelled, it is waited for: nothing may be journaled after the end of the run has closed its calls.
        return await finished(self.threads.database.run(self._admit, request, entry, tool, recovery))

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

    def admit_model(self, request: CallRequest, *, call: int) -> Entry:
        """Take a model call through decision, reservation and journal; blocking.

        Args:
            request: The call; its estimate is an upper bound.
            call: The call's number in the activation, from 1.

        Returns:
            The journal's entry: `completed` or `failed` when the call was already made, else `started`.

        Raises:
            FuseTripped: A fuse forbids the call.
            Diverged: The journal has another call under this number.
            RunError: The activity is over.
        """
        self.in_flight.check()
        try:
            self._check()
            return self._admit_model(request, call)
        except Diverged as diverged:
            self.signal = self.signal or diverged
            raise
        except (Suspend, Trip) as signal:
            # LangChain expects models to raise exceptions; the signal is kept beside, for the node to find.
            self.signal = self.signal or signal
            raise as_error(signal, where=request.path) from signal

    def _admit_model(self, request: CallRequest, call: int) -> Entry:
        entry = self._entry(request, call=call, effect="idempotent")
        known = self._known(entry)
        if known is not None and known.status in ("completed", "failed"):
            return known
        decision = self._decide(request, entry, known=known, approved=False)
        begun = decision if isinstance(decision, Deny) else self._begin(request, entry, known)
        if isinstance(begun, Deny):
            raise Trip(self._report.tripped(begun, request, call))
        outcome = self.playing.of_model(begun) if self.playing is not None else None
        return begun if outcome is None else self._settle(begun, outcome)

    def settle_model(self, entry: Entry, outcome: Outcome) -> None:
        """Close a model call in journal, ledger and audit; blocking.

        Args:
            entry: What `admit_model` returned.
            outcome: What the call came to.
        """
        self._settle(entry, outcome)

    # -- decide, ask, decide again, reserve, journal: one visit to the database thread ------------------

    def _admit(self, request: CallRequest, entry: Entry, tool: Tool, recovery: Recovery) -> Entry | ToolResult:
        known = self._known(entry)
        if known is not None and known.status in ("completed", "failed"):
            return replayed(known)
        if known is not None and tool.effect == "once" and known.result != WAITED:
            looked_up = tool if self.playing is None else replace(tool, lookup=None)
            settled = recovery.settled(known, looked_up, limit_s=self._limit_s(tool))
            if settled is not None:
                return settled
        decision = self._decide(request, entry, known=known, approved=False)
        if isinstance(decision, NeedsApproval):
            answered = self._ask(request, entry, decision)
            if answered is not None:
                return answered
            decision = self._decide(request, entry, known=known, approved=True)
        begun = decision if isinstance(decision, Deny) else self._begin(request, entry, known)
        if isinstance(begun, Deny):
            return self._refused(begun, request, entry.key.call)
        return begun if self.playing is None else self._cut_off(begun, self.playing.script, recovery)

    def _cut_off(self, begun: Entry, script: Script, recovery: Recovery) -> Entry | ToolResult:
        """In a replay, come to where a crash cut the call off, if somebody had to decide about it then."""
        tries = script.cut_off_at(begun)
        if tries is None:
            return begun
        while begun.tries < tries:
            begun = self.database.journal.restart(begun.key, fence=self.fence, confirmed_safe=True)
        return recovery.unknown(begun) or begun

    def _refused(self, denial: Deny, request: CallRequest, call: int) -> ToolResult:
        if denial.fuse:
            raise Trip(self._report.tripped(denial, request, call))
        self._report.write("denied", request.name, request.arguments, denial.reason, call)
        return refusal(request.name, "denied", denial.reason, call=call)

    def _known(self, entry: Entry) -> Entry | None:
        known = self.database.journal.get(entry.key)
        if known is not None and known.fingerprint != entry.fingerprint:
            raise Diverged(
                f"Call {entry.key.call} was `{known.name}` with other arguments, and is now `{entry.name}`",
                where=entry.key.path,
                fix="An activity that is entered again must make the same calls in the same order; move what "
                "changes (time, random numbers) into a tool or into the state.",
            )
        return known

    def _decide(self, request: CallRequest, entry: Entry, *, known: Entry | None, approved: bool) -> Decision:
        ledger, at = self.database.ledger, self.activation
        spent = dict(ledger.spent(at.session, run=at.run))
        for charge in known.charges if known is not None else ():
            # A call that a crash cut off is charged already; taken up again, it costs nothing more.
            spent[charge.scope, charge.unit] -= charge.billionths / BILLION
        return decide(
            self.effective,
            request=request,
            spent=spent,
            approved=approved,
            raised=ledger.raised(at.session, run=at.run),
            revoked=self.playing.script.revoked(entry) if self.playing else self.database.revocations.of(at.session),
        )

    def _ask(self, request: CallRequest, entry: Entry, need: NeedsApproval) -> ToolResult | None:
        """Return None when a person approved, the observation when nobody did in time; suspend while all can."""
        asks = self.database.asks
        ask = asks.find(ask_id(entry.key, fingerprint=entry.fingerprint))
        if ask is not None and ask.status == "expired":
            (ask,) = asks.load(ask.session, [ask.id], fence=self.fence)
        if ask is None or ask.status in ("open", "withdrawn"):
            refuse_restless(entry, answered=asks.times_answered(entry.key))
            raise Suspend([approval(request, entry, need, now=None if self.playing else self.database.clock.now())])
        if ask.decision == "approve":
            return None
        reason = rejected(ask, need)
        self._report.write("rejected", request.name, request.arguments, reason, entry.key.call)
        return refusal(request.name, "rejected", reason, call=entry.key.call)

    def _begin(self, request: CallRequest, entry: Entry, known: Entry | None) -> Entry | Deny:
        if self.playing is not None:
            self.playing.script.expect(entry)
        if known is not None:
            begun = self.database.journal.restart(known.key, fence=self.fence, confirmed_safe=True)
            if known.result == WAITED:
                self.database.journal.extend(known.key, progress=None, fence=self.fence)
            return begun
        raised = self.database.ledger.raised(self.activation.session, run=self.activation.run)
        reservations = [
            Reservation(scope=charge.scope, unit=charge.unit, amount=charge.amount, limit=charge.limit)
            for charge in charges(self.effective, request=request, raised=raised)
        ]
        begun = self.database.journal.begin(entry, reservations=reservations, fence=self.fence)
        if not isinstance(begun, Tripped):
            return begun.entry
        # A sibling took the rest meanwhile; told as if it had done so before, so that the record depends on no race.
        again = self._decide(request, entry, known=None, approved=True)
        return again if isinstance(again, Deny) else raced(begun)

    def _entry(self, request: CallRequest, *, call: int, effect: Effect) -> Entry:
        return Entry(
            key=self.activation.key(call),
            kind=request.kind,
            name=request.name,
            fingerprint=fingerprint(request.name, arguments=request.arguments),
            arguments=redact(dict(request.arguments), classes=SECRET),
            effect=effect,
        )

    # -- call, redact, settle, audit ------------------------------------------------------------------

    async def _perform(self, tool: Tool, arguments: Mapping[str, Any], entry: Entry) -> Outcome:
        if self.playing is not None:
            return await self.playing.of_tool(entry)
        context = self.activation.context(entry.key.call)
        limit_s = self._limit_s(tool)
        try:
            with self.in_flight.inside(), inside(Calling(door=self, call=entry.key.call)):
                return await performed(tool, arguments, context, self._performers, timeout_s=limit_s)
        except asyncio.CancelledError:
            if tool.is_unknown_when_cut:
                # At once, while the lease is ours: who goes on with the run shall not take it for a crash.
                marking = partial(self.database.journal.mark_unknown, entry.key, fence=self.fence)
                with suppress(CheckpointError):  # then it stays `started`, which is found out about all the same
                    await finished(self.threads.database.run(marking))
            raise
        except (Suspend, Trip, Paused):
            # An agent inside waits: the tool is entered again, and the journal answers for what the agent did.
            waits = partial(self.database.journal.extend, entry.key, progress=WAITED, fence=self.fence)
            await finished(self.threads.database.run(waits))
            raise

    def _limit_s(self, tool: Tool) -> float | None:
        return min((s for s in (tool.timeout_s, self.effective.call_timeout_s) if s is not None), default=None)

    def _settle(self, entry: Entry, outcome: Outcome) -> Entry:
        return self.database.journal.settle(
            entry.key,
            status=outcome.status,
            result=outcome.result,
            spent=outcome.spent,
            tokens_in=outcome.tokens_in,
            tokens_out=outcome.tokens_out,
            fence=self.fence,
        )

    async def _deny(
        self, name: str, arguments: Mapping[str, Any], reason: str, *, call: int, call_id: str
    ) -> ToolResult:
        await self.threads.database.run(self._report.write, "denied", name, arguments, reason, call)
        return refusal(name, "denied", reason, call=call, call_id=call_id)
