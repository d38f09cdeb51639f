"""What came while nobody looked: timers that are due and events in the mailbox, taken before anything else.

Each is one external event and a macrostep of its own: first the timers, in the order of their moments, then the
letters, in the order in which they were posted, and only then what the caller brings. They are folded into the commit
of the node that takes them (`Progress.prior`), so that a thing is taken and known to be taken in one checkpoint.

Admission looks first, and tells the node that is resumed up to which moment and which letter it looked (`Before`). So
both see the same, also when the node runs again after a crash.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from stateward.chart.step import advance
from stateward.errors import InputRefused, MicrostepLimit, NotExpected, NoTransition
from stateward.run.checkpoint import TERMINAL, Control, wakes_at
from stateward.run.drive import Steps, Work
from stateward.run.hub.regions import Regions
from stateward.run.invocation import Invocation
from stateward.run.plan import Machine
from stateward.run.progress import Progress, agenda_of, ends_run, settled
from stateward.run.resume import Before, occurrence
from stateward.run.store.database import Database
from stateward.run.store.mailbox import Letter
from stateward.run.timers import joined, still


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A letter that no transition took when its turn had come."""

    letter: Letter
    at: str
    """The states it met, joined by commas."""
    note: str
    """Why, for who sent it."""


@dataclass(slots=True)
class Looked:
    """What became of letters that were looked at, beside those that were taken."""

    refused: list[Refused] = field(default_factory=list[Refused])
    """No transition took them, and nothing more was to come before the wait."""
    passed: list[int] = field(default_factory=list[int])
    """Numbers of those that keep waiting, until the chart rests, although one behind them was taken."""


def letters(control: Control, invocation: Invocation, *, upto: int | None = None) -> tuple[Letter, ...]:
    """Read the letters whose turn has come; none where nobody can send any.

    Args:
        control: Where the session stands.
        invocation: The call.
        upto: The last number that is wanted; None for all.
    """
    if not invocation.shared:
        return ()
    return invocation.database.mailbox.after(invocation.session, control.mail, upto=upto)


def settle(invocation: Invocation, looked: Looked, *, upto: int) -> None:
    """Tell who sent them of letters that no transition took, and let others keep waiting.

    Args:
        invocation: The call that looked at them.
        looked: What became of them.
        upto: The last number that the step takes.
    """
    mailbox, fence = invocation.database.mailbox, invocation.fence
    for each in looked.refused:
        mailbox.refuse(each.letter.session, each.letter.no, at=each.at, note=each.note, fence=fence)
    if looked.passed:
        mailbox.put_behind(invocation.session, looked.passed, upto=upto, fence=fence)


def refuse_rest(control: Control, invocation: Invocation) -> None:
    """Refuse the letters that came too late for a run: its end is not the beginning of the next.

    Args:
        control: The run's control; it has ended.
        invocation: The call.
    """
    posted, at = _waiting(control, invocation), ", ".join(control.raw["at"])
    _refuse_late(invocation.database, posted, at=at, status=control.status, fence=invocation.fence)


def let_go(invocation: Invocation) -> bool:
    """Give back the lease of a session, and look then whether something was posted meanwhile.

    So a letter is seen here, or its sender finds the lease free, since it tries to take it after posting: what is not
    seen was posted after the lease was free. However that ends, the call is no longer one at work.

    Args:
        invocation: The call, which is over; it has a lease.

    Returns:
        Whether the session waits and has a letter that nobody has looked at.
    """
    lease = invocation.lease
    try:
        return _is_awaited(invocation)
    finally:
        if lease is not None:
            invocation.database.registry.leave(lease.session, fence=lease.fence)


def _is_awaited(invocation: Invocation) -> bool:
    try:
        posted = _released(invocation)
    finally:
        invocation.gone()
    if not posted:
        return False
    database = invocation.database
    row = database.sessions.get(invocation.session)
    if row.status in TERMINAL:
        _refuse_late(database, posted, at=", ".join(row.path), status=row.status)
    return row.status == "waiting"


def _released(invocation: Invocation) -> tuple[Letter, ...]:
    database, lease = invocation.database, invocation.lease
    if lease is None:
        return ()
    database.leases.release(lease)
    return database.mailbox.after(invocation.session, 0) if invocation.shared else ()


def found(control: Control, invocation: Invocation) -> tuple[Before | None, tuple[Letter, ...]]:
    """Look whether something comes before what a caller brings.

    Args:
        control: Where the session stands.
        invocation: The call.

    Returns:
        Up to where was looked, None when there is nothing; and the letters.
    """
    now, posted, due = invocation.now(), _waiting(control, invocation), wakes_at(control.raw)
    if not posted and (due is None or due > now):
        return None, ()
    return Before(now=now, mail=posted[-1].no if posted else control.mail), posted


def _waiting(control: Control, invocation: Invocation) -> tuple[Letter, ...]:
    """Read the letters that waited when the session was taken; one that came since has come after this call."""
    lease = invocation.lease
    return letters(control, invocation) if lease is None or lease.mail else ()


