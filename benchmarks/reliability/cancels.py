"""Proof 5: runs are cancelled at a random await, a thousand times; `benchmarks.cancel` looks what is left of them."""

from __future__ import annotations

from benchmarks.cancel import measure
from benchmarks.reliability.figure import Figure, Tick, at_least, at_most, exactly, told
from benchmarks.reliability.place import Place

TIMES, SMALL_TIMES = 1000, 20
LIMIT_MS = 200
SHARE = 0.25
"""Of the cancellations, how many must come while the run is under way."""


def prove(place: Place, *, how: str, small: bool, tick: Tick) -> list[Figure]:
    """Cancel runs.

    Args:
        place: Where databases go.
        how: `async`; sync work ends where it checks.
        small: Cancel few.
        tick: Told how far it is.

    Returns:
        The figures.
    """
    times = SMALL_TIMES if small else TIMES
    found = measure(times, place.url())
    tick(1)
    return [
        at_least("cancelled under way", found["cancelled"] or 0, limit=times * SHARE),
        told("ended before, or not begun yet", found["too_late"] or 0),
        exactly("dangling tool calls in the history", found["dangling"] or 0),
        exactly("calls of the journal without an end", found["open_calls"] or 0),
        exactly("tasks, leases, entries and questions left", found["leaks"] or 0),
        told("median time to the end, ms", found["p50_ms"] or 0, timed=True),
        at_most("99th percentile, ms", found["p99_ms"] or 0, limit=LIMIT_MS, timed=True),
    ]
