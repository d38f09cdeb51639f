"""Transitions as an author writes them: `when(guard, target)`, `on(event, target)`, `after(seconds, target)`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, cast, overload

from typing_extensions import TypeVar

from stateward.chart.event import Event, EventLike, Occurrence
from stateward.chart.signature import Actions, Guard, Pure, S, Seconds, TakesEvent, Told

T = TypeVar("T", default=Any)
F = TypeVar("F", bound=Event | Occurrence, default=Any)


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
Targets = Target | Sequence[Target]
"""One target, or several that are entered together: states in different regions of parallel states."""


@dataclass(frozen=True, slots=True, kw_only=True)
class When(Generic[S]):
    """A guarded transition without an event: part of a state's `to` or `always`."""

    guard: Guard[S]
    target: Targets
    do: Actions[S]
    internal: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class On(Generic[S]):
    """An event transition: part of a state's `on`."""

    event: EventLike
    target: Targets | None
    guard: Guard[S] | None
    do: Actions[S]
    internal: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class After(Generic[S]):
    """A transition that time triggers: part of a state's `on`."""

    seconds: Seconds[S]
    target: Targets | None
    guard: Guard[S] | None
    do: Actions[S]
    internal: bool


Reaction = On[S] | After[S]
"""One entry of `on`."""
Reactions = Reaction[S] | Sequence[Reaction[S]]
"""One entry of `on` or several, tried in order."""
Choice = Targets | When[S]
"""One entry of `to` or `always`: bare targets have no guard."""
Choices = Choice[S] | Sequence[Choice[S]]
"""One entry or several, tried in order."""

_Told = Told | Sequence[Told]


def when(guard: Guard[T], target: Targets, *, do: Actions[T] | None = None, internal: bool = False) -> When[T]:
    """Lead to the target if the guard is true.

    Args:
        guard: A pure function of `(state)` or `(state, event)`; it may also name `active`, the active states' paths.
        target: Where to go; several targets are entered together.
        do: Actions that run between the exits and the entries.
        internal: From a superstate to a state inside it, do not leave the superstate.

    Source: SCXML 3.5 and 3.13, `type` of a transition, which one without an event has as well.
    """
    return When(guard=guard, target=target, do=() if do is None else do, internal=internal)


@overload
def on(
    event: type[F] | str,
    target: Targets | None = None,
    *,
    when: TakesEvent[F, object] | None = None,
    do: TakesEvent[F, _Told] | None = None,
    internal: bool = False,
) -> On[Any]: ...
@overload
def on(
    event: type[F] | str,
    target: Targets | None = None,
    *,
    when: Pure[T, object, F] | None = None,
    do: Pure[T, _Told, F] | Sequence[Pure[T, _Told, F]] | None = None,
    internal: bool = False,
) -> On[T]: ...
def on(
    event: type[Any] | str,
    target: Targets | None = None,
    *,
    when: Guard[Any] | None = None,
    do: Actions[Any] | None = None,
    internal: bool = False,
) -> On[Any]:
    """React to an event.

    Args:
        event: An `Event` subclass or a bare name; a name matches by dotted prefix.
        target: Where to go, several targets together; None stays without leaving or entering any state.
        when: A guard that must be true.
        do: Actions that run between the exits and the entries.
        internal: From a superstate to a state inside it, do not leave the superstate.

    Source: SCXML 3.5 and 3.12.1.
    """
    like = cast("EventLike", event)
    return On(event=like, target=target, guard=when, do=() if do is None else do, internal=internal)


def after(
    seconds: Seconds[T],
    target: Targets | None = None,
    *,
    when: Guard[T] | None = None,
    do: Actions[T] | None = None,
    internal: bool = False,
) -> After[T]:
    """React to time: the state has been active for a while without being left.

    Args:
        seconds: Seconds from the entry, finite and at least 0; or a pure function like a guard that returns them,
            called once on every entry, after the entry actions.
        target: As for `on`.
        when: A guard that must be true when the time has come; if it is false, that was this timer.
        do: As for `on`.
        internal: As for `on`.

    Source: SCXML 6.2.4 and 6.3: a delayed `<send>` on entry that is cancelled on exit.
    """
    return After(seconds=seconds, target=target, guard=when, do=() if do is None else do, internal=internal)
