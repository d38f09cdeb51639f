"""Pace: how many calls at once, and how many a minute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from stateward.govern.kinds.operator import LEAST
from stateward.govern.kinds.section import Section, part
from stateward.govern.kinds.shape import Positive, Strict


class PaceShape(Strict):
    """The pace."""

    parallel: Positive | None = None
    calls_per_minute: Positive | None = None
    turns_per_minute: Positive | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace(Section):
    """How fast the states under a policy may call; a call that comes too early waits."""

    SHAPE: ClassVar[type[Strict]] = PaceShape

    parallel: int | None = part(LEAST, unit="calls at once")
    """Tool and model calls that run at the same time, of one session."""
    calls_per_minute: int | None = part(LEAST, unit="tool calls a minute")
    """Tool calls begun in any 60 seconds, of one session."""
    turns_per_minute: int | None = part(LEAST, unit="model calls a minute")
    """Model calls begun in any 60 seconds, of one session."""
