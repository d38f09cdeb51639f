"""The red table prints itself: every attempt to get past a policy, and whether it did."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import pytest

from tests.red.world import World

_PLACE = "tests/red/test_"
_CONTROL = "test_control_"
"""Calls that must be made, so that the tables prove something."""


@pytest.fixture
def world() -> World:
    """Where effects are written down."""
    return World()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table by kind."""
    stopped = _attempts(terminalreporter.stats.get("passed", ()))
    through = _attempts(terminalreporter.stats.get("failed", ()))
    if not stopped and not through:
        return
    terminalreporter.write_sep("-", "red table")
    for kind in sorted({*stopped, *through}):
        terminalreporter.write_line(f"{kind} ({len(stopped[kind])} stopped, {len(through[kind])} passed)")
        for label, attempts in (("stopped", stopped[kind]), ("PASSED", through[kind])):
            for attempt in sorted(attempts):
                terminalreporter.write_line(f"  {label}  {attempt}")
    total = sum(map(len, stopped.values())) + sum(map(len, through.values()))
    terminalreporter.write_line(f"{total} attempts, {sum(map(len, through.values()))} passed")


def _attempts(reports: Iterable[pytest.TestReport]) -> defaultdict[str, set[str]]:
    """The attempts by kind; one that was made both ways counts once."""
    found = defaultdict[str, set[str]](set)
    for report in reports:
        file, _, name = report.nodeid.partition("::")
        if file.startswith(_PLACE) and report.when == "call" and not name.startswith(_CONTROL):
            found[file.removeprefix(_PLACE).removesuffix(".py")].add(_label(name))
    return found


def _label(name: str) -> str:
    claim, _, row = name.removeprefix("test_").rstrip("]").partition("[")
    rows = [word for word in row.split("-") if word not in ("sync", "async", "memory", "postgresql")]
    return ": ".join([claim.replace("_", " "), *(["-".join(rows)] if rows else [])])
