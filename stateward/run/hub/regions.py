"""What the regions of a chart are at, as a value: which activities run, which have ended, failed or wait for a person.

It is computed from the configuration and three small tables of the control channel (`ended`, `failed`, `asks`), so that
a checkpoint alone says what is to be started after a crash. Where a run with several active states goes on follows from
it: to the hub while an activity is to run, else to its end when a region failed, else to the wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from langgraph.graph import END

from stateward.chart.configuration import Configuration
from stateward.chart.definition import Definition
from stateward.run.checkpoint import Control, Json, Status
from stateward.run.plan import HUB, REST, Machine

_TABLES = ("ended", "failed", "asks")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a run goes on."""

    goto: str
    status: Status
    reason: Json | None = None
    """Why it ended, when it ended badly."""


@dataclass(frozen=True, kw_only=True)
class Regions:
    """The regions of one moment."""

    machine: Machine
    configuration: Configuration
    ended: Mapping[str, int]
    failed: Mapping[str, Mapping[str, Any]]
    asks: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, machine: Machine, control: Control) -> Regions:
        """Read them from a checkpoint.

        Args:
            machine: The lowered chart.
            control: The checkpoint's control.
        """
        return cls(
            machine=machine,
            configuration=control.configuration,
            ended=control.ended,
            failed=control.failed,
            asks=control.asks,
        )

    @cached_property
    def atoms(self) -> tuple[int, ...]:
        """The active states that have no states inside."""
        return self.configuration.atomic(self.machine.chart)

    @cached_property
    def working(self) -> tuple[int, ...]:
        """The states whose activity is to run, in document order."""
        return tuple([state for state in self.atoms if state in self.machine.plans and not self._rests(state)])

    def _rests(self, state: int) -> bool:
        path = self.machine.chart.nodes[state].path
        has_ended = self.ended.get(path) == self.configuration.activation(state)
        return has_ended or path in self.failed or path in self.asks

    def moved(self, to: Configuration, *, exited: Iterable[int]) -> Regions:
        """Return what they are at after a step of the kernel.

        Args:
            to: The configuration after it.
            exited: The states it left; what was known of their activities is forgotten.
        """
        left = {self.machine.chart.nodes[state].path for state in exited}
        if left.isdisjoint((*self.ended, *self.failed, *self.asks)):
            return replace(self, configuration=to)
        return replace(
            self,
            configuration=to,
            ended={path: number for path, number in self.ended.items() if path not in left},
            failed={path: reason for path, reason in self.failed.items() if path not in left},
            asks={path: ids for path, ids in self.asks.items() if path not in left},
        )

    def with_end(self, state: int) -> Regions:
        """Return them with one activity ended whose state is still active.

        Args:
            state: The state.
        """
        path = self.machine.chart.nodes[state].path
        return replace(self, ended={**self.ended, path: self.configuration.activation(state)})

    def with_failure(self, state: int, reason: Mapping[str, Any]) -> Regions:
        """Return them with one that failed.

        Args:
            state: The state that failed, with all that runs in it.
            reason: Why.
        """
        return replace(self, failed={**self.failed, self.machine.chart.nodes[state].path: reason})

    def with_asks(self, state: int, ids: Sequence[str]) -> Regions:
        """Return them with one activity that waits for a person.

        Args:
            state: The state.
            ids: The asks; empty when they are answered, so that its activity is entered again.
        """
        path = self.machine.chart.nodes[state].path
        others = {other: asked for other, asked in self.asks.items() if other != path}
        return replace(self, asks={**others, path: list(ids)} if ids else others)

    def delta(self, since: Regions) -> Json:
        """Return what the control channel has to learn.

        Args:
            since: What it knows.
        """
        delta: Json = {}
        for table in _TABLES:
            changed = _changes(getattr(since, table), getattr(self, table))
            if changed:
                delta[table] = changed
        return delta

    def place(self) -> Place:
        """Say where a run with several active states goes on."""
        if self.working:
            return Place(goto=HUB, status="running")
        if self.failed:
            return self._end()
        if self.asks or any(self.machine.waits(state) for state in self.atoms):
            return Place(goto=REST, status="waiting")
        path = self.machine.chart.nodes[self.atoms[0]].path
        stuck = {"event": "stuck", "state": path, "data": "no transition leaves any of the active states"}
        return Place(goto=END, status="failed", reason=stuck)

    def _end(self) -> Place:
        """The first failure in document order is why the run ended; the rest stands beside it."""
        by_path = self.machine.chart.by_path
        first, *others = [dict(self.failed[path]) for path in sorted(self.failed, key=lambda path: by_path[path])]
        reason = {key: value for key, value in first.items() if key != "status"}
        if others:
            reason["others"] = [{key: value for key, value in one.items() if key != "status"} for one in others]
        return Place(goto=END, status=first["status"], reason=reason)


def failing_state(chart: Definition, configuration: Configuration, named: str) -> int:
    """Return the state whose failure a failure is: the one named, or around it when it is not active.

    Args:
        chart: The chart.
        configuration: Where it stands.
        named: Path of the state that the failure names; one that the chart does not have stands for the chart.

    Returns:
        The innermost active state when it is the only one there, so that its activity stops; else the state around.
    """
    state = chart.by_path.get(named, 0)
    while state not in configuration.active:
        state = chart.nodes[state].parent
    inside = [atom for atom in configuration.atomic(chart) if state <= atom < chart.nodes[state].end]
    return inside[0] if len(inside) == 1 else state


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Json:
    if before is after:
        return {}
    changed: Json = {path: value for path, value in after.items() if before.get(path) != value}
    return changed | dict.fromkeys([path for path in before if path not in after])
