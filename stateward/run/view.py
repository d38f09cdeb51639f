"""The committed form of an update: what guards and actions see before LangGraph commits.

Reducers are applied on copies of the channels through their public methods, each key when it is first read, so that a
guard that looks at one key does not pay for the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from stateward.run.state import StateSchema


@dataclass(slots=True)
class View(Mapping[str, Any]):
    """The state as it will be after the commit, read lazily.

    Args:
        schema: Channels and validators.
        base: The values LangGraph handed to the node.
        where: The state path, for messages.
    """

    schema: StateSchema
    base: Mapping[str, Any]
    where: str
    writes: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    _seen: dict[str, Any] = field(default_factory=dict[str, Any])

    def apply(self, update: Mapping[str, Any]) -> None:
        """Take an update in; all of it or, when one value does not fit, none of it.

        Args:
            update: State key to value.

        Raises:
            UpdateRefused: A key is unknown or a value does not fit.
        """
        schema, base, where = self.schema, self.base, self.where
        checked = {key: [schema.normalise(key, new, base=base.get(key), where=where)] for key, new in update.items()}
        if not self.writes:  # the first update, and of most steps the only one
            self.writes = checked
            return
        for key, values in checked.items():
            self.writes.setdefault(key, []).extend(values)
            self._seen.pop(key, None)

    def kept(self) -> Mapping[str, list[Any]]:
        """Return what was written so far, for `put_back`."""
        return {key: list(values) for key, values in self.writes.items()}

    def put_back(self, kept: Mapping[str, list[Any]]) -> None:
        """Forget what was written since.

        Args:
            kept: From `kept`.
        """
        self.writes = dict(kept)
        self._seen.clear()

    def commit(self) -> list[tuple[str, Any]]:
        """Return the writes for LangGraph: every one for a reducer, the last one otherwise."""
        reducing = self.schema.reducing
        return [
            (key, value)
            for key, values in self.writes.items()
            for value in (values if key in reducing else values[-1:])
        ]

    def __getitem__(self, key: str) -> Any:
        """Return the value of a key after the commit.

        Raises:
            KeyError: The key has no value.
        """
        if key not in self.writes:
            return self.base[key]
        if key not in self._seen:
            values = self.writes[key] if key in self.schema.reducing else self.writes[key][-1:]
            self._seen[key] = self.schema.reduce(key, self.base.get(key), values)
        return self._seen[key]

    def __iter__(self) -> Iterator[str]:
        yield from self.base
        yield from (key for key in self.writes if key not in self.base)

    def __len__(self) -> int:
        return len(self.base.keys() | self.writes.keys())
