"""What an activity gets for an answer."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from stateward.errors import DefinitionError
from stateward.run.people.answer import approval_of, form_of, review_of, value_of


class Trip(BaseModel):
    """What is planned."""

    city: str


def said(decision: str, **rest: Any) -> dict[str, Any]:
    return {
        "decision": decision,
        "value": None,
        "note": "",
        "by": "ann",
        "tool": "pay",
        "arguments": {"eur": 3},
        **rest,
    }


@pytest.mark.parametrize(("decision", "yes"), [("approve", True), ("reject", False), ("respond", False)])
def test_an_approval_is_as_true_as_what_was_said(decision: str, yes: bool) -> None:
    """It also says who, and why."""
    approval = approval_of(said(decision, note="later"))
    assert (bool(approval), approval.by, approval.note) == (yes, "ann", "later")


@pytest.mark.parametrize("default", [True, False])
def test_an_approval_that_nobody_gave_is_the_default(default: bool) -> None:
    """Nobody is named for it."""
    approval = approval_of(said("expired", value=default, by=""))
    assert (approval.approved, approval.decision, approval.by) == (default, "expired", "")


@pytest.mark.parametrize(
    ("decision", "value", "made"),
    [
        ("approve", None, True),
        ("edit", None, True),
        ("reject", None, False),
        ("respond", None, False),
        ("expired", "approve", True),
        ("expired", "reject", False),
    ],
)
def test_a_review_says_whether_a_call_is_made_and_which(decision: str, value: str | None, made: bool) -> None:
    """In the form that `run.tools` takes."""
    review = review_of(said(decision, value=value))
    assert (bool(review), review.call) == (made, {"name": "pay", "args": {"eur": 3}})


def test_a_value_is_of_the_type_that_was_asked_for() -> None:
    """What does not fit says where."""
    read = value_of(form_of(Trip, where="ask.text"))
    assert read(said("respond", value={"city": "Rome"})) == Trip(city="Rome")
    with pytest.raises(ValueError, match="city: "):
        read(said("respond", value={}))


def test_a_value_of_a_json_schema_is_json() -> None:
    """And without any schema too."""
    for schema in ({"type": "object"}, None):
        assert value_of(form_of(schema, where="ask.text"))(said("respond", value={"a": 1})) == {"a": 1}


def test_a_schema_that_nobody_could_check_is_refused() -> None:
    """A misspelt keyword would be read by nobody."""
    with pytest.raises(DefinitionError, match="without `maxLenght`"):
        form_of({"type": "string", "maxLenght": 3}, where="ask.text")
