"""The committed form of an update: what guards and actions see before LangGraph commits.

Reducers are applied on copies of the channels through their public methods: the user's as soon as an update is taken
in, since they may refuse it; those that only put lists together, and that of messages, when the key is first read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.types import Overwrite

from stateward.errors import UpdateRefused
from stateward.run.keeping import refuse_unkept
from stateward.run.state import StateSchema


@dataclass(slots=True)
class View(Mapping[str, Any]):
    """The state as it will be after the commit.

    Args:
        schema: Channels and validators.
        base: The values LangGraph handed to the node.
        where: The state path, for messages.
        serde: What the commit is written with; None where nothing is kept.
    """

    schema: StateSchema
    base: Mapping[str, Any]
    where: str
    writes: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    _seen: dict[str, Any] = field(default_factory=dict[str, Any])
    serde: SerializerProtocol | None = None

    def apply(self, update: Mapping[str, Any]) -> None:
        """Take an update in; all of it or, when one value does not fit, none of it.

        Args:
            update: State key to value.

        Raises:
            UpdateRefused: A key is unknown, or a value does not fit or cannot be kept.
        """
        schema, base, where = self.schema, self.base, self.where
        checked = {key: [schema.normalise(key, new, base=base.get(key), where=where)] for key, new in update.items()}
        folded = [key for key in schema.folding if key in checked and not self._is_joined(key, checked[key][0])]
        reduced = self._reduced(folded, checked) if folded else {}
        if self.serde is not None:
            self._refuse_unkept(checked, reduced, serde=self.serde)
        if not self.writes:  # the first update, and of most steps the only one
            self.writes = checked
        else:
            for key, values in checked.items():
                self.writes.setdefault(key, []).extend(values)
                self._seen.pop(key, None)
        if reduced:
            self._seen |= reduced

    def _is_joined(self, key: str, new: object) -> bool:
        """Whether two lists are put together: that refuses no update, and makes nothing that its parts are not."""
        return key in self.schema.joining and type(new) is list is type(self.base.get(key))

    def _reduced(self, keys: Sequence[str], checked: Mapping[str, list[Any]]) -> dict[str, Any]:
        """Return what the reducers will make at the commit: of what one raises an event can only be made now."""
        reduced: dict[str, Any] = {}
        for key in keys:
            try:
                reduced[key] = self.schema.reduce(key, self.base.get(key), [*self.writes.get(key, ()), *checked[key]])
            except Exception as failed:
                raise UpdateRefused(
                    f"The reducer of `{key}` failed on the update: {type(failed).__name__}: {failed}",
                    where=self.where,
                    fix="Give a value that it takes; nothing was committed.",
                    key=key,
                ) from failed
        return reduced

    def _refuse_unkept(
        self, checked: Mapping[str, list[Any]], reduced: Mapping[str, Any], *, serde: SerializerProtocol
    ) -> None:
        schema, where = self.schema, self.where
        for key, values in checked.items():
            if key not in schema.untracked:
                told = values[0].value if isinstance(values[0], Overwrite) else values[0]
                refuse_unkept(told, key=key, where=where, serde=serde, again=key not in schema.messages)
        for key, value in reduced.items():
            if not schema.joins(key, value):  # what is joined of parts is kept as they are
                refuse_unkept(value, key=key, where=where, serde=serde)

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
