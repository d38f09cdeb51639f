"""The first half of a call's way through the door: decide, ask, decide again, reserve, journal.

One visit to the database for each try, blocking. What the policy says is decided in `govern.decision`; here are the
facts for it, and what becomes of the decision. What need not be asked about goes straight (`straight.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace

from stateward.govern.checks.runtime import RUNTIME
from stateward.govern.decision import CallRequest, Decision, Deny, NeedsApproval, charges
from stateward.govern.effective import Effective
from stateward.govern.fingerprint import measured
from stateward.govern.layer import Limit
from stateward.govern.rate import PER_MINUTE, Beginning, Pause, paces
from stateward.govern.redact import redact
from stateward.govern.request import CallKind, Facts
from stateward.govern.sink import taken_out
from stateward.run.door.activation import Activation
from stateward.run.door.approving import Approving, Make
from stateward.run.door.calling import WAITED
from stateward.run.door.observing import decided, observed
from stateward.run.door.outcome import replayed
from stateward.run.door.playing import Playing
from stateward.run.door.recovery import Recovery
from stateward.run.door.refusing import Refusing, more, refuse_other
from stateward.run.door.report import Report
from stateward.run.door.script import Script
from stateward.run.door.signal import Trip, raced
from stateward.run.door.straight import Straight
from stateward.run.door.time_left import TimeLeft
from stateward.run.door.tool import Effect, Tool, ToolResult
from stateward.run.door.traffic import Traffic, beginnings
from stateward.run.door.waiting import OutOfTime, TimeKind, TooEarly
from stateward.run.door.wanted import Wanted
from stateward.run.door.working import Working
from stateward.run.store.charges import BILLION, Reservation, Tripped
from stateward.run.store.database import Database
from stateward.run.store.entry import Fresh
from stateward.run.store.journal import Entry


class Admission:
    """Lets calls of one activation in.

    Args:
        database: Journal, ledger, asks and audit.
        activation: Whose calls these are.
        effective: The folded policy of the state.
        fence: The session's fencing token, or None when nothing is leased.
        report: The audit log.
        playing: In a replay, what stands in the place of tools and models; None otherwise.
        traffic: What all calls of the run share in this process.
        time: How long the activation may still take.
        tools: The tools the state declares.
        make: Makes the call that a person's edit wants.
    """

    def __init__(
        self,
        *,
        database: Database,
        activation: Activation,
        effective: Effective,
        fence: int | None,
        report: Report,
        playing: Playing | None,
        traffic: Traffic,
        time: TimeLeft,
        tools: Mapping[str, Tool],
        make: Make,
    ) -> None:
        self._database = database
        self._activation = activation
        self._effective = effective
        self._fence = fence
        self._report = report
        self._refusing = Refusing(report)
        self._playing = playing
        self._traffic = traffic
        self._time = time
        self._approving = Approving(
            database=database,
            activation=activation,
            effective=effective,
            fence=fence,
            report=report,
            playing=playing,
            tools=tools,
            make=make,
        )
        self._classes = taken_out(effective, sink="audit")
        self._rates = {kind: paces(effective, part=part) for kind, part in PER_MINUTE.items()}
        tried = effective.trial
        self._tried = {kind: paces(tried, part=part) if tried else () for kind, part in PER_MINUTE.items()}
        self._working = Working(
            database=database,
            activation=activation,
            effective=effective,
            fence=fence,
            stopwatch=traffic.stopwatch,
            script=None if playing is None else playing.script,
        )
        is_watched = bool(playing or tried or self._working.is_measured)
        self.short = Straight(  # the way that most calls take
            database=database,
            activation=activation,
            effective=effective,
            fence=fence,
            traffic=traffic,
            time=time,
            classes=self._classes,
            kinds=[kind for kind in PER_MINUTE if not (is_watched or self._rates[kind])],
        )

    def straight(self, wanted: Wanted) -> Entry | None:
        """Let a tool call in that nothing stands in the way of.

        Args:
            wanted: The call.

        Returns:
            Its entry, begun; None when it takes the long way, `tool`.
        """
        return None if self._approving.may_be_edited(wanted) else self.short.begun(wanted.request, wanted.entry)

    def entry(self, request: CallRequest, *, call: int, effect: Effect) -> Entry:
        """Return the journal's entry of a call that has not begun; its arguments are put in when it is let in.

        Args:
            request: The call.
            call: Its number in the activation.
            effect: What a second run would do.
        """
        known_by, size = measured(request.name, arguments=request.arguments)
        key, kind, name = self._activation.key(call), request.kind, request.name
        return Fresh(key=key, kind=kind, name=name, fingerprint=known_by, arguments={}, effect=effect, size=size)

    def _shown(self, request: CallRequest, entry: Entry) -> Entry:
        """Put the arguments in: what is refused may be as large as it likes, and is not looked through for that."""
        return replace(entry, arguments=redact(dict(request.arguments), classes=self._classes))

    def tool(self, wanted: Wanted, recovery: Recovery) -> Wanted | ToolResult:
        """Let a tool call in.

        Args:
            wanted: The call.
            recovery: Finds out about a call that a crash cut off.

        Returns:
            The call that is made, perhaps one that a person has edited, with its entry begun; the observation when it
            was made before or is not made.

        Raises:
            Suspend: A person is asked.
            Trip: A fuse forbids it.
            TooEarly: It has to wait for its turn; nothing was written.
            Diverged: The journal has another call under its number.
        """
        known = self._known(wanted.entry)
        is_other = known is not None and known.fingerprint != wanted.entry.fingerprint
        if is_other or self._approving.may_be_edited(wanted):
            current = self._approving.current(wanted, known)
            if isinstance(current, ToolResult):
                return current
            wanted = current
        refuse_other(known, wanted.entry)
        if known is not None and known.status in ("completed", "failed"):
            return replayed(known)
        return self._begun_or_not(wanted, known, recovery)

    def _begun_or_not(self, wanted: Wanted, known: Entry | None, recovery: Recovery) -> Wanted | ToolResult:
        tool, request, entry = wanted.tool, wanted.request, wanted.entry
        if known is not None and tool.effect == "once" and known.result != WAITED:
            looked_up = tool if self._playing is None else replace(tool, lookup=None)
            settled = recovery.settled(known, looked_up, limit_s=self.limit_s(tool.timeout_s))
            if settled is not None:
                return settled
        try:
            begun = self._decided(request, entry, known, limit_s=tool.timeout_s, wanted=wanted)
        except OutOfTime as late:
            return self._refusing.of_time(late, request, entry.key.call)
        if isinstance(begun, ToolResult):
            return begun
        if isinstance(begun, Deny):
            return self._refusing.denied(begun, request, entry.key.call)
        if self._playing is not None:
            cut = self._cut_off(begun, self._playing.script, recovery)
            if isinstance(cut, ToolResult):
                return cut
            begun = cut
        return replace(wanted, entry=begun)

    def model(self, request: CallRequest, entry: Entry) -> Entry:
        """Let a model call in.

        Args:
            request: The call; its estimate is an upper bound.
            entry: Its entry, not begun.

        Returns:
            The journal's entry: `completed` or `failed` when the call was already made, else `started`.

        Raises:
            Trip: A limit forbids it.
            TooEarly: It has to wait for its turn; nothing was written.
            TimeoutError: No time is left for it.
            Diverged: The journal has another call under its number.
        """
        if (straight := self.short.begun(request, entry)) is not None:
            return straight
        known = self._known(entry)
        refuse_other(known, entry)
        if known is not None and known.status in ("completed", "failed"):
            return known
        try:
            begun = self._decided(request, entry, known, limit_s=None)
        except OutOfTime as late:
            if late.kind == "time":
                self._refusing.note(late, request, entry.key.call)
                raise TimeoutError(late.denial.reason) from late
            raise Trip(self._report.tripped(late.denial, request, entry.key.call, more=more(late))) from late
        assert not isinstance(begun, ToolResult)  # models are not asked about
        if isinstance(begun, Deny):
            raise Trip(self._report.tripped(begun, request, entry.key.call))
        return begun

    def _known(self, entry: Entry) -> Entry | None:
        known = self._database.journal.get(entry.key)
        if known is None:
            self.short.resume()
        return known

    def limit_s(self, *limits: float | None) -> float | None:
        """Return how long a call may take, in seconds; None for as long as it likes.

        Args:
            limits: What the call itself brings along.
        """
        now = self._database.clock.monotonic()
        return self._time.limit_s(self._effective.call_timeout_s, *limits, now=now)

    def left_s(self) -> float | None:
        """Return how many seconds are left for calls; None for as many as they like."""
        left = self._time.left(now=self._database.clock.monotonic())
        return None if left is None else left.seconds

    def remaining(self) -> Mapping[str, float]:
        """Return what is left of each limited unit, by the tightest scope; blocking."""
        ledger, at = self._database.ledger, self._activation
        spent, raised = dict(ledger.spent(at.session, run=at.run)), ledger.raised(at.session, run=at.run)
        for scope, seconds in self._working.unkept().items():
            spent[scope, RUNTIME] = spent.get((scope, RUNTIME), 0.0) + seconds
        left: dict[str, float] = {}
        for limit in self._effective.limits:
            place = (limit.scope, limit.unit)
            rest = max(0.0, raised.get(place, limit.value) - spent.get(place, 0.0))
            left[limit.unit] = min(rest, left.get(limit.unit, rest))
        return left

    # -- decide, ask, decide again ------------------------------------------------------------------------

    def _decided(
        self,
        request: CallRequest,
        entry: Entry,
        known: Entry | None,
        *,
        limit_s: float | None,
        wanted: Wanted | None = None,
    ) -> Entry | Deny | ToolResult:
        facts = self._facts(entry, known)
        decision = self._decide(request, entry, facts)
        if isinstance(decision, NeedsApproval):
            assert wanted is not None  # models are not asked about
            answered = self._approving.answered(wanted, decision)
            if answered is not None:
                return answered
            facts = replace(facts, approved=True)
            decision = self._decide(request, entry, facts)
        if isinstance(decision, Deny):
            return decision
        return self._begin(request, entry, known, facts, limit_s=limit_s)

    def _facts(self, entry: Entry, known: Entry | None) -> Facts:
        ledger, at = self._database.ledger, self._activation
        self._working.keep()
        spent, raised = dict(ledger.spent(at.session, run=at.run)), ledger.raised(at.session, run=at.run)
        for charge in known.charges if known is not None else ():
            # A call that a crash cut off is charged already; taken up again, it costs nothing more.
            place = (charge.scope, charge.unit)
            spent[place] = spent.get(place, 0.0) - charge.billionths / BILLION
        left_s = self._working.left_s(spent=spent, raised=raised)
        self._time.works_until(left_s, now=self._database.clock.monotonic())
        played = self._playing
        revoked = self._database.revocations.of(at.session) if played is None else played.script.revoked(entry)
        return Facts(spent=spent, raised=raised, revoked=revoked)

    def _decide(self, request: CallRequest, entry: Entry, facts: Facts) -> Decision:
        if self._playing is not None:
            self._refuse_as_recorded(self._playing.script, entry)
        decision = decided(self._effective, request=request, facts=facts)
        if isinstance(decision, Deny) and decision.fuse == RUNTIME:
            raise OutOfTime(RUNTIME, decision)
        return decision

    def _refuse_as_recorded(self, script: Script, entry: Entry) -> None:
        """In a replay nothing is measured: what was refused because of the time is refused again."""
        kinds: tuple[TimeKind, ...] = (RUNTIME, "pace", "time")
        for kind in kinds:
            denial = script.of_time(entry.key, kind)
            if denial is not None:
                raise OutOfTime(kind, denial)

    # -- reserve, journal ---------------------------------------------------------------------------------

    def _begin(
        self, request: CallRequest, entry: Entry, known: Entry | None, facts: Facts, *, limit_s: float | None
    ) -> Entry | Deny:
        entry = self._shown(request, entry)
        if self._playing is not None:
            self._playing.script.expect(entry)
            return self._begun(request, entry, known, facts)
        rates, tried = self._rates[request.kind], self._tried[request.kind]
        with self._traffic.turnstile if rates or tried else nullcontext():
            self._refuse_untimely(request, limit_s=limit_s)
            if known is None and self._effective.trial is not None:
                pause = self._pause(tried, request.kind)
                observed(self._report, self._effective.trial, request, entry.key.call, facts, pause=pause)
            begun = self._begun(request, entry, known, facts)
            if isinstance(begun, Entry):
                beginning = Beginning(kind=request.kind, path=begun.key.path, at=begun.started_at)
                self._traffic.began(entry.key.session, beginning)
        return begun

    def _begun(self, request: CallRequest, entry: Entry, known: Entry | None, facts: Facts) -> Entry | Deny:
        journal = self._database.journal
        if known is not None:
            if known.result == WAITED:
                journal.extend(known.key, progress=None, fence=self._fence)
            return journal.restart(known.key, fence=self._fence, confirmed_safe=True)
        reservations = [
            Reservation(scope=charge.scope, unit=charge.unit, amount=charge.amount, limit=charge.limit)
            for charge in charges(self._effective, request=request, raised=facts.raised)
        ]
        begun = journal.begin(entry, reservations, fence=self._fence)
        if not isinstance(begun, Tripped):
            return begun.entry
        # A sibling took the rest meanwhile; told as if it had done so before, so that the record depends on no race.
        again = self._decide(request, entry, replace(self._facts(entry, None), approved=True))
        return again if isinstance(again, Deny) else raced(begun)

    def _refuse_untimely(self, request: CallRequest, *, limit_s: float | None) -> None:
        """Let a call wait that comes too early, and refuse one that there is no time for.

        Raises:
            TooEarly: Its turn comes later.
            OutOfTime: Its turn would come too late, or the time of the activity is over.
        """
        left = self._time.left(now=self._database.clock.monotonic())
        if left is not None and left.seconds <= 0:
            reason = f"no time is left for it: {left.told} is over, or as good as over; it was not begun"
            raise OutOfTime("time", Deny(reason=reason, rule="timeouts"))
        pause = self._pause(self._rates[request.kind], request.kind)
        if pause is None:
            return
        most = self.limit_s(limit_s)
        if most is not None and pause.seconds > most:
            told = f"{pause.told()}; it would not be waited for longer than {most:.3g} s"
            raise OutOfTime("pace", Deny(reason=told, rule=pause.limit.origin, scope=pause.limit.scope))
        raise TooEarly(pause.seconds)

    def _pause(self, rates: Sequence[Limit], kind: CallKind) -> Pause | None:
        if not rates:
            return None
        session, now = self._activation.session, self._database.clock.now()
        return self._traffic.pause(
            rates,
            session=session,
            kind=kind,
            now=now,
            past=lambda since: beginnings(self._database, session, since=since),
        )

    def _cut_off(self, begun: Entry, script: Script, recovery: Recovery) -> Entry | ToolResult:
        """In a replay, come to where a crash cut the call off, if somebody had to decide about it then."""
        tries = script.cut_off_at(begun)
        if tries is None:
            return begun
        while begun.tries < tries:
            begun = self._database.journal.restart(begun.key, fence=self._fence, confirmed_safe=True)
        return recovery.unknown(begun) or begun
