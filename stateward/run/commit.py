"""From a kernel step to LangGraph's command: one update, one `goto`, one checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from langgraph.graph import END
from langgraph.types import Command

from stateward.chart.configuration import Configuration
from stateward.chart.definition import Definition
from stateward.chart.event import Occurrence
from stateward.chart.step import Microstep, Step
from stateward.errors import MicrostepLimit, NoTransition
from stateward.run.checkpoint import CHANNEL, Json, Status, configuration_delta, encode_event
from stateward.run.data import marks_after
from stateward.run.hub.regions import Place, Regions, failing_state
from stateward.run.people.reminder import agenda_delta, drop_reminders, set_reminders
from stateward.run.plan import HUB, Machine
from stateward.run.progress import Progress, fatal_in, is_kind, stepped
from stateward.run.store.ask import Ask
from stateward.run.view import View

_HALTS = ("fuse", "timeout", "unknown_after_crash", "ask.expired", "error.contract")
"""Of the events that end a run, the ones that are a limit reached and not a failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """A step ready for LangGraph, and what its caller must know of it."""

    command: Command[Any]
    handled: bool
    failed: bool
    exited: tuple[int, ...] = ()
    reason: Mapping[str, Any] | None = None
    """Why the run ended, when it ended badly."""
    fatal: str = ""
    """The event that no transition took and that ended the run, or failed a region."""
    region: str | None = None
    """Of several regions: path of the state whose failure no transition took."""
    working: tuple[int, ...] = ()
    """Of several regions: the states whose activity runs, or is to run now."""


def finish(
    machine: Machine,
    progress: Progress,
    events: Sequence[Occurrence],
    *,
    state: int | None = None,
    running: bool = False,
) -> Committed:
    """Let the kernel process events and make the commit.

    Args:
        machine: The lowered chart.
        progress: Where the step stands; the activity's update is in its view.
        events: What happened, in order; empty for the start of a chart that waits at once, and where all that happened
            is in `progress.prior`.
        state: The state whose activity ended with these events; None when they came from elsewhere.
        running: Whether the one active state's activity goes on unless the state is left; of several regions the
            checkpoint says it.

    Returns:
        The commit.
    """
    for event in events:
        progress.data.events[event.name] = event
    kept = progress.view.kept()
    try:
        step = stepped(machine, progress, events)
    except (NoTransition, MicrostepLimit) as error:
        # The configuration stays where it was, so nothing may stay of what actions did on a way that was not taken.
        progress.view.put_back(kept)
        kind = "fuse.microsteps" if isinstance(error, MicrostepLimit) else "error.transition"
        told = Occurrence(name=kind, data={"message": str(error), "state": error.facts.get("state", "")})
        return _broken(machine, progress, told, state=state)
    # What no transition took is named all the same: the step is about it.
    delta = _delta(machine, progress, step, state=state, about=_about(progress, events))
    fatal = fatal_in(step)
    if machine.chart.tables.has_parallel:
        if len(step.configuration.atomic(machine.chart)) > 1:
            return _several(machine, progress, step, delta, fatal=fatal, state=state)
        delta |= _left_regions(machine, progress, step)
    if fatal is not None:
        goto, status = END, _end(fatal.name)
        delta["reason"] = _reason(machine.chart, progress.configuration, fatal)
    elif step.final:
        goto, status = END, "completed"
    else:
        goto, status, reason = _place(machine, progress, step, running=running)
        if reason is not None:
            delta["reason"] = reason
    delta["status"] = status
    command = Command(update=_writes(progress.view, delta), goto=goto)
    return Committed(
        command=command,
        handled=step.handled,
        failed=status == "failed",
        exited=step.exited,
        reason=delta.get("reason"),
        fatal=fatal.name if fatal is not None else "",
    )


def _about(progress: Progress, events: Sequence[Occurrence]) -> str:
    came = events or (progress.prior.unhandled if progress.prior is not None else ())
    return came[-1].name if came else "start"


def ask_commit(machine: Machine, state: int, progress: Progress, asks: Sequence[Ask]) -> Committed:
    """Commit that a state waits for a person.

    Args:
        machine: The lowered chart.
        state: Whose activity asks.
        progress: Where the step stands; nothing of the suspended activity is in its view.
        asks: The questions.

    Returns:
        The commit, which leads to the state's generated `ask` substate, or of several regions to where these go on.
    """
    path, ids = machine.chart.nodes[state].path, [ask.id for ask in asks]
    regions = Regions.of(machine, progress.control)
    place, working = Place(goto=machine.ask_node(state), status="waiting"), ()
    if len(regions.atoms) > 1:
        regions = regions.with_asks(state, ids)
        place, working = regions.place(), regions.working
    set_reminders(machine, progress, asks)
    delta: Json = {
        **_standing(machine.chart, progress),
        **progress.also,
        **agenda_delta(progress),
        "status": place.status,
        "asks": {path: ids},
        "last": {"event": "ask", "state": path, "activation": progress.configuration.activation(state)},
    }
    if progress.at is not None:
        delta["last"]["now"] = progress.at
    if place.reason is not None:
        delta["reason"] = place.reason
    command = Command(update=[*progress.view.commit(), (CHANNEL, delta)], goto=place.goto)
    return Committed(
        command=command, handled=True, failed=place.status == "failed", reason=place.reason, working=working
    )


