"""What is asked of a model is put together before any call: contract, tiers, retries, messages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.prompt_values import StringPromptValue
from pydantic import BaseModel

from stateward.errors import DefinitionError
from stateward.govern.effective import effective
from stateward.govern.kinds.contract_spec import Tier
from stateward.govern.kinds.models import ModelRule, RoleRule
from stateward.run.door.model import GovernedModel
from stateward.run.structured.request import messages_of, request
from tests.charts.drive import policy


def asked(*, allowed: tuple[Tier, ...] | None = None, role: tuple[Tier, ...] | None = None, **given: Any) -> Any:
    """Ask for a ticket under a policy whose contract and role allow some tiers."""
    base = policy("tiered")
    rules = replace(
        base,
        contracts=(replace(base.contracts[0], tiers=allowed),),
        models=(RoleRule(role="writer", rule=ModelRule(tiers=role)),),
    )
    options = {"contract": "Ticket", "tiers": None, "retries": None} | given
    holds = effective([("", rules)], path="WRITE")
    return request("hi", model=GovernedModel(role="writer"), effective=holds, **options)


TIERS = [
    ({}, ("schema", "instructor", "prompt")),
    ({"allowed": ("prompt", "schema")}, ("prompt", "schema")),
    ({"role": ("instructor", "prompt")}, ("instructor", "prompt")),
    ({"tiers": ["prompt", "schema"], "role": ("schema", "prompt")}, ("prompt", "schema")),
    ({"tiers": ["prompt", "schema"], "allowed": ("schema",)}, ("schema",)),
]


@pytest.mark.parametrize(("given", "tiers"), TIERS)
def test_tiers_are_narrowed_by_author_contract_and_role(given: dict[str, Any], tiers: tuple[str, ...]) -> None:
    """Each may leave some out, none may bring one back."""
    assert asked(**given).tiers == tiers


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"tiers": ["json"]}, "`json` is no tier"),
    ({"tiers": ["prompt"], "role": ("schema",)}, "No tier is left for the model `writer`"),
    ({"role": ()}, "the role none"),
    ({"retries": -1}, "`retries` is -1"),
    ({"contract": "Letter"}, "no policy has a contract `Letter`"),
]


@pytest.mark.parametrize(("given", "told"), WRONG)
def test_what_cannot_be_asked_is_a_definition_error(given: dict[str, Any], told: str) -> None:
    """It is told before any call."""
    with pytest.raises(DefinitionError, match=told):
        asked(**given)


class Own(BaseModel):
    """A contract in code."""

    size: int


def test_retries_are_the_authors_the_contracts_or_two() -> None:
    """A number of the author goes before that of the policy, also if it is 0."""
    assert [asked().retries, asked(retries=0).retries, asked(contract=Own).retries] == [1, 0, 2]


def test_the_title_of_a_policys_contract_names_mode_and_hash() -> None:
    """That of a model in code is its name."""
    assert asked().title.startswith("Ticket-strict-")
    assert asked(contract=Own).title == "Own"


FORMS = [
    ("hi", (HumanMessage(content="hi"),)),
    ([("system", "be"), ("user", "hi")], (SystemMessage(content="be"), HumanMessage(content="hi"))),
    ([{"role": "user", "content": "hi"}], (HumanMessage(content="hi"),)),
    (StringPromptValue(text="hi"), (HumanMessage(content="hi"),)),
]


@pytest.mark.parametrize(("given", "messages"), FORMS)
def test_messages_may_have_any_form_that_langchain_takes(given: Any, messages: tuple[Any, ...]) -> None:
    """A text, pairs, dictionaries, or a prompt's value."""
    assert messages_of(given) == messages
