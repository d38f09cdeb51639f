"""A contract is exported as a JSON schema that strict providers accept."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field

from stateward.govern.contract import contract
from stateward.govern.contract_schema import json_schema
from stateward.govern.policy import ContractSpec, FieldSpec, Policy


@pytest.fixture
def schema(working: Policy) -> dict[str, Any]:
    """The schema of the Ticket contract of the working policy."""
    return json_schema(contract(working.contracts[0], mode=working.mode, policy_hash=working.hash))


def test_the_title_names_contract_mode_and_hash(schema: dict[str, Any], working: Policy) -> None:
    """A provider's log shows under which policy a reply was asked for."""
    assert schema["title"] == f"Ticket-strict-{working.hash[:12]}"


def test_a_title_is_as_short_as_providers_want_it() -> None:
    """A long name is cut."""
    spec = ContractSpec(name="N" * 80, fields=(FieldSpec(name="a", type="str"),))
    assert len(json_schema(contract(spec, mode="strict", policy_hash="0" * 64))["title"]) == 64


def test_objects_are_closed_and_every_key_is_required(schema: dict[str, Any]) -> None:
    """Strict providers accept nothing else."""
    assert schema["additionalProperties"] is False
    assert schema["required"] == list(schema["properties"])


def test_what_may_be_missing_may_be_null(schema: dict[str, Any]) -> None:
    """A key that is always written needs a word for nothing; a list has one."""
    assert schema["properties"]["amount_eur"]["anyOf"][1] == {"type": "null"}
    assert schema["properties"]["steps"]["type"] == "array"


def test_limits_stand_in_the_schema(schema: dict[str, Any]) -> None:
    """What can be enforced while a model writes, is."""
    properties = schema["properties"]
    assert properties["summary"] == {"type": "string", "minLength": 5, "maxLength": 200}
    assert properties["order"]["anyOf"][0]["pattern"] == "^(?:[A-Z]{2}-[0-9]+)$"
    assert properties["steps"]["maxItems"] == 3


def test_a_pattern_that_only_re2_knows_is_told_in_words() -> None:
    """What means something else in JSON Schema is no pattern there."""
    field = FieldSpec(name="a", type="str", pattern="(?i)no", contains=("x",), forbid="`")
    shown = json_schema(contract(ContractSpec(name="C", fields=(field,)), mode="m", policy_hash="0" * 64))
    assert shown["properties"]["a"] == {
        "type": "string",
        "description": "a text that matches (?i)no, contains x, matches ` nowhere",
    }


def test_what_passes_the_contract_passes_the_schema(schema: dict[str, Any], working: Policy) -> None:
    """The schema asks for no more than the contract, once every key is written."""
    ticket = contract(working.contracts[0], mode="strict", policy_hash=working.hash)
    checked = ticket.model_validate(
        {"summary": "It is late", "category": "other", "priority": "p1", "sentiment": "calm"}
    )
    Draft202012Validator.check_schema(schema)
    assert Draft202012Validator(schema).is_valid(checked.model_dump(mode="json"))


class Line(BaseModel):
    """One line."""

    title: str = "x"


class Order(BaseModel):
    """An order."""

    default: Literal["default", "title"]
    lines: list[Line] = Field(default_factory=list[Line])


def test_a_model_of_ones_own_is_closed_as_well() -> None:
    """Models inside models are closed, and names like `title` are names."""
    shown = json_schema(Order)
    assert shown["required"] == ["default", "lines"]
    assert shown["properties"]["default"]["enum"] == ["default", "title"]
    line = shown["$defs"]["Line"]
    assert line["properties"] == {"title": {"type": "string"}}
    assert (line["additionalProperties"], line["required"]) == (False, ["title"])
