"""The ways in which a part of a policy tightens: how the outer and the inner value become the one that holds.

Each operator is a meet: associative, commutative (but for the order of a list, which is the outer one's), idempotent,
and its result is never weaker than either value. So no order of overlays loosens, and of two values the inner one is
tighter exactly if it is the meet of both. None, a part that is not set, is the weakest value of every operator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """How two values of one part become one."""

    name: str
    """The word for documentation and messages."""
    of: Callable[[Any, Any], Any]
    """The meet of two values that are both set."""

    # Any: an operator works on the values of one part, whose type its field declares.
    def meet(self, outer: Any, inner: Any) -> Any:
        """Combine the outer value with the inner one.

        Args:
            outer: The value of the policies further out; None if they set none.
            inner: The value of the policy further in; None if it sets none.

        Returns:
            The value that holds for both.
        """
        if outer is None or inner is None:
            return inner if outer is None else outer
        return self.of(outer, inner)

    def is_loosened(self, outer: Any, *, by: Any) -> bool:
        """Whether a value would be weaker than the one further out.

        Args:
            outer: The value further out; None if it sets none.
            by: The value further in; None if it sets none.
        """
        return outer is not None and by is not None and _unordered(self.meet(outer, by)) != _unordered(by)


def ranked(*values: str) -> Operator:
    """Make the operator of an ordered vocabulary, which takes the stricter word.

    Args:
        values: The words, from the weakest to the strictest.
    """
    places: Mapping[str, int] = {value: place for place, value in enumerate(values)}
    return Operator(name="stricter", of=lambda outer, inner: max(outer, inner, key=places.__getitem__))


def _unordered(value: object) -> object:
    return frozenset(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value


def _common(outer: Sequence[object], inner: Sequence[object]) -> tuple[object, ...]:
    return tuple(item for item in outer if item in inner)


def _united(outer: Sequence[object], inner: Sequence[object]) -> tuple[object, ...]:
    # Sorted, so that the order of the overlays leaves no trace.
    return tuple(sorted(set(outer) | set(inner), key=repr))


LEAST = Operator(name="smallest", of=min)
GREATEST = Operator(name="greatest", of=max)
ANY = Operator(name="true if any is", of=lambda outer, inner: outer or inner)
SAME = Operator(name="same, else none", of=lambda outer, inner: outer if outer == inner else "")
COMMON = Operator(name="common", of=_common)
UNITED = Operator(name="united", of=_united)
