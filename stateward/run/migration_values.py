"""The user's keys under another schema: renamed, left behind, given anew, and held against the new types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.channels.base import BaseChannel
from langgraph.types import Overwrite
from pydantic import ValidationError

from stateward.errors import UpdateRefused
from stateward.run.checkpoint import CHANNEL
from stateward.run.migration import Line, Migration
from stateward.run.plan import Machine
from stateward.run.state import StateSchema

LEFT = "left"
"""The key of the control channel that tells which keys earlier migrations left behind."""


def left_before(raw: Mapping[str, Any]) -> Sequence[str]:
    """Return the keys that earlier migrations of a session left behind.

    Args:
        raw: Its control channel.
    """
    left: Sequence[str] = raw.get(LEFT) or ()
    return left


def old_keys(machine: Machine, versions: Mapping[str, Any], *, left: Sequence[str]) -> tuple[str, ...]:
    """Return the state keys that a checkpoint has and the new schema has not.

    Args:
        machine: The new chart.
        versions: The checkpoint's channels, LangGraph's own among them.
        left: Those that an earlier migration left behind.
    """
    known = {*machine.schema.channels, *left, CHANNEL}
    # LangGraph's own begin with two underscores, or have a colon in them, which no key of a schema has.
    return tuple(key for key in versions if key not in known and ":" not in key and not key.startswith("__"))


def readable(channels: Mapping[str, Any], keys: Mapping[str, str | None]) -> dict[str, BaseChannel[Any, Any, Any]]:
    """Return channels that read renamed keys as their new ones are read.

    Args:
        channels: The new graph's.
        keys: Old key to the new one.
    """
    found = {old: channels[new] for old, new in keys.items() if new and new in channels and old not in channels}
    made: dict[str, BaseChannel[Any, Any, Any]] = {}
    for old, channel in found.items():
        made[old] = channel.copy()
        made[old].key = old
    return made


class ValuesMigration:
    """The values of one session under another schema.

    Args:
        schema: The new schema.
        migration: What was declared.
    """

    def __init__(self, schema: StateSchema, migration: Migration) -> None:
        self._schema, self._migration = schema, migration
        self.lines: list[Line] = []
        self.update: dict[str, Any] = {}
        """What is written."""

    def take(self, values: Mapping[str, Any], *, gone: Sequence[str]) -> Mapping[str, Any]:
        """Look at the values.

        Args:
            values: State key to value, renamed keys under their old names.
            gone: The keys that the new schema has not.

        Returns:
            The values as they will be; they hold only if no line blocks.
        """
        seen = {key: value for key, value in values.items() if key in self._schema.channels}
        self._refuse_unknown()
        for old in gone:
            self._gone(old, values, seen)
        for key, value in self._migration.values.items():
            if key in self._schema.channels:
                self._put(key, value, seen, name=key, note="as declared")
        for key in [key for key in seen if key not in self.update]:
            self._held(key, seen)
        if not any(line.blocks for line in self.lines):
            self._whole(seen)
        return seen

    def _refuse_unknown(self) -> None:
        targets = [(old, new) for old, new in self._migration.keys.items() if new is not None]
        targets += [(key, key) for key in self._migration.values]
        known = ", ".join(sorted(self._schema.channels))
        for name, key in targets:
            if key not in self._schema.channels:
                self._block(name, f"The schema does not declare `{key}`. Known keys: {known}.", kind="migration")
        for old in self._migration.keys:
            if old in self._schema.channels:
                self._block(old, "The schema still declares it: its value stays where it is.", kind="migration")

    def _gone(self, old: str, values: Mapping[str, Any], seen: dict[str, Any]) -> None:
        if old not in self._migration.keys:
            self._block(old, f'The schema does not declare it: keys={{"{old}": "NEW"}}, or None to leave it behind.')
            return
        new = self._migration.keys[old]
        if new is None:
            self.lines.append(Line(kind="key", name=old, note="Its value is left behind."))
        elif old in values and new in self._schema.channels:
            self._put(new, values[old], seen, name=old)

    def _put(self, key: str, value: object, seen: dict[str, Any], *, name: str, note: str = "") -> None:
        try:
            fitting = self._schema.normalise(key, value, base=None, where="the migration")
        except UpdateRefused as misfit:
            self._block(name, f"As `{key}`: {misfit.what}.")
            return
        # A reducer would take it for one more update of what is there.
        self.update[key] = Overwrite(fitting) if key in self._schema.reducing else fitting
        seen[key] = fitting
        self.lines.append(Line(kind="key", name=name, to=key, note=note))

    def _held(self, key: str, seen: Mapping[str, Any]) -> None:
        """Hold a value that stays where it is against the type that its key has now."""
        try:
            self._schema.normalise(key, seen[key], base=None, where="the migration")
        except UpdateRefused as misfit:
            self._block(key, f'{misfit.what}. Give another: values={{"{key}": …}}.')

    def _whole(self, seen: Mapping[str, Any]) -> None:
        """A dataclass or Pydantic model may want keys that no session has had."""
        try:
            self._schema.present(dict(seen))
        except (ValidationError, TypeError, ValueError) as misfit:
            name = self._schema.schema.__name__
            self._block(name, f"The values do not make one: {_why(misfit)}. Give what is missing: values={{…}}.")

    def _block(self, name: str, note: str, *, kind: Any = "key") -> None:  # one of `Kind`
        self.lines.append(Line(kind=kind, name=name, note=note, blocks=True))


def _why(misfit: ValidationError | TypeError | ValueError) -> str:
    """What a schema says, in one line."""
    if not isinstance(misfit, ValidationError):
        return str(misfit)
    errors = misfit.errors(include_url=False)
    return "; ".join(f"`{'.'.join(map(str, error['loc']))}`: {error['msg']}" for error in errors)
