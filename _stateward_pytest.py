"""The pytest plugin: `pytest --chart-coverage` tells what the tests have seen of each chart.

It stands outside of the package, because pytest imports it in every run, in every project of the environment: only
`--chart-coverage` imports `stateward`.
"""

from __future__ import annotations

from importlib import import_module

import pytest

OPTION = "--chart-coverage"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer the options."""
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
