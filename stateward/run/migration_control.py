"""The control channel under another definition: each path and event in it by its new name, or why not.

Paths are looked up in the new chart; the old one is not at hand, and is not needed: a checkpoint knows states by their
paths only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stateward.chart.definition import Definition
from stateward.chart.event import matches
from stateward.errors import CodecError
from stateward.run.checkpoint import Json, decode_event
from stateward.run.migration import Kind, Line, Migration
from stateward.run.people.question import REMINDER
from stateward.run.plan import Machine

_HISTORY = ".(history)"


class ControlMigration:
    """The rewriting of one control value.

    Args:
        raw: The channel's value, as it is stored.
        machine: The new chart.
        migration: What was declared.
    """

    def __init__(self, raw: Mapping[str, Any], *, machine: Machine, migration: Migration) -> None:
        self._raw, self._chart, self._migration = raw, machine.chart, migration
        self.lines: list[Line] = []
        """What becomes of its parts."""
        self.at: list[str] = []
        """The new paths of the active states."""

    def _table(self, name: str) -> Mapping[str, Any]:
        table: Mapping[str, Any] = self._raw.get(name) or {}
        return table

    def whole(self) -> Json:
        """Return the new value; it holds only if no line blocks."""
        raw = self._raw
        self._declared()
        self.at = [place for path in raw["at"] if (place := self._place(path)) is not None]
        if not self._blocked:
            self._legal()
        new: Json = {
            **raw,
            "at": self.at,
            "history": self._history(),
            "entries": self._entries(),
            "marks": self._keyed("marks"),
            "asks": self._keyed("asks"),
            "ended": self._keyed("ended"),
            "brought": self._brought(),
            "failed": self._failed(),
            "timers": self._timers(),
            "event": self._event(raw.get("event")),
        }
        if raw.get("reason"):
            new["reason"] = self._reason(raw["reason"])
        return new

    @property
    def _blocked(self) -> bool:
        return any(line.blocks for line in self.lines)

    def _block(self, kind: Kind, name: str, note: str) -> None:
        self.lines.append(Line(kind=kind, name=name, note=note, blocks=True))

    def _told(self, kind: Kind, name: str, to: str = "", note: str = "") -> None:
        self.lines.append(Line(kind=kind, name=name, to=to, note=note))

    def _known(self, path: str | None) -> bool:
        return path is not None and path in self._chart.by_path

    def _declared(self) -> None:
        for old, new in self._migration.states.items():
            if new is not None and not self._known(new):
                self._block("migration", old, f"`{new}` is no state now. {states_now(self._chart)}")

    def _place(self, path: str) -> str | None:
        """Where one active state is now."""
        new = self._migration.state(path)
        if new is None:
            self._block("state", path, "The run stands there, so it cannot be gone: name the state it goes on in.")
        elif not self._known(new):
            self._block(
                "state", path, f"Declare what it is called: {example('states', path)}. {states_now(self._chart)}"
            )
        elif self._chart.by_path[new] not in self._chart.tables.atoms:
            self._block("state", path, f"`{new}` has states inside now: name the one in which the run goes on.")
        else:
            self._told("state", path, new)
            return new
        return None

    def _legal(self) -> None:
        """Active states must be active together: one of a superstate, one in each region of a parallel state."""
        nodes = self._chart.nodes
        active = set[int]().union(*(self._chart.tables.chains[self._chart.by_path[path]] for path in self.at))
        for state in sorted(active):
            node = nodes[state]
            inside = [child for child in node.children if nodes[child].kind != "history"]
            present = [nodes[child].path for child in inside if child in active]
            if node.kind == "parallel" and len(present) < len(inside):
                missing = ", ".join(f"`{nodes[child].path}`" for child in inside if child not in active)
                self._block(
                    "state", node.path or self._chart.name, f"The run stands in no state of its region {missing}."
                )
            if node.kind == "compound" and len(present) != 1:
                both = " and ".join(f"`{path}`" for path in present)
                self._block("state", node.path or self._chart.name, f"Only one state in it can be active, not {both}.")

    def _history(self) -> Json:
        kept: Json = {}
        for path, targets in self._table("history").items():
            owner = path.removesuffix(_HISTORY)
            new = self._migration.state(path)
            states = [self._migration.state(target) for target in targets]
            if new is None or None in states:
                self._told("history", owner, note="What it remembers is forgotten.")
                continue
            lost = [old for old, state in zip(targets, states, strict=True) if not self._remembers(new, state)]
            if not self._known(new) or self._chart.nodes[self._chart.by_path[new]].kind != "history":
                note = f"`{new.removesuffix(_HISTORY)}` has no history now; declare a superstate that has, or None"
                self._block("history", owner, f"{note}: {example('states', owner)}.")
            elif lost:
                note = "It remembers what is not in it now; declare what that is called, or None to forget"
                self._block("history", owner, f"{note}: {example('states', lost[0])}.")
            else:
                kept[new] = states
                self._told(
                    "history", owner, new.removesuffix(_HISTORY), note=f"remembers {', '.join(map(str, states))}"
                )
        return kept

    def _remembers(self, history: str, state: str | None) -> bool:
        """Whether a history of the new chart may stand for a state; whether it is one is asked elsewhere."""
        by_path, nodes = self._chart.by_path, self._chart.nodes
        if not self._known(history):
            return True
        if state is None or not self._known(state):
            return False
        around = nodes[by_path[history]].parent
        return around < by_path[state] < nodes[around].end and nodes[by_path[state]].kind != "history"

    def _entries(self) -> Json:
        """Counts of states that are gone say nothing any more: calls of a new branch have keys of their own."""
        counts: dict[str, int] = {}
        for path, count in self._table("entries").items():
            new = self._migration.state(path)
            if new is not None and self._known(new):
                counts[new] = max(count, counts.get(new, 0))
        for path in self.at:
            for state in self._chart.tables.chains[self._chart.by_path[path]]:
                around = self._chart.nodes[state].path
                counts[around] = max(counts.get(around, 0), 1)
        return counts

    def _keyed(self, table: str) -> Json:
        """A table by state path; a state that is gone has no say in it, and where the run stands was looked at."""
        return {
            new: value
            for path, value in self._table(table).items()
            if (new := self._migration.state(path)) is not None and self._known(new)
        }

    def _brought(self) -> Json:
        return {path: event for path, raw in self._keyed("brought").items() if (event := self._event(raw)) is not None}

    def _failed(self) -> Json:
        for path in self._table("failed"):
            if not self._known(self._migration.state(path)):
                self._block(
                    "state", path, f"It has failed there; declare what it is called: {example('states', path)}."
                )
        return {path: self._reason(why) for path, why in self._keyed("failed").items()}

    def _reason(self, reason: Mapping[str, Any]) -> Json:
        state = self._migration.state(str(reason.get("state", "")))
        return {**reason, "state": state} if state is not None else dict(reason)

    def _event(self, raw: Mapping[str, Any] | None) -> Json | None:
        """What brought the run somewhere; activities are told it again when they are entered again."""
        name = None if raw is None else self._migration.event(raw["name"])
        if raw is None or name is None:
            return None
        moved = {**raw, "name": name}
        return moved if self._fits("event", raw["name"], moved) else None

    def _fits(self, kind: Kind, name: str, event: Json) -> bool:
        try:
            decode_event(event, self._chart)
        except CodecError as misfit:
            self._block(kind, name, f"{misfit.what}. Forget it, or rename it: {example('events', name)}.")
            return False
        return True

    def _timers(self) -> Json:
        kept: Json = {}
        for number, timer in self._table("timers").items():
            moved = self._timer(timer)
            if moved is not None:
                kept[number] = moved
        return kept

    def _timer(self, timer: Json) -> Json | None:
        old, owner = timer["event"]["name"], timer["owner"]
        mine = None if owner is None else self._migration.state(owner)
        name = self._migration.event(old)
        if name is None or (owner is not None and mine is None):
            self._told("timer", old, note="It is forgotten.")
            return None
        if owner is not None and not self._known(mine):
            self._block(
                "timer", old, f"It belongs to `{owner}`; declare what that is called: {example('states', owner)}."
            )
            return None
        if name != REMINDER and not self._is_taken(name, by=mine):
            where = "no transition" if mine is None else f"no `after` of `{mine}`"
            self._block(
                "timer", old, f"There is {where} for `{name}` now: {example('events', old)}, or None to forget it."
            )
            return None
        moved: Json = {**timer, "owner": mine, "event": {**timer["event"], "name": name}}
        if old == timer["id"]:  # those of the house are called like their event
            moved["id"] = name
        if not self._fits("timer", old, moved["event"]):
            return None
        self._told("timer", old, name, note=f"due at {timer['due']:.3f}")
        return moved

    def _is_taken(self, name: str, *, by: str | None) -> bool:
        source = None if by is None else self._chart.by_path[by]
        fitting = (t for t in self._chart.transitions if source is None or (t.source == source and t.delay is not None))
        return any(matches(t.events, name=name) for t in fitting)


def example(part: str, name: str) -> str:
    """Return how a declaration is written.

    Args:
        part: The part of a migration.
        name: The old name.
    """
    return f'{part}={{"{name}": "NEW"}}'


def states_now(chart: Definition) -> str:
    """Return a sentence with the states of a chart.

    Args:
        chart: The chart.
    """
    return f"States now: {', '.join(_paths(chart))}."


def _paths(chart: Definition) -> Iterable[str]:
    return sorted(node.path for node in chart.nodes if node.path and node.kind != "history")
