"""The table of a run, and the list of what was not passed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import get_args

from tests.conformance.case import Group
from tests.conformance.known import KNOWN
from tests.conformance.runner import Outcome

_HEAD = "passed / not run / failed"


def table(outcomes: Sequence[Outcome]) -> str:
    """Return a line for each group: how many tests it has, and what became of them each way."""
    ways = list(dict.fromkeys(outcome.way for outcome in outcomes))
    rows = [row for group in get_args(Group) if (row := _row(group, outcomes, ways))]
    total = _cells("all", outcomes, ways)
    head = ["group", "tests", *ways]
    lines = [head, *rows, total]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    drawn = ["  ".join(_aligned(cell, widths[n], left=n == 0) for n, cell in enumerate(line)) for line in lines]
    return "\n".join([*drawn[:1], "-" * len(drawn[0]), *drawn[1:], "", f"Each way: {_HEAD}."])


def _row(group: str, outcomes: Sequence[Outcome], ways: Sequence[str]) -> list[str]:
    mine = [outcome for outcome in outcomes if outcome.case.group == group]
    return _cells(group, mine, ways) if mine else []


def _cells(name: str, outcomes: Sequence[Outcome], ways: Sequence[str]) -> list[str]:
    tests = len({outcome.case.name for outcome in outcomes})
    cells = [name, str(tests)]
    for way in ways:
        count = Counter(outcome.verdict for outcome in outcomes if outcome.way == way)
        cells.append(f"{count['passed']} / {count['unsupported']} / {count['failed']}")
    return cells


def _aligned(cell: str, width: int, *, left: bool) -> str:
    return cell.ljust(width) if left else cell.rjust(width)


def not_passed(outcomes: Sequence[Outcome]) -> str:
    """Return a line for each test that was not passed: its verdict and the reason on the list."""
    verdicts = {outcome.case.name: outcome for outcome in outcomes if outcome.verdict != "passed"}
    lines = [
        f"{'not run' if outcome.verdict == 'unsupported' else 'failed':8} {name}: "
        + (KNOWN[name].reason if name in KNOWN else outcome.reason[:300])
        for name, outcome in verdicts.items()
    ]
    return "\n".join(lines)


def as_json(outcomes: Sequence[Outcome], *, differences: Sequence[str]) -> dict[str, object]:
    """Return a run as plain JSON: every outcome, and what is not as the list says."""
    told = [
        {
            "test": outcome.case.name,
            "group": outcome.case.group,
            "way": outcome.way,
            "verdict": outcome.verdict,
            "reason": KNOWN[outcome.case.name].reason if outcome.case.name in KNOWN else outcome.reason,
        }
        for outcome in outcomes
    ]
    return {"outcomes": told, "differences": list(differences)}
