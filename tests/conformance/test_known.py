"""The list of tests that are not passed is kept in step with the runs."""

from __future__ import annotations

from pathlib import Path

from tests.conformance.case import Case
from tests.conformance.known import KNOWN, differences
from tests.conformance.report import not_passed, table
from tests.conformance.runner import Outcome, Verdict

LISTED = "sdist/optional/test509"


def outcome(name: str, verdict: Verdict, reason: str = "") -> Outcome:
    """Return what became of a test."""
    case = Case(name=name, group="sdist W3C optional", document=Path("x.scxml"), initial=None)
    return Outcome(case=case, way="kernel", verdict=verdict, reason=reason)


def test_what_is_as_the_list_says_is_no_difference() -> None:
    """A test on the list that is not run for the reason there, and one off the list that passes, are right."""
    found = [outcome(LISTED, "unsupported", KNOWN[LISTED].shows), outcome("sdist/optional/test1", "passed")]
    assert differences(found) == []


def test_a_listed_test_that_passes_is_a_difference() -> None:
    """The list must not say less than is true."""
    assert len(differences([outcome(LISTED, "passed")])) == 1


def test_a_listed_test_that_fails_for_another_reason_is_a_difference() -> None:
    """A reason on the list hides no other one."""
    assert len(differences([outcome(LISTED, "unsupported", "something else")])) == 1


def test_an_unlisted_test_that_does_not_pass_is_a_difference() -> None:
    """Nothing is skipped silently."""
    found = [outcome("sdist/optional/test1", verdict) for verdict in ("failed", "unsupported")]
    assert len(differences(found)) == 2


def test_a_listed_test_that_does_not_exist_is_a_difference_of_a_whole_run() -> None:
    """The list names tests of the suites only."""
    assert len(differences([], whole=("npm", "sdist"))) == len(KNOWN)


def test_the_table_counts_and_the_list_gives_the_reason() -> None:
    """Each way has passed, not run and failed tests in its column."""
    found = [outcome(LISTED, "unsupported", KNOWN[LISTED].shows), outcome("sdist/optional/test1", "passed")]
    assert "1 / 1 / 0" in table(found)
    assert not_passed(found) == f"not run  {LISTED}: {KNOWN[LISTED].reason}"
