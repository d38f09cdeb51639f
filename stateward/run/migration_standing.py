"""Where a migrated run goes on: the node of the new graph that does what the old one was to do."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from langgraph.graph import END

from stateward.run.checkpoint import CHANNEL, TERMINAL, Control, Json
from stateward.run.hub.regions import Regions
from stateward.run.migration import Line
from stateward.run.node import begin
from stateward.run.plan import ENTER, Machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a run goes on, and what its control channel says of it."""

    goto: str = ""
    delta: Json
    """Keys of the control channel that depend on it."""
    line: Line | None = None
    """Why it cannot go on there."""


def standing(machine: Machine, control: Control, values: Mapping[str, Any], *, again: Collection[str] = ()) -> Standing:
    """Find where a run goes on.

    Args:
        machine: The new chart.
        control: The migrated control.
        values: The migrated state, for the guards of a run that has not entered its chart.
        again: Paths of states whose questions were taken back: their activities are entered again.

    Returns:
        The place; with a line that blocks when there is none.
    """
    if control.status in TERMINAL:
        return Standing(goto=END, delta={})
    if not control.started:
        return _unstarted(machine, {**values, CHANNEL: dict(control.raw)})
    atoms = control.configuration.atomic(machine.chart)
    return _several(machine, control, again) if len(atoms) > 1 else _single(machine, control, again, *atoms)


def _unstarted(machine: Machine, values: dict[str, Any]) -> Standing:
    """The input is committed, and nothing else: as START leads on."""
    step = begin(machine, values, where="the start").step
    if step is None or not step.starts or step.timers or len(step.configuration.atomic(machine.chart)) > 1:
        return Standing(goto=ENTER, delta={})
    return Standing(goto=machine.activity_node(step.starts[0]), delta={})


def _several(machine: Machine, control: Control, again: Collection[str]) -> Standing:
    """While a run waits, no activity of it has work left; also not one that its state has got since."""
    regions = Regions.of(machine, control)
    if control.status == "waiting":
        for state in regions.working:
            regions = regions if machine.chart.nodes[state].path in again else regions.with_end(state)
    place = regions.place()
    if place.reason is not None and not control.failed:
        return Standing(delta={}, line=_stuck(machine, regions.atoms[0]))
    return Standing(goto=place.goto, delta={"status": place.status, "ended": dict(regions.ended)})


def _single(machine: Machine, control: Control, again: Collection[str], state: int) -> Standing:
    path = machine.chart.nodes[state].path
    if path in control.asks:
        return Standing(goto=machine.ask_node(state), delta={})
    if state in machine.plans and (control.status == "running" or path in again):
        return Standing(goto=machine.activity_node(state), delta={"status": "running"})
    if machine.waits(state):
        return Standing(goto=machine.wait_node(state), delta={"status": "waiting"})
    return Standing(delta={}, line=_stuck(machine, state))


def _stuck(machine: Machine, state: int) -> Line:
    path = machine.chart.nodes[state].path
    note = f"The run waits, but no event leads out of `{path}` now: name a state that waits, or that has work."
    return Line(kind="state", name=path, note=note, blocks=True)