def _broken(machine: Machine, progress: Progress, event: Occurrence, *, state: int | None) -> Committed:
    """End the run, or the region, where the kernel could not go on; the update is kept, the configuration stays."""
    chart, configuration, prior = machine.chart, progress.configuration, progress.prior
    last: Json = {"event": event.name, "changed": sorted(progress.view.writes)}
    if state is not None:
        last |= {"state": chart.nodes[state].path, "activation": configuration.activation(state)}
    delta: Json = {**_standing(chart, progress), **progress.also, "last": last}
    dropped = progress.agenda.delta() if progress.agenda is not None else None
    if dropped is not None:
        # A timer that came to nothing is not delivered again.
        delta["timers"] = {number: None for number, timer in dropped.items() if timer is None}
    exited = prior.exited if prior is not None else ()
    if chart.tables.has_parallel and len(configuration.atomic(chart)) > 1:
        regions = Regions.of(machine, progress.control).moved(configuration, exited=exited)
        if state is not None and state in configuration.active:
            regions = regions.with_end(state)
        return _failed_region(machine, progress, regions, delta, event=event, state=state, exited=exited)
    status, reason = _end(event.name), _reason(chart, configuration, event)
    command = Command(
        update=[*progress.view.commit(), (CHANNEL, {**delta, "status": status, "reason": reason})], goto=END
    )
    return Committed(command=command, handled=True, failed=status == "failed", exited=exited, reason=reason)


def _left_regions(machine: Machine, progress: Progress, step: Step) -> Json:
    """Forget what was known of regions that a step has left for one state."""
    before = Regions.of(machine, progress.control)
    delta = before.moved(step.configuration, exited=step.exited).delta(before)
    brought = _brought_by_state(machine.chart, progress, replace(step, starts=()))
    return {**delta, "brought": brought} if brought else delta


def _several(
    machine: Machine, progress: Progress, step: Step, delta: Json, *, fatal: Occurrence | None, state: int | None
) -> Committed:
    """Commit a step after which several states are active: what no transition took is the failure of one region."""
    regions = Regions.of(machine, progress.control).moved(step.configuration, exited=step.exited)
    if state is not None and state in step.configuration.active and state not in step.exited:
        regions = regions.with_end(state)
    brought = _brought_by_state(machine.chart, progress, step)
    if brought:
        delta["brought"] = brought
    if fatal is None:
        return _placed(machine, progress, regions, delta, handled=step.handled, exited=step.exited)
    failed = _failed_region(machine, progress, regions, delta, event=fatal, state=state, exited=step.exited)
    return replace(failed, handled=step.handled)


def _failed_region(
    machine: Machine,
    progress: Progress,
    regions: Regions,
    delta: Json,
    *,
    event: Occurrence,
    state: int | None,
    exited: tuple[int, ...],
) -> Committed:
    """Commit that one region failed; the others go on."""
    data = cast("Mapping[str, Any]", event.data if isinstance(event.data, Mapping) else {})
    named = machine.chart.nodes[state].path if state is not None else str(data.get("state") or "")
    failing = failing_state(machine.chart, regions.configuration, named)
    stored = encode_event(event) or {}
    path = machine.chart.nodes[failing].path
    reason: Json = {"event": event.name, "state": path, "data": stored.get("data"), "status": _end(event.name)}
    regions = regions.with_failure(failing, reason)
    committed = _placed(machine, progress, regions, delta, handled=True, exited=exited)
    return replace(committed, region=path, fatal=event.name)


def _placed(
    machine: Machine, progress: Progress, regions: Regions, delta: Json, *, handled: bool, exited: tuple[int, ...]
) -> Committed:
    place = regions.place()
    delta |= regions.delta(Regions.of(machine, progress.control))
    delta["status"] = place.status
    if place.reason is not None:
        delta["reason"] = place.reason
    return Committed(
        command=Command(update=_writes(progress.view, delta), goto=place.goto),
        handled=handled,
        failed=place.status == "failed",
        exited=exited,
        reason=place.reason,
        working=regions.working if place.goto == HUB else (),
    )


def _writes(view: View, delta: Json) -> Any:  # a form of LangGraph's `Command.update`
    """Return all writes in order; as a dictionary, which LangGraph takes faster, when each key is written once."""
    writes = [*view.commit(), (CHANNEL, delta)]
    single = dict(writes)
    return single if len(single) == len(writes) else writes


