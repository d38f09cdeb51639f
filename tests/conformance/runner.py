"""Runs one test one way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from stateward.testing import ManualClock
from tests.conformance.case import Case
from tests.conformance.document import read
from tests.conformance.processor import Make, Processor
from tests.conformance.value import NotSupportedError
from tests.conformance.way import Way

Verdict = Literal["passed", "failed", "unsupported"]
"""What became of a test.

passed: everything was as expected.
failed: something was not.
unsupported: it needs what is left out here.
"""

LATENCY = 1e-6
"""Seconds a message of a session to itself is on its way where a test looks between two of them, or invokes."""
GAP = 1e-3
"""Seconds that pass before an event besides those its test names: long enough for what is on its way."""
LONG = 100.0
"""Seconds after which a W3C test that has not ended has failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one test, run one way."""

    case: Case
    way: str
    verdict: Verdict
    reason: str = ""


def play(case: Case, *, way: Way) -> Outcome:
    """Run a test to its end or its first difference.

    Args:
        case: The test.
        way: How the chart is run.
    """
    clock = ManualClock()
    try:
        with way.world(clock) as make:
            difference = _played(case, clock, make)
    except NotSupportedError as missing:
        return Outcome(case=case, way=way.name, verdict="unsupported", reason=missing.what)
    except Exception as error:  # noqa: BLE001 - it is the outcome
        return Outcome(case=case, way=way.name, verdict="failed", reason=f"{type(error).__name__}: {error}")
    return Outcome(case=case, way=way.name, verdict="failed" if difference else "passed", reason=difference)


def _played(case: Case, clock: ManualClock, make: Make) -> str:
    document = read(case.document)
    at_once = case.initial is None and not any(document.invokes)
    processor = Processor(document, clock=clock, make=make, latency_s=0.0 if at_once else LATENCY)
    processor.start()
    if case.initial is None:
        processor.settle(until=processor.now + LONG)
        found = processor.main.atoms
        return "" if found == ["pass"] else f"it ended in {found}"
    difference = _compared(processor, case.initial, after="the start")
    for beat in case.beats:
        if difference:
            break
        processor.settle(until=processor.now + beat.after_s + GAP)
        processor.tell(beat.event)
        difference = _compared(processor, beat.expected, after=beat.event)
    return difference


def _compared(processor: Processor, expected: tuple[str, ...], *, after: str) -> str:
    found = processor.main.atoms
    return "" if found == sorted(expected) else f"after {after}: {found}, expected {sorted(expected)}"
