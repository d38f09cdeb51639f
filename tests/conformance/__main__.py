"""`python -m tests.conformance` prints what passes; it exits 1 if something does not that must."""

from __future__ import annotations

import sys
from collections import Counter

from tests.conformance.runner import Outcome, run
from tests.conformance.suite import Case, SuiteMissingError, cases

NEEDS_ENGINE = ("error/error", "send-idlocation/test0")
"""SCION tests of a script engine's error objects and of HTTP sends."""


def group(case: Case) -> str:
    """Return the row of the table that a test belongs to."""
    suite = "W3C" if "w3c" in case.features else "SCION"
    parts = [part for part in ("parallel", "delay", "script") if part in case.features]
    return f"{suite} " + (" + ".join(parts) or "plain")


def is_broken(outcome: Outcome) -> bool:
    """Tell whether this outcome is wrong: a SCION test that does not pass, or a W3C test without script that fails.

    What W3C tests of the data model find is not about the kernel, and what needs more than structure is named.
    """
    case = outcome.case
    if "w3c" in case.features:
        return outcome.verdict == "failed" and "script" not in case.features
    return outcome.verdict != "passed" and case.name not in NEEDS_ENGINE


def main() -> int:
    """Run everything, print the table and what did not pass."""
    try:
        outcomes = [run(case) for case in cases()]
    except SuiteMissingError as missing:
        print(f"conformance: {missing}", file=sys.stderr)
        return 2
    print(table(outcomes))
    broken = [outcome for outcome in outcomes if is_broken(outcome)]
    for outcome in outcomes:
        if outcome.verdict != "passed":
            print(f"{outcome.verdict:12} {outcome.case.name}: {outcome.reason[:150]}")
    return 1 if broken else 0


def table(outcomes: list[Outcome]) -> str:
    """Return one line per group: how many passed, failed, or need what is not understood here."""
    groups = sorted({group(outcome.case) for outcome in outcomes})
    lines = [f"{'group':34}{'tests':>7}{'passed':>8}{'failed':>8}{'unsupported':>13}"]
    for name in groups:
        count = Counter(outcome.verdict for outcome in outcomes if group(outcome.case) == name)
        numbers = (count.total(), count["passed"], count["failed"], count["unsupported"])
        lines.append(f"{name:34}{numbers[0]:>7}{numbers[1]:>8}{numbers[2]:>8}{numbers[3]:>13}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
