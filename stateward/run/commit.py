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
from stateward.chart.step import Step, advance
from stateward.errors import MicrostepLimit, NoTransition
from stateward.run.ask import Ask
from stateward.run.checkpoint import CHANNEL, Control, Json, Status, configuration_delta, encode_event
from stateward.run.data import ViewData, marks_after
from stateward.run.plan import Machine
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


def finish(machine: Machine, progress: Progress, events: Sequence[Occurrence]) -> Committed:
    """Let the kernel process events and make the commit.

    Args:
        machine: The lowered chart.
        progress: Where the step stands; the activity's update is in its view.
        events: What happened, in order; empty for the start of a chart that waits at once.

    Returns:
        The commit.
    """
    progress.data.events.update((event.name, event) for event in events)
    try:
        step = _step(machine, progress, events)
    except (NoTransition, MicrostepLimit) as error:
        kind = "fuse.microsteps" if isinstance(error, MicrostepLimit) else "error.transition"
        return _broken(machine, progress, Occurrence(name=kind, data={"message": str(error)}))
    fatal = next((event for event in step.unhandled if _is(event, _FATAL)), None)
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
    command = Command(update=[*progress.view.commit(), (CHANNEL, delta)], goto=goto)
    return Committed(command=command, handled=step.handled, failed=status == "failed", exited=step.exited)


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
        **configuration_delta(progress.control.configuration, progress.configuration, machine.chart),
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
        **configuration_delta(progress.control.configuration, progress.configuration, machine.chart),
        "status": status,
        "reason": _reason(machine.chart, progress.configuration, event),
        "last": {"event": event.name, "changed": sorted(progress.view.writes)},
    }
    command = Command(update=[*progress.view.commit(), (CHANNEL, delta)], goto=END)
    return Committed(command=command, handled=True, failed=status == "failed")


def _delta(machine: Machine, progress: Progress, step: Step) -> Json:
    chart, control = machine.chart, progress.control
    marks = marks_after(step, chart=chart, view=progress.view) if chart.tables.has_always else {}
    delta: Json = {
        **configuration_delta(control.configuration, step.configuration, chart),
        "last": _last(chart, progress, step),
    }
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


def _last(chart: Definition, progress: Progress, step: Step) -> Json:
    """What `history` shows of this step."""
    entered = progress.step.microsteps if progress.step is not None and progress.step is not step else ()
    micros = (*entered, *step.microsteps)
    atoms = [state for state in progress.configuration.active if not chart.nodes[state].children]
    return {
        "state": chart.nodes[atoms[0]].path if atoms else "",
        "activation": progress.configuration.activation(atoms[0]) if atoms else 0,
        "event": next((micro.event for micro in micros if micro.event is not None), "start"),
        "taken": [_arrow(chart, index) for micro in micros for index in micro.transitions],
        "verdicts": [
            [chart.transitions[v.transition].guard_name, v.passed]
            for v in step.verdicts
            if chart.transitions[v.transition].guard is not None
        ],
        "changed": sorted(progress.view.writes),
    }


def _arrow(chart: Definition, index: int) -> str:
    transition = chart.transitions[index]
    targets = ", ".join(chart.nodes[target].path for target in transition.targets)
    return f"{chart.nodes[transition.source].path or chart.name} -> {targets or '(stays)'}"


def _place(machine: Machine, progress: Progress, step: Step) -> tuple[str, Status, Json | None]:
    """Where a chart that has not ended goes on: to an activity, to a wait, or nowhere."""
    chart = machine.chart
    if step.starts:
        return machine.activity_node(step.starts[0]), "running", None
    state = next(index for index in reversed(step.configuration.active) if not chart.nodes[index].children)
    if chart.nodes[state].path in progress.control.asks and state not in step.exited:
        return machine.ask_node(state), "waiting", None
    if machine.waits(state):
        return machine.wait_node(state), "waiting", None
    stuck = {"event": "stuck", "state": chart.nodes[state].path, "data": "no transition leaves this state"}
    return END, "failed", stuck


def _reason(chart: Definition, configuration: Configuration, event: Occurrence) -> Json:
    state = next((i for i in reversed(configuration.active) if not chart.nodes[i].children), 0)
    stored = encode_event(event) or {}
    return {"event": event.name, "state": chart.nodes[state].path, "data": stored.get("data")}


def _end(event: Occurrence) -> Status:
    return "halted" if _is(event, _HALTS) else "failed"


def _is(event: Occurrence, kinds: Sequence[str]) -> bool:
    return any(event.name == kind or event.name.startswith(f"{kind}.") for kind in kinds)
