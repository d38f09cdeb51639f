"""A mapping that is changed by making another one, at a cost that does not grow with its size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar, overload

V = TypeVar("V")
D = TypeVar("D")

MOST_RECENT = 32
"""How many keys the upper layer of a small mapping may have before the two are made one."""


class Layered(Mapping[int, V], Generic[V]):
    """A frozen mapping of numbers in two layers: a large one that is shared, and over it the latest changes.

    A chart counts the entries of every state it was ever in. To copy all counts in each step would cost the more the
    longer a run lasts; here a step copies the few in the upper layer, and all of them once in a while.

    Args:
        base: The lower layer; never changed.
        recent: The upper layer, which hides it; never changed either.
    """

    __slots__ = ("_base", "_recent")

    def __init__(self, base: Mapping[int, V], recent: dict[int, V] | None = None) -> None:
        self._base = base
        self._recent: dict[int, V] = {} if recent is None else recent

    def with_changes(self, changes: Mapping[int, V]) -> Layered[V]:
        """Return this mapping with other values for some keys.

        Args:
            changes: Key to value.
        """
        return _joined(self._base, {**self._recent, **changes})

    def counted(self: Layered[int], keys: tuple[int, ...]) -> Layered[int]:
        """Return this mapping with one more for each of the keys, from 0.

        Args:
            keys: Each is counted as often as it stands there.
        """
        recent, base = self._recent.copy(), self._base
        for key in keys:
            recent[key] = (recent[key] if key in recent else base.get(key, 0)) + 1
        return _joined(base, recent)

    def __getitem__(self, key: int) -> V:
        """Return a key's value.

        Raises:
            KeyError: It has none.
        """
        return self._recent[key] if key in self._recent else self._base[key]

    @overload
    def get(self, key: int, default: None = None) -> V | None: ...
    @overload
    def get(self, key: int, default: V | D) -> V | D: ...
    def get(self, key: int, default: V | D | None = None) -> V | D | None:
        """Return a key's value, or something else if it has none."""
        return self._recent[key] if key in self._recent else self._base.get(key, default)

    def __contains__(self, key: object) -> bool:
        """Tell whether a key has a value."""
        return key in self._recent or key in self._base

    def __iter__(self) -> Iterator[int]:
        """Give the keys, those of the lower layer first."""
        yield from self._base
        yield from (key for key in self._recent if key not in self._base)

    def __len__(self) -> int:
        """Return how many keys there are."""
        return len(self._base) + sum(key not in self._base for key in self._recent)

    def __repr__(self) -> str:
        """Show it as the dictionary it stands for."""
        return repr(dict(self))


def layered(mapping: Mapping[int, V]) -> Layered[V]:
    """Return a mapping as a layered one; itself if it is one.

    Args:
        mapping: It must not be changed from now on.
    """
    return mapping if isinstance(mapping, Layered) else Layered(mapping)


def _joined(base: Mapping[int, V], recent: dict[int, V]) -> Layered[V]:
    """Return the two layers, made one when the upper has more keys than the square root of the lower's number."""
    if len(recent) > MOST_RECENT and len(recent) ** 2 > len(base):
        return Layered({**base, **recent})
    return Layered(base, recent)