def take(machine: Machine, progress: Progress, posted: Sequence[Letter], *, now: float, one: bool = False) -> Looked:
    """Take the timers that are due, then letters, and fold what they did into the step.

    A letter that no transition takes is refused where the chart rests: nothing can come before the next event. Where an
    activity is still to end it keeps waiting, since that end may lead to a state that takes it.

    Args:
        machine: The lowered chart.
        progress: Where the step stands; it gets `prior`, the `mail` it took, and what has `broken` the kernel.
        posted: The letters, in their order.
        now: Up to when timers are due, in seconds since the epoch; new ones count from there.
        one: Whether to stop after the timers, or the first letter, that something took.

    Returns:
        What became of the letters that were not taken; all others up to `progress.also["mail"]` were.
    """
    progress.now = lambda: now
    looked, waiting = Looked(), list[int]()
    try:
        _take_timers(machine, progress, now=now)
        for letter in posted:
            if is_over(machine, progress) or (one and progress.prior is not None):
                break
            problem = _take_letter(machine, progress, letter)
            if problem is None and not _rests(machine, progress):
                waiting.append(letter.no)
                continue
            note = _untaken(machine, progress, letter) if problem is None else problem
            progress.letters.setdefault("refused" if note else "taken", []).append(letter.no)
            if note:
                looked.refused.append(Refused(letter=letter, at=_at(machine, progress), note=note))
    except (NoTransition, MicrostepLimit) as broken:
        progress.broken = broken
    mail: int = progress.also.get("mail", 0)
    looked.passed = [no for no in waiting if no < mail]
    return looked


def arrived(machine: Machine, progress: Progress, invocation: Invocation) -> Steps[bool]:
    """Take what is there before a node begins to wait: the timers that are due, or one letter.

    Args:
        machine: The lowered chart.
        progress: Where the step stands.
        invocation: The call.

    Returns:
        A generator of work that returns whether something was taken and has to be committed.
    """
    posted: Sequence[Letter] = ()
    if invocation.shared:
        posted = yield Work(fn=letters, args=(progress.control, invocation))
    if not posted and not progress.control.timers:
        return False
    looked = take(machine, progress, posted, now=invocation.now(), one=True)
    yield from _settling(progress, looked, invocation)
    return progress.prior is not None or progress.broken is not None


def taken_before(machine: Machine, progress: Progress, before: Before | None, invocation: Invocation) -> Steps[None]:
    """Take, in a node that was resumed, what admission saw coming before what it is resumed with.

    Args:
        machine: The lowered chart.
        progress: Where the step stands.
        before: What admission said.
        invocation: The call.

    Returns:
        A generator of work.
    """
    if not invocation.shared:
        # A call from inside another graph: nobody admitted it, and it has no mailbox.
        before = Before(now=invocation.now(), mail=0)
    if before is None:
        return
    posted: Sequence[Letter] = ()
    if before.mail > progress.control.mail:
        posted = yield Work(fn=_upto, args=(progress.control, invocation, before.mail))
    looked = take(machine, progress, posted, now=before.now)
    yield from _settling(progress, looked, invocation)


def _settling(progress: Progress, looked: Looked, invocation: Invocation) -> Steps[None]:
    """Tell the mailbox what became of letters that a step did not take; before the step commits."""
    if looked.refused or looked.passed:
        yield Work(fn=_settle, args=(invocation, looked, progress.also.get("mail", 0)))


def _settle(invocation: Invocation, looked: Looked, upto: int) -> None:
    settle(invocation, looked, upto=upto)


def is_over(machine: Machine, progress: Progress) -> bool:
    """Tell whether what was taken has ended the run.

    Args:
        machine: The lowered chart.
        progress: Where the step stands.
    """
    prior = progress.prior
    return progress.broken is not None or (prior is not None and (prior.final or ends_run(machine, prior)))


def _refuse_late(
    database: Database, posted: Sequence[Letter], *, at: str, status: str, fence: int | None = None
) -> None:
    for letter in posted:
        note = f"The run had ended before its turn came: it is {status}."
        database.mailbox.refuse(letter.session, letter.no, at=at, note=note, fence=fence)


def _upto(control: Control, invocation: Invocation, mail: int) -> tuple[Letter, ...]:
    return letters(control, invocation, upto=mail)


def _take_timers(machine: Machine, progress: Progress, *, now: float) -> None:
    due = wakes_at(progress.control.raw)
    if due is not None and due <= now:
        agenda_of(machine, progress)
        progress.prior = settled(machine, progress, still(machine.chart, progress.configuration))


def _take_letter(machine: Machine, progress: Progress, letter: Letter) -> str | None:
    """Take one letter, and return nothing; or why nobody can ever take it, or None when no transition does here."""
    try:
        event = occurrence(letter.event, letter.data, machine=machine)
    except (InputRefused, NotExpected) as misfit:
        return str(misfit)
    kept = progress.view.kept()
    progress.data.events[event.name] = event
    step = advance(machine.chart, progress.configuration, (event,), progress.data, limit=machine.microsteps)
    if not step.handled:
        progress.view.put_back(kept)
        return None
    step = settled(machine, progress, step)
    progress.prior = step if progress.prior is None else joined(progress.prior, step)
    progress.also["mail"] = letter.no
    return ""


def _untaken(machine: Machine, progress: Progress, letter: Letter) -> str:
    return f"No transition takes the event `{letter.event}` in `{_at(machine, progress)}`."


def _rests(machine: Machine, progress: Progress) -> bool:
    """Whether no activity is to end before the chart waits for the next event."""
    regions, prior = replace(Regions.of(machine, progress.control), configuration=progress.began), progress.prior
    return not (regions if prior is None else regions.moved(prior.configuration, exited=prior.exited)).working


def _at(machine: Machine, progress: Progress) -> str:
    chart = machine.chart
    return ", ".join(chart.nodes[state].path for state in progress.configuration.atomic(chart))
