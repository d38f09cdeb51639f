"""SCION's tests and W3C's in ECMAScript, each run three ways, against the list of those that are not passed."""

from __future__ import annotations

import pytest

from tests.conformance.__main__ import SAMPLE, outcomes
from tests.conformance.case import npm_cases
from tests.conformance.known import differences
from tests.conformance.way import ASYNC, COMPILED, KERNEL, RESTORED, Way

pytestmark = pytest.mark.conformance


@pytest.mark.parametrize("way", [KERNEL, COMPILED, RESTORED], ids=lambda way: way.name)
def test_the_npm_suite_comes_out_as_the_list_says(way: Way) -> None:
    """What is not listed passes, what is listed does not, and for the reason there."""
    assert differences(list(outcomes(npm_cases(), ways=[way])), whole=("npm",)) == []


def test_a_sample_of_the_npm_suite_comes_out_the_same_through_ainvoke() -> None:
    """Both ways to run a graph mean the same."""
    assert differences(list(outcomes(npm_cases()[::SAMPLE], ways=[ASYNC]))) == []