def _standing(chart: Definition, progress: Progress) -> Json:
    """Say where the chart stands when the kernel took no step of its own."""
    return configuration_delta(
        progress.control.configuration,
        progress.configuration,
        chart,
        entered=_entered(progress.microsteps(progress.prior)),
    )


def _entered(microsteps: Sequence[Microstep]) -> list[int]:
    return [state for micro in microsteps for state in micro.entered]


def _delta(machine: Machine, progress: Progress, step: Step, *, state: int | None, about: str) -> Json:
    chart, control = machine.chart, progress.control
    micros = progress.microsteps(step)
    delta = configuration_delta(control.configuration, step.configuration, chart, entered=_entered(micros))
    delta["last"] = _last(chart, progress, step, micros, state=state, about=about)
    if progress.letters:
        delta["last"]["letters"] = progress.letters
    if progress.at is not None:
        delta["last"]["now"] = progress.at
    marks = marks_after(step, chart=chart, view=progress.view) if chart.tables.has_always else None
    if marks:
        delta["marks"] = marks
    if step.starts or step.exited:
        event = encode_event(_brought(progress, step))
        if event is not None or control.event is not None:
            delta["event"] = event
    dropped = [path for path in control.asks if chart.by_path[path] in step.exited]
    if dropped:
        delta["asks"] = dict.fromkeys(dropped)
        drop_reminders(machine, progress, [ask for path in dropped for ask in control.asks[path]])
    delta |= agenda_delta(progress)
    return delta | progress.also if progress.also else delta


def _brought(progress: Progress, step: Step) -> Occurrence | None:
    """The event behind the last transition, when it was one of the chart's and not a completion."""
    triggers = [micro.event for micro in step.microsteps if micro.event is not None]
    if not triggers or triggers[-1].startswith("done."):
        return None
    return progress.data.events.get(triggers[-1])


def _brought_by_state(chart: Definition, progress: Progress, step: Step) -> Json:
    """The same for each state with an activity: those of other regions remember what brought them."""
    event, known = encode_event(_brought(progress, step)), progress.control.brought
    starting = {chart.nodes[state].path: event for state in step.starts if event is not None}
    left = [path for state in step.exited if (path := chart.nodes[state].path) in known]
    return {**dict.fromkeys(left), **starting}


def _last(
    chart: Definition,
    progress: Progress,
    step: Step,
    micros: Sequence[Microstep],
    *,
    state: int | None,
    about: str,
) -> Json:
    """What `history` shows of this step."""
    configuration, arrows = progress.began, chart.tables.arrows
    atoms = configuration.atomic(chart)
    if state is None and atoms:
        state = atoms[0] if len(atoms) == 1 else _concerned(chart, atoms, step)
    triggers = [micro.event for micro in micros if micro.event is not None]
    return {
        "state": "" if state is None else chart.nodes[state].path,
        "activation": 0 if state is None else configuration.activation(state),
        "event": triggers[0] if triggers else about,
        "taken": [arrows[index] for micro in micros for index in micro.transitions],
        "verdicts": [[chart.transitions[v.transition].guard_name, v.passed] for v in step.verdicts],
        "changed": sorted(progress.view.writes),
    }


def _concerned(chart: Definition, atoms: Sequence[int], step: Step) -> int | None:
    """The first of several active states that took part in a step; None when the event was nobody's."""
    sources = [chart.transitions[index].source for micro in step.microsteps for index in micro.transitions]
    return next((atom for s in sources for atom in atoms if s <= atom < chart.nodes[s].end), None)


def _place(machine: Machine, progress: Progress, step: Step, *, running: bool) -> tuple[str, Status, Json | None]:
    """Where a chart that has not ended goes on: to an activity, to a wait, or nowhere."""
    chart = machine.chart
    if step.starts:
        return machine.activity_node(step.starts[0]), "running", None
    state = step.configuration.atomic(chart)[-1]
    if running and state in progress.began.active and state not in step.exited:
        return machine.activity_node(state), "running", None
    if chart.nodes[state].path in progress.control.asks and state not in step.exited:
        return machine.ask_node(state), "waiting", None
    if machine.waits(state):
        return machine.wait_node(state), "waiting", None
    stuck = {"event": "stuck", "state": chart.nodes[state].path, "data": "no transition leaves this state"}
    return END, "failed", stuck


def _reason(chart: Definition, configuration: Configuration, event: Occurrence) -> Json:
    state = (0, *configuration.atomic(chart))[-1]
    stored = encode_event(event) or {}
    return {"event": event.name, "state": chart.nodes[state].path, "data": stored.get("data")}


def _end(event: str) -> Status:
    return "halted" if is_kind(event, _HALTS) else "failed"
