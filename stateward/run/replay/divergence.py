"""Where a replay differs from its record, and what a replay comes to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One thing that came otherwise."""

    what: str
    """`event`, `transitions`, `guards`, `changed`, `states`, `status`, `call`, `decision`, `value of KEY`, …"""
    recorded: Any
    came: Any

    def __str__(self) -> str:
        """Write it as one line."""
        return f"{self.what}: recorded {_short(self.recorded)}, came {_short(self.came)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """The first step of a replay that differs from its record."""

    run_no: int
    step: int
    """LangGraph's number of the recorded checkpoint; what comes after the last one has the next number."""
    checkpoint: str
    """Its id; empty when nothing is recorded."""
    state: str
    """The state the step was about."""
    differences: tuple[Difference, ...]
    """At least one; the most telling first."""

    def __str__(self) -> str:
        """Write it as some lines."""
        where = f" in `{self.state}`" if self.state else ""
        lines = "\n".join(f"  {difference}" for difference in self.differences)
        return f"Run {self.run_no} differs from its record at step {self.step}{where}:\n{lines}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What a replay came to."""

    run_no: int
    run: str
    """The run's id."""
    steps: int
    """How many steps were played and were the same."""
    calls: int
    """How many calls of tools and models were answered from the journal."""
    divergence: Divergence | None
    """The first difference; None when there is none."""
    drift: tuple[str, ...] = ()
    """What is defined otherwise than when the run was recorded: `chart`, `policy`, `schema`, `mode`."""

    @property
    def same(self) -> bool:
        """Whether the run came to the same, step by step."""
        return self.divergence is None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:140]} … {text[-140:]}"
