"""`pytest --chart-coverage`, run on small suites."""

from __future__ import annotations

import json

import pytest

PLUGIN = ("-p", "_stateward_pytest", "-p", "no:cacheprovider")
SUITE = """
import stateward as sw

def doors(name="doors"):
    shut = sw.State("SHUT", on=[sw.on("open", "OPEN", when=lambda state: not state.get("locked"))])
    return sw.Chart(name, dict, shut, sw.State("OPEN", on=[sw.on("shut", "SHUT")]))

def test_opens():
    assert doors().simulate().send("open") == ("OPEN",)

def test_stays_shut():
    assert doors().simulate({"locked": True}).send("open") == ("SHUT",)

def test_another():
    doors("scratch").simulate()
"""


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project with one file of tests."""
    pytester.makepyfile(test_doors=SUITE)
    return pytester


def test_table_shows_each_chart_and_what_was_never_seen(suite: pytest.Pytester) -> None:
    """Charts made again and again are one; guards are seen when they were true and false."""
    result = suite.runpytest_inprocess(*PLUGIN, "--chart-coverage")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(
        [
            "*chart coverage*",
            "chart  *states  transitions  guards*seen",
            "doors *2/2*1/2*1/1*80 %",
            "scratch *1/2*0/2*0/1*20 %",
            "total *50 %",
            "doors: transition OPEN -> SHUT on shut was never taken",
            "scratch: state OPEN was never entered",
        ]
    )


def test_charts_can_be_chosen_by_name(suite: pytest.Pytester) -> None:
    """What else is stepped does not count."""
    result = suite.runpytest_inprocess(*PLUGIN, "--chart-coverage", "--chart-coverage-of=d*")
    result.stdout.fnmatch_lines(["total *80 %"])
    result.stdout.no_fnmatch_line("*scratch*")


def test_json_is_written_to_a_file(suite: pytest.Pytester) -> None:
    """Under the root, or where one says."""
    suite.runpytest_inprocess(*PLUGIN, "--chart-coverage=json:seen.json", "--chart-coverage-of=doors")
    document = json.loads((suite.path / "seen.json").read_text())
    assert (document["percent"], [one["name"] for one in document["charts"]]) == (80.0, ["doors"])


@pytest.mark.parametrize(("least", "code"), [("50", pytest.ExitCode.OK), ("50.1", pytest.ExitCode.TESTS_FAILED)])
def test_run_fails_below_the_limit(suite: pytest.Pytester, least: str, code: int) -> None:
    """All charts count together, and what is missing is said."""
    result = suite.runpytest_inprocess(*PLUGIN, f"--chart-coverage-fail-under={least}")
    assert result.ret == code
    assert ("less than the 50.1 % asked for" in result.stdout.str()) is (code != pytest.ExitCode.OK)


@pytest.mark.parametrize("option", ["--chart-coverage=html", "--chart-coverage-fail-under=120"])
def test_wrong_option_is_told(suite: pytest.Pytester, option: str) -> None:
    """What it was and what it can be."""
    result = suite.runpytest_inprocess(*PLUGIN, option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "give" in result.stderr.str()


def test_run_without_charts_has_seen_nothing(pytester: pytest.Pytester) -> None:
    """That is 0 %."""
    pytester.makepyfile("def test_nothing():\n    pass\n")
    result = pytester.runpytest_inprocess(*PLUGIN, "--chart-coverage", "--chart-coverage-fail-under=1")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["No chart was stepped."])


@pytest.mark.slow
def test_plugin_that_is_off_imports_nothing_of_ours(pytester: pytest.Pytester) -> None:
    """Pytest loads it in every project of the environment: there it must cost nothing."""
    pytester.makepyfile("import sys\n\n\ndef test_off():\n    assert 'stateward' not in sys.modules\n")
    pytester.runpytest_subprocess(*PLUGIN).assert_outcomes(passed=1)


@pytest.mark.slow
def test_whole_process_is_seen(suite: pytest.Pytester) -> None:
    """As a user runs it: what a module does while tests are collected counts as well."""
    suite.makepyfile(test_imported="from test_doors import doors\n\ndoors('imported').simulate()\n")
    result = suite.runpytest_subprocess(*PLUGIN, "--chart-coverage")
    result.stdout.fnmatch_lines(["doors *80 %", "imported *20 %", "scratch *20 %"])
