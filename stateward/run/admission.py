"""Admission: what happens before LangGraph sees an input, and what must be true before anything is committed.

A new input opens a run, or is the event `input` of a waiting one; a resume is checked against the chart by a trial step
of the pure kernel. Whatever does not fit is refused here, so that checkpoint, wait and asks stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any, cast

from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.types import Command, StateSnapshot
from pydantic import ValidationError

from stateward.chart.configuration import Configuration
from stateward.chart.event import Occurrence
from stateward.errors import CheckpointError, Drift, InputRefused, NotExpected, SessionBusy, UpdateRefused
from stateward.run import giver
from stateward.run.arrivals import found, is_over, refuse_rest, settle, take
from stateward.run.branch import renamed
from stateward.run.checkpoint import CHANNEL, TERMINAL, Control, Json, decode, merge, start_delta
from stateward.run.commit import finish
from stateward.run.invocation import Invocation, new_id
from stateward.run.node import Values, begin
from stateward.run.pairing import well_paired
from stateward.run.payload import nearest, payload
from stateward.run.pinned_policy import remember
from stateward.run.plan import HUB, Machine
from stateward.run.progress import Progress
from stateward.run.resume import (
    INPUT,
    Answers,
    Before,
    Happened,
    Resumption,
    claim,
    enveloped,
    occurrence,
    read,
    still_open,
    unwrapped,
)
from stateward.run.update import as_update
from stateward.run.view import View
from stateward.run.wait import unexpected

REOPENS = ("fuse.turns", "fuse.tokens", "fuse.usd", "fuse.calls", "fuse.runtime_s")
"""Fuses whose limit a person can raise for a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What the latest checkpoint of a session says."""

    control: Control | None
    values: Mapping[str, Any]
    next: tuple[str, ...] = ()
    """The node that is to run next."""


def stored(snapshot: StateSnapshot, *, machine: Machine) -> Stored:
    """Read a session's latest checkpoint.

    Args:
        snapshot: From LangGraph.
        machine: The lowered chart.

    Returns:
        Its control and values.

    Raises:
        CodecError: The control channel has another version or is damaged.
        Drift: It names a state that the chart does not have.
    """
    values = cast("Mapping[str, Any]", snapshot.values or {})
    return Stored(control=decode(values.get(CHANNEL) or {}, machine.chart), values=values, next=snapshot.next)


def refuse_contradiction(machine: Machine, before: Stored) -> None:
    """Refuse to go on from a checkpoint that another definition made, or that says both "goes on" and "nowhere".

    Args:
        machine: The lowered chart.
        before: The checkpoint.

    Raises:
        Drift: The run was started by another definition.
        CheckpointError: An unfinished run has no node to go on with.
    """
    control = before.control
    if control is None or control.status in TERMINAL:
        return
    refuse_drift(machine, control)
    if not before.next:
        raise CheckpointError(
            f"The run is {control.status}, but its checkpoint names no node to go on with",
            where=f"run {control.run}",
            fix="Go on from an earlier checkpoint of the session.",
        )


def admit(machine: Machine, given: object, *, before: Stored, invocation: Invocation) -> object:
    """Decide what LangGraph gets for an input.

    Args:
        machine: The lowered chart.
        given: The caller's input: state keys, a `Command`, or None to go on.
        before: The session's latest checkpoint.
        invocation: Database and session; answers are recorded there.

    Returns:
        The input for LangGraph.

    Raises:
        InputRefused: The input does not fit the state schema or the event's type.
        SessionBusy: The session's last run did not end; it must be resumed first.
        NotExpected: The chart has no transition for the event now.
        AskClosed: The ask was answered before.
        Drift: The run was started by another chart, policy or schema.
        CheckpointError: The checkpoint contradicts itself.
    """
    control = before.control
    refuse_contradiction(machine, before)
    if isinstance(given, Command):
        return _command(machine, cast("Command[Any]", given), before=before, invocation=invocation)
    if given is None:
        return _go_on(machine, before=before, invocation=invocation)
    if control is None or control.status in TERMINAL:
        return _open_run(machine, given, before=before, invocation=invocation)
    if control.status == "running":
        raise SessionBusy(
            f"The last run of session `{invocation.session}` did not end",
            fix="Resume it first (input None, or `stateward resume`), then send the input.",
        )
    told = Happened(
        event=_input(machine, given), update=checked(machine, given, base=before.values, serde=invocation.serde)
    )
    said = _said(told)
    first = _try(machine, told, control=control, before=before, invocation=invocation)
    _note_giver(invocation, control.run)
    return Command(resume=enveloped(said, first))


def _open_run(machine: Machine, given: object, *, before: Stored, invocation: Invocation) -> Values:
    last = before.control
    delta = start_delta(
        run=new_id("run"),
        run_no=last.run_no + 1 if last else 1,
        pins=machine.pins,
        branch=last.branch if last else "main",
    )
    update = checked(machine, given, base=before.values, serde=invocation.serde)
    values = {key: value for key, value in before.values.items() if key != CHANNEL}
    _fits_whole(machine, {**values, **update})
    if machine.start is None:  # else nothing that the input could make fail happens on the way to the first activity
        begin(machine, {**values, **update, CHANNEL: merge({}, delta)}, where="the start")
    if last is not None:
        refuse_rest(last, invocation)
    if invocation.shared:
        remember(machine, invocation.database, session=invocation.session)
        update = well_paired(update, values, machine.schema.messages, invocation)
    _note_giver(invocation, delta["run"]["id"])
    invocation.standing = (delta["last"], Configuration())
    return {**update, CHANNEL: delta}


def _note_giver(invocation: Invocation, run: str) -> None:
    if invocation.user:
        giver.record(invocation.database, invocation.session, run=run, by=invocation.user)


def _fits_whole(machine: Machine, values: Values) -> None:
    """A dataclass or Pydantic model may want keys that the input does not bring, or that do not go together."""
    try:
        machine.schema.present(values)
    except (ValidationError, TypeError, ValueError) as misfit:
        schema = machine.schema.schema.__name__
        raise InputRefused(
            f"The input does not make a `{schema}`: {misfit}", fix="Give every key that has no default."
        ) from misfit


def checked(machine: Machine, given: object, *, base: Mapping[str, Any], serde: SerializerProtocol | None) -> Values:
    """Validate values that come from outside; messages get their ids here, so that a refused input leaves nothing.

    Args:
        machine: The lowered chart.
        given: State key to value, or an instance of the schema.
        base: The values that it comes on top of.
        serde: What checkpoints are written with; None where nothing is kept.

    Returns:
        The values in the form that is committed.

    Raises:
        InputRefused: A key is unknown, or Stateward's own, or a value does not fit or cannot be kept.
    """
    try:
        view = View(machine.schema, base, "the input", serde=serde)
        view.apply(as_update(given, where="the input"))
        return {key: values[-1] for key, values in view.writes.items()}
    except UpdateRefused as misfit:
        raise InputRefused(misfit.what, where="the input", fix=misfit.fix) from misfit


def _input(machine: Machine, given: object) -> Occurrence:
    """The event `input`: state values may be of any kind, so an event without a type of its own tells their JSON."""
    keys = dict(cast("Mapping[str, Any]", given)) if isinstance(given, Mapping) else None
    typed = machine.chart.events.get(INPUT) is not None
    return occurrence(INPUT, keys if typed else nearest(keys), machine=machine)


def _said(told: Happened) -> Json:
    """What a wait is resumed with for an event: the form in which a mailbox would have kept it."""
    said: Json = {"event": told.event.name, "data": payload(told.event)}
    return {**said, "update": told.update} if told.update else said


def _go_on(machine: Machine, *, before: Stored, invocation: Invocation) -> object:
    """Continue an unfinished run; a waiting one whose asks were all answered in the database gets its answers."""
    control = before.control
    if control is None:
        if invocation.shared and not before.next:
            raise NotExpected(
                f"Session `{invocation.session}` has no run to go on with", fix="Send an input to open one."
            )
        return None
    if control.status in TERMINAL:
        reopened = _reopened(machine, control)
        if reopened is None:
            refuse_rest(control, invocation)
        return reopened
    if control.status != "waiting":
        return None
    asks = [ask for ids in control.asks.values() for ask in ids]
    answered = bool(asks) and all(invocation.database.asks.get(ask).status != "open" for ask in asks)
    first, posted = found(control, invocation)
    if first is not None:
        progress = begin(machine, dict(before.values), where="the wait")
        looked = take(machine, progress, posted, now=first.now)
        if progress.prior is None and progress.broken is None:
            settle(invocation, looked, upto=0)
            first = None
    said = {"answered": asks} if answered else None
    return None if said is None and first is None else Command(resume=enveloped(said, first))


def _reopened(machine: Machine, control: Control) -> Command[Any] | None:
    """Enter the activity that a fuse stopped once more, with the same activation: its calls are in the journal.

    A limit that nobody raised trips again before the same call (SYSTEMS E3). Other ends are final. Of several regions
    all that a fuse stopped go on; what else failed there ends the run again.
    """
    event = str((control.reason or {}).get("event", ""))
    if control.status != "halted" or event not in REOPENS:
        return None
    refuse_drift(machine, control)
    path = str((control.reason or {}).get("state", ""))
    state = machine.chart.by_path.get(path, -1)
    if state not in machine.plans or state not in control.configuration.active:
        return None
    delta: Json = {"status": "running", "reason": None, "last": {"event": "resume", "state": path}}
    stopped = dict.fromkeys(region for region, why in control.failed.items() if why["event"] in REOPENS)
    if not stopped:
        return Command(update={CHANNEL: delta}, goto=machine.activity_node(state))
    return Command(update={CHANNEL: {**delta, "failed": stopped, "ended": stopped}}, goto=HUB)


def _command(machine: Machine, given: Command[Any], *, before: Stored, invocation: Invocation) -> Command[Any]:
    control, serde = before.control, invocation.serde
    if given.goto or given.graph is not None or given.resume is None:
        raise NotExpected(
            "A `Command` may only resume: where to go, and what the chart keeps, is not the caller's to write",
            fix="Use `Command(resume=…)`, an input, None to go on, or `update_state` to edit values.",
        )
    if control is None:
        raise NotExpected(f"Session `{invocation.session}` has no run to resume", fix="Send an input to open one.")
    update = checked(machine, given.update, base=before.values, serde=serde) if given.update else None
    if update:
        _note_giver(invocation, control.run)
    if control.status != "waiting":
        raise NotExpected(
            f"Session `{invocation.session}` does not wait; it is {control.status}",
            fix="Send an input to open a new run, or None to go on with an unfinished one.",
        )
    told = _told(machine, given.resume, control=control, invocation=invocation)
    if isinstance(told, Happened):
        came = checked(machine, told.update, base=before.values, serde=serde) if told.update else {}
        brought = Happened(event=told.event, update=came)
        said = _said(brought)
        first = _try(machine, brought, control=control, before=before, invocation=invocation)
        return Command(resume=enveloped(said, first), update=update)
    wanted = {answer.ask for answer in told.answers} if isinstance(told, Answers) else set(told.asks)
    first = refuse_left(machine, wanted, control=control, before=before, invocation=invocation)
    answered = claim(invocation.database, told, machine=machine) if isinstance(told, Answers) else told
    return Command(resume=enveloped({"answered": list(answered.asks)}, first), update=update)


def _told(machine: Machine, resume: object, *, control: Control, invocation: Invocation) -> Resumption:
    asks = [ask for ids in control.asks.values() for ask in ids]
    still = still_open(invocation.database, asks) if asks else asks
    said = renamed(control.raw, unwrapped(resume))
    return read(said, machine=machine, asks=asks, unanswered=still, by=invocation.approver)


def refuse_drift(machine: Machine, control: Control) -> None:
    """Refuse to go on with a run under another definition than it began with.

    Args:
        machine: The lowered chart at hand.
        control: The run's control.

    Raises:
        Drift: A pinned hash, or the mode, is another now; names each part that differs.
    """
    if control.pins == machine.pins:
        return
    pinned, now = control.pins, machine.pins
    parts = [
        f"{part} {old[:12]} is now {new[:12]}"
        for part, old, new in (
            ("chart", pinned.chart, now.chart),
            ("policy", pinned.policy, now.policy),
            ("schema", pinned.schema, now.schema),
            ("mode", pinned.mode, now.mode),
        )
        if old != new
    ]
    keep = ""
    if (pinned.chart, pinned.schema) == (now.chart, now.schema):
        keep = 'keep its policy: `drift="keep"` of the session, or `--drift keep`; or '
    raise Drift(
        f"The run was started by another definition: {'; '.join(parts)}",
        where=f"run {control.run}",
        fix=f"Go on with the code and policy that started it, or {keep}let the session adopt this definition: "
        "`stateward migrate SESSION`, or `stateward.migration.adopt`, with what was renamed.",
    )


def _try(
    machine: Machine, told: Happened, *, control: Control, before: Stored, invocation: Invocation
) -> Before | None:
    """Let the pure kernel take the event on a copy; what it would refuse is refused now.

    What is due or was posted comes first, on the copy as later in the node; returns up to where that goes.
    """
    progress = begin(machine, dict(before.values), where="the wait")
    first = _first(machine, progress, control=control, invocation=invocation)
    if told.update:
        progress.view.apply(told.update)
    committed = finish(machine, progress, [told.event])
    if not committed.handled or progress.broken is not None:
        raise unexpected(machine, progress, told.event.name, reason=committed.reason)
    return first


def refuse_left(
    machine: Machine, wanted: Set[str], *, control: Control, before: Stored, invocation: Invocation
) -> Before | None:
    """Refuse an answer when what comes first leaves the state that asks: an ask takes only one answer.

    Args:
        machine: The lowered chart.
        wanted: The asks that are answered.
        control: Where the session stands.
        before: Its latest checkpoint.
        invocation: Who looks.

    Returns:
        Up to where what comes first goes; None when nothing does.

    Raises:
        NotExpected: Nobody would wait for the answer any more.
    """
    progress = begin(machine, dict(before.values), where="the wait")
    first = _first(machine, progress, control=control, invocation=invocation)
    gone = [
        path
        for path, ids in control.asks.items()
        if machine.chart.by_path[path] in (progress.prior.exited if progress.prior else ())
        and not wanted.isdisjoint(ids)
    ]
    if gone or is_over(machine, progress):
        raise NotExpected(
            f"A timer or an event that comes first leaves `{', '.join(gone) or 'the run'}`: nobody waits for an answer",
            where=f"session `{invocation.session}`",
            fix="Go on without an answer (input None, or `stateward resume`).",
        )
    return first


def _first(machine: Machine, progress: Progress, *, control: Control, invocation: Invocation) -> Before | None:
    """Take on a copy what comes before the caller's event."""
    first, posted = found(control, invocation)
    if first is not None:
        take(machine, progress, posted, now=first.now)
    return first
