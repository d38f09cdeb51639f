"""Transitions as an author writes them: `when(guard, target)`, `on(event, target)`, `History(superstate)`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stateward.chart.event import EventLike
from stateward.chart.guard import Function

Actions = Function | Sequence[Function]
"""One action, or several that run in order."""


class History:
    """A target that stands for the states last active in a superstate.

    Args:
        superstate: The superstate's name, resolved like any target; it must declare `history=`.
        deep: What its declaration must be: True for deep, False for shallow, None for either.

    Source: SCXML 3.10.
    """

    __slots__ = ("deep", "superstate")

    def __init__(self, superstate: str, *, deep: bool | None = None) -> None:
        self.superstate = superstate
        self.deep = deep

    def __repr__(self) -> str:
        return f"History({self.superstate!r})"


Target = str | History
"""Where a transition leads: a state's name or path, or a superstate's history."""


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """A guarded transition without an event: part of a state's `to` or `always`."""

    guard: Function
    target: Target
    do: Actions


@dataclass(frozen=True, slots=True, kw_only=True)
class On:
    """An event transition: part of a state's `on`."""

    event: EventLike
    target: Target | None
    guard: Function | None
    do: Actions
    internal: bool


Choice = Target | When
"""One entry of `to` or `always`: a bare target has no guard."""
Choices = Choice | Sequence[Choice]
"""One entry or several, tried in order."""


def when(guard: Function, target: Target, *, do: Actions = ()) -> When:
    """Lead to the target if the guard is true.

    Args:
        guard: A pure function of `(state)` or `(state, event)`.
        target: Where to go.
        do: Actions that run between the exits and the entries.
    """
    return When(guard=guard, target=target, do=do)


def on(
    event: EventLike,
    target: Target | None = None,
    *,
    when: Function | None = None,
    do: Actions = (),
    internal: bool = False,
) -> On:
    """React to an event.

    Args:
        event: An `Event` subclass or a bare name; a name matches by dotted prefix.
        target: Where to go; None stays without leaving or entering any state.
        when: A guard that must be true.
        do: Actions that run between the exits and the entries.
        internal: From a superstate to a state inside it, do not leave the superstate.

    Source: SCXML 3.5 and 3.12.1.
    """
    return On(event=event, target=target, guard=when, do=do, internal=internal)
