"""The pytest plugin: frozen runs are played as tests, and `--chart-coverage` tells what the tests have seen of charts.

It stands outside of the package, because pytest imports it in every run, in every project of the environment: only a
frozen run and `--chart-coverage` import `stateward`.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

OPTION = "--chart-coverage"
RUNS = "stateward_runs"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer the options."""
    parser.addini(RUNS, "folders of frozen runs, which are played as tests", type="paths", default=["tests/runs"])
    group = parser.getgroup("stateward", "statecharts")
    group.addoption(
        OPTION,
        nargs="?",
        const="term",
        default=None,
        metavar="term|json[:FILE]",
        help="tell which states were entered, transitions taken and guards seen both true and false; "
        "json: write it to FILE (chart-coverage.json) as well as the totals",
    )
    group.addoption(
        f"{OPTION}-fail-under",
        type=float,
        default=None,
        metavar="PERCENT",
        help="fail if less than PERCENT of states, transitions and guards were seen, over all charts; turns it on",
    )
    group.addoption(
        f"{OPTION}-of",
        action="append",
        default=None,
        metavar="NAME",
        help="count only charts of this name; `*` stands for any text; may be given several times",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Begin to watch, if that is wanted."""
    wanted, least = config.getoption("chart_coverage"), config.getoption("chart_coverage_fail_under")
    if wanted is None and least is None:
        return
    names = tuple(config.getoption("chart_coverage_of") or ("*",))
    plugin = import_module("stateward.testing.coverage_report")  # only who asks pays for the import
    report = plugin.CoverageReport(wanted or "term", least=least, names=names, root=config.rootpath)
    config.pluginmanager.register(report, "stateward-chart-coverage")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> FrozenFile | None:
    """Take in the files of the folders of frozen runs."""
    if file_path.suffix != ".json":
        return None
    folders = [parent.config.rootpath / folder for folder in parent.config.getini(RUNS)]
    if not any(folder in file_path.parents for folder in folders):
        return None
    return FrozenFile.from_parent(parent, path=file_path)


class FrozenFile(pytest.File):
    """A file with a frozen run."""

    def collect(self) -> Iterator[FrozenRun]:
        """Return the one run in it."""
        yield FrozenRun.from_parent(self, name=self.path.stem)


class FrozenRun(pytest.Item):
    """A run that is played again; it passes when it comes to the same, step by step."""

    def runtest(self) -> None:
        """Play it.

        Raises:
            Differs: It came to something else.
        """
        played: Any = import_module("stateward.testing.frozen").play_frozen(self.path)
        if not played.same:
            drift = f"\nDefined otherwise since: {', '.join(played.drift)}." if played.drift else ""
            raise Differs(f"{played.divergence}{drift}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Tell the first difference, without a traceback."""
        if isinstance(excinfo.value, Differs):
            told = "If it is to be so from now on, freeze the run again: stateward freeze SESSION FILE --force."
            return f"{excinfo.value}\n{told}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Say where it is."""
        return self.path, None, f"frozen run {self.name}"


class Differs(Exception):
    """A frozen run came to something else than its record."""
