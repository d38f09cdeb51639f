"""Rates: when the next call may begin, so that no 60 seconds see more of them than a policy allows."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from stateward.govern.effective import Effective
from stateward.govern.layer import ROOT_LABEL, Limit, smallest
from stateward.govern.request import CallKind
from stateward.govern.scope import is_within

WINDOW_S = 60.0
"""The window that slides over the calls of a session, in seconds."""
PacePart = Literal["parallel", "calls_per_minute", "turns_per_minute"]
"""A part of `pace`; each counts in the scope that its policy hangs on."""
PER_MINUTE: dict[CallKind, PacePart] = {"tool": "calls_per_minute", "model": "turns_per_minute"}
"""Which rate counts a call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """A call that was begun."""

    kind: CallKind
    path: str
    """The state that made it."""
    at: float
    """In seconds since the epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """How long a call that comes too early has to wait."""

    seconds: float
    limit: Limit
    """The rate that it would pass."""

    def told(self) -> str:
        """Say why the call has to wait."""
        place = self.limit.scope or ROOT_LABEL
        return (
            f"`pace.{self.limit.unit}` in `{place}` is {self.limit.value:g}, and the next call is possible in "
            f"{self.seconds:.3g} s"
        )


def paces(effective: Effective, *, part: PacePart) -> tuple[Limit, ...]:
    """List the limits of one part of `pace`, outermost first, one for each scope.

    Args:
        effective: The policy of the state that wants a call.
        part: Which part.
    """
    return smallest(
        Limit(unit=part, value=value, scope=layer.scope, origin=layer.origin(f"pace.{part}"))
        for layer in effective.binding
        if layer.policy.pace is not None and (value := getattr(layer.policy.pace, part)) is not None
    )


def pause(limits: Iterable[Limit], *, kind: CallKind, begun: Collection[Beginning], now: float) -> Pause | None:
    """Say how long a call has to wait.

    Args:
        limits: The rates that hold for it.
        kind: What it goes to.
        begun: The calls of the session that were begun in the last 60 seconds, or more of them.
        now: The time, in seconds since the epoch.

    Returns:
        The longest pause; None when the call may begin now.
    """
    found = [_pause(limit, kind=kind, begun=begun, now=now) for limit in limits]
    return max((one for one in found if one is not None), key=lambda one: one.seconds, default=None)


def _pause(limit: Limit, *, kind: CallKind, begun: Collection[Beginning], now: float) -> Pause | None:
    counted = sorted(each.at for each in begun if each.kind == kind and is_within(limit.scope, each.path))
    recent = [at for at in counted if at > now - WINDOW_S]
    if len(recent) < limit.value:
        return None
    return Pause(seconds=recent[-int(limit.value)] + WINDOW_S - now, limit=limit)
