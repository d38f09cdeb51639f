"""The gate answers a bad output with feedback, never with an exception."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from stateward.govern.contract import contract
from stateward.govern.gate import Failed, Passed, check
from stateward.govern.policy import Policy

GOOD = {"summary": "The order is late", "category": "other", "priority": "high", "sentiment": "calm"}


@pytest.fixture
def ticket(working: Policy) -> type[BaseModel]:
    """The Ticket contract of the working policy."""
    return contract(working.contracts[0], mode=working.mode, policy_hash=working.hash)


def test_a_good_output_passes_as_plain_data(ticket: type[BaseModel]) -> None:
    """What passes is normalised JSON data."""
    passed = check(ticket, value=GOOD)
    assert isinstance(passed, Passed)
    assert passed.value == {**GOOD, "priority": "p1", "order": None, "amount_eur": None, "steps": []}


def test_a_model_and_a_text_pass_like_a_mapping(ticket: type[BaseModel]) -> None:
    """The gate takes what an activity or a model gives."""
    passed = check(ticket, value=GOOD)
    assert check(ticket, value=ticket.model_validate(GOOD)) == passed
    text = '{"summary":"The order is late","category":"other","priority":"p1","sentiment":"calm"}'
    assert check(ticket, value=text) == passed


def test_feedback_names_every_mistake(ticket: type[BaseModel]) -> None:
    """The author is told each key, what was expected and what was given."""
    failed = check(ticket, value={"summary": "x", "category": "other", "priority": "soon", "extra": 1})
    assert isinstance(failed, Failed)
    assert [error.dotted for error in failed.errors] == ["summary", "priority", "sentiment", "extra"]
    for part in (
        "`Ticket`",
        "at least 5 characters",
        "'soon'",
        "the key is required",
        "one of the keys amount_eur",
    ):
        assert part in failed.feedback


@pytest.mark.parametrize("value", ["{", "[" * 100_000, "[]", "7", None, 3, [], {1: 2}, object(), b"\xff"])
def test_nonsense_fails_without_an_exception(ticket: type[BaseModel], value: object) -> None:
    """Whatever comes, the answer is a value."""
    assert isinstance(check(ticket, value=value), Failed)


def test_feedback_does_not_repeat_a_long_output(ticket: type[BaseModel]) -> None:
    """A value that is too long is described, not copied."""
    failed = check(ticket, value={**GOOD, "summary": "x" * 10_000})
    assert isinstance(failed, Failed)
    assert len(failed.feedback) < 400


class Counted(BaseModel):
    model_config = {"extra": "forbid"}
    numbers: list[int]
    name: str


def test_feedback_on_any_number_of_mistakes_is_short() -> None:
    """It goes to a model and into a checkpoint; of each field that is wrong something is kept."""
    strange = {f"k{number}": 1 for number in range(2000)}
    failed = check(Counted, value={"numbers": ["x"] * 2000, "name": 1, **strange, "y" * 100_000: 1})
    assert isinstance(failed, Failed)
    assert failed.feedback.endswith("- and 3982 more")
    assert len(failed.feedback) < 4_000
    assert len(failed.errors) == 500
    assert [error.dotted for error in failed.errors[4:7]] == ["numbers[4]", "name", "k0"]
