"""One figure of a proof: what was counted or measured, and what it may be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Tick = Callable[[float], None]
"""Told how much of a proof is done, from 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One line of a proof's table."""

    name: str
    value: float
    limit: str = ""
    """What it may be; empty for one that is only told."""
    holds: bool = True
    timed: bool = False
    """Whether it is a time or a ratio of times, which a busy machine changes."""


def told(name: str, value: float, *, timed: bool = False) -> Figure:
    """Tell a figure that claims nothing.

    Args:
        name: What it is.
        value: How much.
        timed: Whether a busy machine changes it.
    """
    return Figure(name=name, value=value, timed=timed)


def exactly(name: str, value: float, *, is_: float = 0) -> Figure:
    """Claim a count.

    Args:
        name: What is counted.
        value: How many.
        is_: How many it must be.
    """
    return Figure(name=name, value=value, limit=f"= {is_:g}", holds=value == is_)


def at_most(name: str, value: float, *, limit: float, timed: bool = False) -> Figure:
    """Claim an upper limit.

    Args:
        name: What is measured.
        value: How much.
        limit: How much it may be.
        timed: Whether a busy machine changes it.
    """
    return Figure(name=name, value=value, limit=f"≤ {limit:g}", holds=value <= limit, timed=timed)


def at_least(name: str, value: float, *, limit: float, timed: bool = False) -> Figure:
    """Claim a lower limit.

    Args:
        name: What is measured.
        value: How much.
        limit: How much it must be.
        timed: Whether a busy machine changes it.
    """
    return Figure(name=name, value=value, limit=f"≥ {limit:g}", holds=value >= limit, timed=timed)
