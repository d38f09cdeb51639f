"""The last tier puts right, infers and fills in what the contract says, and tells all of it (C5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from stateward.govern.canonical_output import Canonical, canonical_output, read
from stateward.govern.contract import contract
from stateward.govern.gate import Failed, Passed, check
from stateward.govern.kinds.contract_spec import ContractSpec, Inference
from stateward.govern.policy import Policy

GOOD = {"summary": "The order is late", "category": "other", "priority": "p2", "sentiment": "calm"}
RULES = (
    Inference(pattern="asap|at once", value="p0"),
    Inference(pattern="cannot (log|sign) in", value="p1", field="summary"),
)


@pytest.fixture
def spec(working: Policy) -> ContractSpec:
    """The Ticket contract, with rules for priority and a default for sentiment."""
    ticket = working.contracts[0]
    said = {"priority": {"infer": RULES, "default": "p3"}, "sentiment": {"default": "calm"}, "steps": {"default": ()}}
    fields = tuple(replace(field, **said.get(field.name, {})) for field in ticket.fields)
    return replace(ticket, fields=fields)


def come_to(spec: ContractSpec, value: dict[str, Any]) -> Canonical:
    """Read an output under the contract."""
    return canonical_output(value, contract=contract(spec, mode="strict", policy_hash="0" * 64), spec=spec)


def told(found: Canonical) -> list[tuple[str, str, object]]:
    """What was degraded, as plain values."""
    return [(each.field, each.how, each.given) for each in found.degraded]


def test_what_fits_is_not_degraded(spec: ContractSpec) -> None:
    """Another spelling is put right and is no guess."""
    found = come_to(spec, {**GOOD, "priority": "urgent"})
    assert isinstance(found.verdict, Passed)
    assert (found.verdict.value["priority"], found.degraded) == ("p1", ())


INFERRED = [
    ({"priority": "ASAP!"}, "p0", "inferred"),
    ({"priority": "dunno", "summary": "I cannot sign in"}, "p1", "inferred"),
    ({"priority": "whenever it suits"}, "p3", "default"),
    ({"priority": 17}, "p3", "default"),
]


@pytest.mark.parametrize(("said", "value", "how"), INFERRED)
def test_an_unmappable_priority_is_inferred(spec: ContractSpec, said: dict[str, Any], value: str, how: str) -> None:
    """The rules are asked in their order, and the conservative default stands behind them."""
    found = come_to(spec, {**GOOD, **said})
    assert isinstance(found.verdict, Passed)
    assert found.verdict.value["priority"] == value
    assert told(found) == [("priority", how, said["priority"])]


def test_the_gate_itself_infers_nothing(spec: ContractSpec) -> None:
    """In the tiers before the last an unmappable priority is an error."""
    ticket = contract(spec, mode="strict", policy_hash="0" * 64)
    assert isinstance(check(ticket, value={**GOOD, "priority": "asap"}), Failed)


def test_a_missing_key_gets_its_default(spec: ContractSpec) -> None:
    """What was not said at all is told as such."""
    found = come_to(spec, {key: value for key, value in GOOD.items() if key != "sentiment"})
    assert told(found) == [("sentiment", "default", None)]


def test_an_unknown_key_is_dropped_and_told(spec: ContractSpec) -> None:
    """Chatter of a model does not cost the whole output."""
    found = come_to(spec, {**GOOD, "confidence": 0.9})
    assert isinstance(found.verdict, Passed)
    assert told(found) == [("confidence", "dropped", 0.9)]


def test_without_a_rule_or_default_the_output_fails(spec: ContractSpec) -> None:
    """Nothing is made up that the contract does not say; and nothing of a failed output is told as degraded."""
    found = come_to(spec, {**GOOD, "category": "weather", "priority": "asap"})
    assert isinstance(found.verdict, Failed)
    assert ([error.dotted for error in found.verdict.errors], found.degraded) == (["category"], ())


def test_two_keys_for_a_field_fail(spec: ContractSpec) -> None:
    """Which of them counts is not guessed."""
    assert isinstance(come_to(spec, {**GOOD, "title": "Another"}).verdict, Failed)


def test_lines_of_keys_and_values_are_read(spec: ContractSpec) -> None:
    """A small model that writes no JSON is understood all the same."""
    text = "Here is it:\nTitle: The order is late\nCategory: Account Access\nPriority: **high**\nSentiment: calm"
    found = read(text, contract=contract(spec, mode="strict", policy_hash="0" * 64), spec=spec)
    assert isinstance(found.verdict, Passed)
    assert (found.verdict.value["category"], found.verdict.value["priority"], found.degraded) == ("login", "p1", ())


def test_words_without_any_key_fail(spec: ContractSpec) -> None:
    """Defaults are for gaps: an output that says nothing is none."""
    found = read("I am sorry, I cannot: help.", contract=contract(spec, mode="m", policy_hash="0" * 64), spec=spec)
    assert isinstance(found.verdict, Failed)


class Own(BaseModel):
    """A contract that no policy describes."""

    size: int


def test_a_model_of_ones_own_is_checked_only() -> None:
    """There is no rule to degrade by."""
    assert read('so: {"size": 3}', contract=Own, spec=None) == Canonical(verdict=Passed(value={"size": 3}))
    assert isinstance(read("size: 3", contract=Own, spec=None).verdict, Failed)
