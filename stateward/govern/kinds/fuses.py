"""Fuses: what may be spent during one run. Every limit counts in its own scope, so limits are never folded to one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from stateward.govern.kinds.operator import LEAST
from stateward.govern.kinds.section import Section, part
from stateward.govern.kinds.shape import Count, Number, Positive, Strict

DEFAULT_MICROSTEPS = 1000
COUNTED = ("calls", "turns", "tokens", "usd", "runtime_s")
"""The units that are counted in a scope; what trips is the event `fuse.<unit>`."""


class FusesShape(Strict):
    """The limits."""

    turns: Count | None = None
    usd: Annotated[Number, Field(ge=0, le=1_000_000)] | None = None
    tokens: Annotated[int, Field(ge=0, le=1_000_000_000)] | None = None
    calls: Count | None = None
    runtime_s: Annotated[Number, Field(gt=0, le=31_536_000)] | None = None
    microsteps: Positive | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fuses(Section):
    """The limits of one policy; None leaves the limit to the policies above."""

    SHAPE: ClassVar[type[Strict]] = FusesShape

    turns: int | None = part(LEAST, unit="model calls")
    """Model calls."""
    usd: float | None = part(LEAST, unit="US dollars")
    """Money, in US dollars."""
    tokens: int | None = part(LEAST, unit="tokens")
    """Tokens sent and received, of all models together."""
    calls: int | None = part(LEAST, unit="tool calls")
    """Tool calls, of all tools together."""
    runtime_s: float | None = part(LEAST, unit="seconds")
    """Wall time in which the run worked; time in which it waits for people or events does not count."""
    microsteps: int | None = part(LEAST, unit="microsteps of one macrostep")
    """Microsteps in one macrostep of the chart."""
