"""The difference between two steps of a session: where the chart stands, what the state holds, what was called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stateward.run.moment import Moment
from stateward.run.same import same
from stateward.run.store.entry import Entry
from stateward.run.timeline import TimelineRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What became of one value."""

    before: Any
    """None when it was not there."""
    after: Any
    """None when it is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What lies between two steps."""

    before: Moment
    after: Moment
    values: Mapping[str, Change]
    """The state keys that differ."""
    path: Change | None
    """The active state paths, when they differ."""
    status: Change | None
    history: Mapping[str, Change]
    """By superstate, the paths that it would resume, where these differ."""
    calls: tuple[Entry, ...]
    """The calls made on the way to the later step and not on the way to the earlier one."""
    others: tuple[Entry, ...]
    """The calls made on the way to `before` only; it is then on another branch, or later."""

    @property
    def usd(self) -> float:
        """What `calls` have cost."""
        return sum(call.usd for call in self.calls)

    @property
    def tokens(self) -> int:
        """What `calls` have read and written."""
        return sum(call.tokens_in + call.tokens_out for call in self.calls)


def difference(
    before: Moment, after: Moment, *, on_the_way: Sequence[TimelineRow], to_before: Sequence[TimelineRow]
) -> Difference:
    """Compare two steps.

    Args:
        before: One step.
        after: The other.
        on_the_way: The steps up to `after`, itself included.
        to_before: The steps up to `before`, itself included.

    Returns:
        What differs.
    """
    old, new = {row.checkpoint for row in to_before}, {row.checkpoint for row in on_the_way}
    path, status = changed({0: before.path}, {0: after.path}), changed({0: before.status}, {0: after.status})
    return Difference(
        before=before,
        after=after,
        values=changed(before.values, after.values),
        path=path.get(0),
        status=status.get(0),
        history=changed(before.history, after.history),
        calls=tuple(call for row in on_the_way if row.checkpoint not in old for call in row.calls),
        others=tuple(call for row in to_before if row.checkpoint not in new for call in row.calls),
    )


def changed(before: Mapping[Any, Any], after: Mapping[Any, Any]) -> dict[Any, Change]:
    """Return the keys whose values differ.

    Args:
        before: One table.
        after: The other.
    """
    keys: Iterable[Any] = dict.fromkeys((*before, *after))
    pairs = {key: Change(before=before.get(key), after=after.get(key)) for key in keys}
    return {key: pair for key, pair in pairs.items() if not same(pair.before, pair.after)}
