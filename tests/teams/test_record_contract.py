"""The gate over a block's record: it holds some fields, and lets all else pass as it is."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from stateward.chart.event import Occurrence
from stateward.govern.gate import Failed, Passed, check
from stateward.teams.record_contract import misfit, record_gate


def contract() -> type[BaseModel]:
    made = record_gate("A-b", {"sizes": list[int]}, title="Sizes", retries=1).contract
    assert not isinstance(made, str)
    return made


def test_other_fields_and_records_pass_as_they_are() -> None:
    """Also what is to be removed."""
    given = {"A-b": {"sizes": ["1", 2], "note": None}, "other": {"x": [1]}}
    assert check(contract(), value=given) == Passed(value={"A-b": {"sizes": [1, 2], "note": None}, "other": {"x": [1]}})


@pytest.mark.parametrize("given", [None, {}, {"A-b": {}}, {"A-b": {"sizes": ["x"]}}, {"A-b": {"sizes": None}}])
def test_a_field_that_is_missing_or_wrong_does_not_pass(given: Any) -> None:
    """The author is told where."""
    verdict = check(contract(), value=given)
    assert isinstance(verdict, Failed)
    assert "does not fit `Sizes`" in verdict.feedback


def test_a_misfit_is_told_in_one_line() -> None:
    """Of a gate's feedback the errors, of structured output its message."""
    verdict = check(contract(), value={"A-b": {"sizes": ["x"]}})
    assert isinstance(verdict, Failed)
    told = [{"feedback": verdict.feedback}, {"message": "no output fits"}, {}]
    assert [misfit(Occurrence(name="error.contract", data=each)) for each in told] == [
        "`A-b.sizes[0]`: expected a valid integer, unable to parse string as an integer, given 'x'",
        "no output fits",
        "it fitted no contract",
    ]
