"""Contracts are made from the policy; other spellings are put right before the check."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ValidationError

from stateward.govern.contract import contract, normalise
from stateward.govern.gate import Failed, Passed, check
from stateward.govern.policy import ContractSpec, FieldSpec, Policy

GOOD = {"summary": "The order is late", "category": "other", "priority": "p2", "sentiment": "calm"}


@pytest.fixture
def ticket(working: Policy) -> type[BaseModel]:
    """The Ticket contract of the working policy."""
    return contract(working.contracts[0], mode=working.mode, policy_hash=working.hash)


def test_the_title_carries_mode_and_hash(ticket: type[BaseModel], working: Policy) -> None:
    """A schema shows under which policy it was made, in letters a function name may have."""
    assert ticket.model_json_schema()["title"] == f"Ticket-strict-{working.hash[:12]}"


SPELLINGS = [
    ("priority", "critical", "p0"),
    ("priority", "urgent", "p1"),
    ("priority", "high", "p1"),
    ("priority", "medium", "p2"),
    ("priority", " LOW ", "p3"),
    ("priority", "P0", "p0"),
    ("category", "authentication", "login"),
    ("category", "Account Access", "login"),
    ("category", "Feature request", "feature_request"),
    ("sentiment", "frustrated/urgent", "frustrated"),
    ("sentiment", "anxious", "frustrated"),
]


@pytest.mark.parametrize(("field", "given", "value"), SPELLINGS)
def test_other_spellings_of_values_are_put_right(ticket: type[BaseModel], field: str, given: str, value: str) -> None:
    """The maps of C5 hold, whatever the case and the spacing."""
    assert ticket.model_validate({**GOOD, field: given}).model_dump()[field] == value


def test_other_spellings_of_keys_are_put_right(ticket: type[BaseModel]) -> None:
    """An alias or another case of a key finds its field."""
    data = {**GOOD, "Reproduction Steps": ["click"], "ORDER": "AB-1"}
    checked = ticket.model_validate(data).model_dump()
    assert (checked["steps"], checked["order"]) == (["click"], "AB-1")


WRONG = [
    {"priority": "whenever"},
    {"nonsense": 1},
    {"title": "two keys for one field"},
    {"summary": "    x    "},
    {"summary": "x" * 201},
    {"order": "1234"},
    {"amount_eur": 1000.5},
    {"amount_eur": float("nan")},
    {"steps": ["1", "2", "3", "4"]},
    {"steps": [1]},
    {"summary": None},
]


@pytest.mark.parametrize("wrong", WRONG)
def test_what_does_not_fit_is_refused(ticket: type[BaseModel], wrong: dict[str, object]) -> None:
    """An unmappable value, an unknown key and a value out of range are errors."""
    with pytest.raises(ValidationError):
        ticket.model_validate({**GOOD, **wrong})


def test_optional_fields_have_empty_defaults(ticket: type[BaseModel]) -> None:
    """A missing optional text is None, a missing optional list is empty."""
    checked = ticket.model_validate(GOOD).model_dump()
    assert (checked["order"], checked["steps"]) == (None, [])


def test_a_value_itself_goes_before_an_alias() -> None:
    """An alias cannot take over the name of another value."""
    field = FieldSpec(name="f", type="enum", values=("high", "low"), aliases=(("high", "low"),))
    spec = ContractSpec(name="C", fields=(field,))
    assert normalise({"f": "high"}, spec=spec) == {"f": "high"}


NAMES = ["copy", "schema", "json", "model_dump", "model_config", "model_fields", "_x", "__config__", "normalise", "a-b"]


@pytest.mark.parametrize("name", NAMES)
def test_a_field_may_have_any_name(name: str) -> None:
    """A field named like a part of every pydantic model is a field like others, in data and in the schema."""
    fields = (FieldSpec(name=name, type="str"), FieldSpec(name="copy_", type="int", required=False))
    spec = ContractSpec(name="C", fields=fields, aliases=(("other", name),))
    model = contract(spec, mode="strict", policy_hash="0" * 64)
    assert list(model.model_json_schema()["properties"]) == [name, "copy_"]
    assert check(model, value={"other": "x"}) == check(model, value=f'{{"{name}": "x"}}')
    assert check(model, value={name: "x", "copy_": 1}) == Passed(value={name: "x", "copy_": 1})
    failed = check(model, value={"strange": 1})
    assert isinstance(failed, Failed)
    assert f"`{name}`: expected a value" in failed.feedback
    assert "one of the keys" in failed.feedback


def test_many_such_fields_stay_apart() -> None:
    """Names that differ in underscores only do not take each other's place."""
    names = ("_x", "__x", "x_", "copy", "copy_", "_copy")
    model = contract(
        ContractSpec(name="C", fields=tuple(FieldSpec(name=name, type="str", required=False) for name in names)),
        mode="strict",
        policy_hash="0" * 64,
    )
    assert list(model.model_json_schema()["properties"]) == list(names)
