"""From a kernel step to LangGraph's command: one update, one `goto`, one checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph.graph import END
from langgraph.types import Command

from stateward.chart.configuration import Configuration
from stateward.chart.definition import Definition
from stateward.chart.event import Occurrence
from stateward.chart.step import Microstep, Step, advance
from stateward.errors import MicrostepLimit, NoTransition
from stateward.run.checkpoint import CHANNEL, Control, Json, Status, configuration_delta, encode_event
from stateward.run.data import ViewData, marks_after
from stateward.run.plan import Machine
from stateward.run.store.ask import Ask
from stateward.run.view import View

_FATAL = ("error", "fuse", "timeout", "unknown_after_crash")
"""Events that end the run when the chart does not react to them."""
_HALTS = ("fuse", "timeout", "unknown_after_crash", "error.contract")
"""Of these, the ones that are a limit reached and not a failure."""


@dataclass(slots=True, kw_only=True)
class Progress:
    """Where a step stands before it is committed."""

    control: Control
    view: View
    data: ViewData
    step: Step | None
    """What entering the chart did, in the first step of a run."""

    @property
    def configuration(self) -> Configuration:
        """The configuration the step works in."""
        return self.step.configuration if self.step else self.control.configuration

    def microsteps(self, step: Step | None = None) -> tuple[Microstep, ...]:
        """Return what was done so far: entering the chart, in the first step of a run, and then a step of the kernel.

        Args:
            step: The kernel's step, when it came to one.
        """
        first = self.step.microsteps if self.step is not None and self.step is not step else ()
        own = step.microsteps if step is not None else ()
        return (*first, *own) if first else own

    def visible(self) -> Mapping[str, Any]:
        """Return the values an activity sees: with what entry actions of the start changed."""
        return dict(self.view) if self.view.writes else self.view.base


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """A step ready for LangGraph, and what its caller must know of it."""

    command: Command[Any]
    handled: bool
    failed: bool
    exited: tuple[int, ...] = ()
    reason: Mapping[str, Any] | None = None
    """Why the run ended, when it ended badly."""


def finish(machine: Machine, progress: Progress, events: Sequence[Occurrence]) -> Committed:
    """Let the kernel process events and make the commit.

    Args:
        machine: The lowered chart.
        progress: Where the step stands; the activity's update is in its view.
        events: What happened, in order; empty for the start of a chart that waits at once.

    Returns:
        The commit.
    """
    for event in events:
        progress.data.events[event.name] = event
    try:
        step = _step(machine, progress, events)
    except (NoTransition, MicrostepLimit) as error:
        kind = "fuse.microsteps" if isinstance(error, MicrostepLimit) else "error.transition"
        return _broken(machine, progress, Occurrence(name=kind, data={"message": str(error)}))
    fatal = next((event for event in step.unhandled if _is(event, _FATAL)), None) if step.unhandled else None
    delta = _delta(machine, progress, step)
    if fatal is not None:
        goto, status = END, _end(fatal)
        delta["reason"] = _reason(machine.chart, progress.configuration, fatal)
    elif step.final:
        goto, status = END, "completed"
    else:
        goto, status, reason = _place(machine, progress, step)
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
    )


def ask_commit(machine: Machine, state: int, progress: Progress, asks: Sequence[Ask]) -> Command[Any]:
    """Commit that a state waits for a person.

    Args:
        machine: The lowered chart.
        state: Whose activity asks.
        progress: Where the step stands; nothing of the suspended activity is in its view.
        asks: The questions.

    Returns:
        The command that leads to the state's generated `ask` substate.
    """
    path = machine.chart.nodes[state].path
    delta: Json = {
        **_standing(machine.chart, progress),
        "status": "waiting",
        "asks": {path: [ask.id for ask in asks]},
        "last": {"event": "ask", "state": path, "activation": progress.configuration.activation(state)},
    }
    return Command(update=[*progress.view.commit(), (CHANNEL, delta)], goto=machine.ask_node(state))


def _step(machine: Machine, progress: Progress, events: Sequence[Occurrence]) -> Step:
    if not events and progress.step is not None:
        return progress.step
    return advance(machine.chart, progress.configuration, events, progress.data, limit=machine.microsteps)


def _broken(machine: Machine, progress: Progress, event: Occurrence) -> Committed:
    """End the run where the kernel could not go on; the activity's update is kept, the configuration stays."""
    status = _end(event)
    delta: Json = {
        **_standing(machine.chart, progress),
        "status": status,
        "reason": _reason(machine.chart, progress.configuration, event),
        "last": {"event": event.name, "changed": sorted(progress.view.writes)},
    }
    command = Command(update=[*progress.view.commit(), (CHANNEL, delta)], goto=END)
    return Committed(command=command, handled=True, failed=status == "failed", reason=delta["reason"])


def _writes(view: View, delta: Json) -> Any:  # a form of LangGraph's `Command.update`
    """Return all writes in order; as a dictionary, which LangGraph takes faster, when each key is written once."""
    writes = [*view.commit(), (CHANNEL, delta)]
    single = dict(writes)
    return single if len(single) == len(writes) else writes


def _standing(chart: Definition, progress: Progress) -> Json:
    """Say where the chart stands when the kernel took no step of its own."""
    return configuration_delta(
        progress.control.configuration, progress.configuration, chart, entered=_entered(progress.microsteps())
    )


def _entered(microsteps: Sequence[Microstep]) -> list[int]:
    return [state for micro in microsteps for state in micro.entered]


def _delta(machine: Machine, progress: Progress, step: Step) -> Json:
    chart, control = machine.chart, progress.control
    micros = progress.microsteps(step)
    delta = configuration_delta(control.configuration, step.configuration, chart, entered=_entered(micros))
    delta["last"] = _last(chart, progress, step, micros)
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
    return delta


def _brought(progress: Progress, step: Step) -> Occurrence | None:
    """The event behind the last transition, when it was one of the chart's and not a completion."""
    triggers = [micro.event for micro in step.microsteps if micro.event is not None]
    if not triggers or triggers[-1].startswith("done."):
        return None
    return progress.data.events.get(triggers[-1])


def _last(chart: Definition, progress: Progress, step: Step, micros: Sequence[Microstep]) -> Json:
    """What `history` shows of this step."""
    configuration, arrows = progress.configuration, chart.tables.arrows
    atoms = configuration.atomic(chart)
    triggers = [micro.event for micro in micros if micro.event is not None]
    return {
        "state": chart.nodes[atoms[0]].path if atoms else "",
        "activation": configuration.activation(atoms[0]) if atoms else 0,
        "event": triggers[0] if triggers else "start",
        "taken": [arrows[index] for micro in micros for index in micro.transitions],
        "verdicts": [[chart.transitions[v.transition].guard_name, v.passed] for v in step.verdicts],
        "changed": sorted(progress.view.writes),
    }


def _place(machine: Machine, progress: Progress, step: Step) -> tuple[str, Status, Json | None]:
    """Where a chart that has not ended goes on: to an activity, to a wait, or nowhere."""
    chart = machine.chart
    if step.starts:
        return machine.activity_node(step.starts[0]), "running", None
    state = step.configuration.atomic(chart)[-1]
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


def _end(event: Occurrence) -> Status:
    return "halted" if _is(event, _HALTS) else "failed"


def _is(event: Occurrence, kinds: Sequence[str]) -> bool:
    return any(event.name == kind or event.name.startswith(f"{kind}.") for kind in kinds)
