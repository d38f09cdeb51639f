"""What `pytest --chart-coverage` says, while it is on: a table for each chart, what was never seen, a file of JSON."""

from __future__ import annotations

import json
from contextlib import ExitStack
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from stateward.testing.coverage import ChartCoverage, Coverage, percent, watching

DEFAULT_FILE = "chart-coverage.json"


class CoverageReport:
    """The plugin that `_stateward_pytest` registers for a run that asks for coverage.

    Args:
        form: `term`, `json`, or `json:FILE`.
        least: The percentage below which the run fails, from 0 to 100, or None.
        names: Patterns; charts whose name fits none of them are not counted.
        root: Where a relative FILE lies.

    Raises:
        pytest.UsageError: `form` is none of these, or `least` is no percentage.
    """

    def __init__(self, form: str, *, least: float | None, names: tuple[str, ...], root: Path) -> None:
        kind, _, file = form.partition(":")
        if kind not in ("term", "json") or (file and kind == "term"):
            raise pytest.UsageError(
                f"--chart-coverage is `{form}`; give `term`, `json` or `json:FILE`, "
                "and write `--chart-coverage=term` where a path comes after it"
            )
        if least is not None and not 0 <= least <= 100:
            raise pytest.UsageError(f"--chart-coverage-fail-under is {least:g}; give a percentage from 0 to 100")
        self._least = least
        self._names = names
        self._file = root / (file or DEFAULT_FILE) if kind == "json" else None
        self._coverage = Coverage()
        self._watch = ExitStack()
        self._watch.enter_context(watching(self._coverage))

    @property
    def charts(self) -> tuple[ChartCoverage, ...]:
        """What is known of the charts that count."""
        every = self._coverage.charts()
        return tuple(chart for chart in every if any(fnmatchcase(chart.name, name) for name in self._names))

    @property
    def is_enough(self) -> bool:
        """Whether as much was seen as was asked for."""
        return self._least is None or percent(self.charts) >= self._least

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Fail the run if not enough was seen.

        Args:
            session: The run.
            exitstatus: How it ended so far.
        """
        if exitstatus == pytest.ExitCode.OK and not self.is_enough:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the report.

        Args:
            terminalreporter: Where to.
        """
        charts, write = self.charts, terminalreporter.write_line
        terminalreporter.section("chart coverage")
        for line in table(charts):
            write(line)
        if self._file is None:
            for line in never(charts):
                write(line)
        else:
            document = {"percent": percent(charts), "charts": [chart.to_json() for chart in charts]}
            self._file.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
            write(f"Written to {self._file}")
        if not self.is_enough:
            write(f"Chart coverage is {percent(charts):g} %, less than the {self._least:g} % asked for.", red=True)

    def pytest_unconfigure(self) -> None:
        """Stop watching."""
        self._watch.close()


def table(charts: tuple[ChartCoverage, ...]) -> list[str]:
    """Return the lines of the table, one for each chart and the total.

    Args:
        charts: What is known of them.
    """
    if not charts:
        return ["No chart was stepped."]
    rows = [
        (
            _titled(chart, charts),
            f"{len(chart.entered)}/{len(chart.states)}",
            f"{len(chart.taken)}/{len(chart.transitions)}",
            f"{len(chart.guards)}/{len(chart.guarded)}",
            f"{percent([chart]):g} %",
        )
        for chart in charts
    ]
    rows = [
        ("chart", "states", "transitions", "guards", "seen"),
        *rows,
        ("total", "", "", "", f"{percent(charts):g} %"),
    ]
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return [
        "  ".join(_aligned(cell, width, place) for place, (cell, width) in enumerate(zip(row, widths, strict=True)))
        for row in rows
    ]


def never(charts: tuple[ChartCoverage, ...]) -> list[str]:
    """Return the lines that say what was never seen.

    Args:
        charts: What is known of them.
    """
    return [f"{_titled(chart, charts)}: {line}" for chart in charts for line in chart.missing]


def _titled(chart: ChartCoverage, charts: tuple[ChartCoverage, ...]) -> str:
    """Return a chart's name, with the beginning of its hash where several have that name."""
    alike = [other for other in charts if other.name == chart.name]
    return chart.name if len(alike) == 1 else f"{chart.name} ({chart.hash[:8]})"


def _aligned(cell: str, width: int, place: int) -> str:
    return cell.rjust(width) if place else cell.ljust(width)
