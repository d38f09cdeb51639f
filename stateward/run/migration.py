"""A declared migration: what the parts of a session that began under an older definition are called in the new one.

What is not declared keeps its name. What has a name that the new definition does not know blocks the migration, and
the report says what to declare: nothing of a session is lost silently (HAZARDS 20).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from stateward.chart.delay import AFTER
from stateward.chart.tables import ACTIVITY_DONE, STATE_DONE
from stateward.errors import InputRefused
from stateward.run.checkpoint import Json, Pins

Kind = Literal["state", "history", "timer", "event", "ask", "call", "key", "fuse", "migration"]
"""What a line of a report is about.

state: a state in which the run stands.
history: what a superstate remembers.
timer: an event that is to be delivered later.
event: what brought the run where it stands.
ask: a question to a person.
call: a call of an activity that has not ended.
key: a key of the state schema.
fuse: what was spent of a limit that hangs on a state.
migration: the declaration itself.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """What was renamed between two definitions, and what may be forgotten.

    Args:
        states: Old state path to the new one; it holds for all inside that is not named itself. None for a state that
            is gone: what a history or timer knew of it is forgotten. A run never stands in a state that is gone.
        keys: Old key of the state schema to the new one; None for one whose value is left behind.
        values: Values for keys of the new schema; they take the place of what is stored.
        events: Old name of a pending event to the new one; None for one that is forgotten.
        withdraw: Tools whose open questions are taken back; the activity is entered again and may ask anew.
    """

    states: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    keys: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    events: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    withdraw: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Refuse what maps two keys to one: one of the values would be lost."""
        named = [new for new in self.keys.values() if new is not None]
        twice = sorted({new for new in named if named.count(new) > 1})
        if twice:
            raise InputRefused(
                f"Several keys become `{twice[0]}`", where="Migration(keys=…)", fix="Leave all but one behind (None)."
            )

    def state(self, path: str) -> str | None:
        """Return what a state is called now.

        Args:
            path: Its old path.

        Returns:
            Its new path; None when it is gone. The longest declared path around it decides.
        """
        parts = path.split(".")
        for length in range(len(parts), 0, -1):
            around = ".".join(parts[:length])
            if around in self.states:
                new = self.states[around]
                return None if new is None else ".".join([new, *parts[length:]])
        return path

    def event(self, name: str) -> str | None:
        """Return what an event is called now; those of the house follow the states they name.

        Args:
            name: Its old name.

        Returns:
            Its new name; None when it is forgotten.
        """
        if name in self.events:
            return self.events[name]
        for prefix in (ACTIVITY_DONE, STATE_DONE):
            if name.startswith(prefix):
                return _prefixed(prefix, self.state(name.removeprefix(prefix)))
        if name.startswith(AFTER):
            path, dot, number = name.removeprefix(AFTER).rpartition(".")
            moved = self.state(path)
            return None if moved is None else f"{AFTER}{moved}{dot}{number}"
        return name


def _prefixed(prefix: str, path: str | None) -> str | None:
    return None if path is None else prefix + path


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What becomes of one part of a session."""

    kind: Kind
    name: str
    """As it is called under the old definition."""
    to: str = ""
    """As it is called under the new one; empty when it is left behind, or blocks."""
    note: str = ""
    """What is to be known, or what to declare."""
    blocks: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a migration does to a session, or did."""

    session: str
    status: str
    """The session's, as the migration found it."""
    run: str
    before: Pins | None
    """What the run was pinned to; None when there is no run."""
    after: Pins
    """What it is pinned to."""
    lines: tuple[Line, ...] = ()
    note: str = ""
    """Why there is nothing to do."""
    checkpoint: str = ""
    """Id of the checkpoint that was written; empty when none was."""
    node: str = ""
    """Of a chart inside another graph: its node, with those around it as `OUTER|INNER`; empty for a session's own."""

    @property
    def blocking(self) -> tuple[Line, ...]:
        """The lines that stand in the way."""
        return tuple(line for line in self.lines if line.blocks)

    @property
    def status_word(self) -> str:
        """One of `nothing to do`, `blocked`, `migrated` and `ready`."""
        if self.blocking:
            return "blocked"
        if self.note:
            return "nothing to do"
        return "migrated" if self.checkpoint else "ready"


def told(pins: Pins) -> Json:
    """Return what a run is pinned to as audit log and reports tell it: the hashes, and the mode.

    Args:
        pins: What it is pinned to.
    """
    return {**pins.to_json(), "mode": pins.mode}
