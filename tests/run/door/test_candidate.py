"""A call as it would be sent to a role: what it is shown, its bound, and no retries beside those of the policy."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

import stateward as sw
from stateward.govern.effective import Effective, effective
from stateward.govern.kinds.models import ModelRule
from stateward.run.door.candidate import Candidate, candidate, without_retries
from stateward.testing import ScriptedModel
from tests.charts.stand_in import role, ruled


def openai(**fields: Any) -> ChatOpenAI:
    return ChatOpenAI(model="small", api_key=SecretStr("k"), base_url="http://localhost:1/v1", **fields)


def under(rule: ModelRule) -> Effective:
    return effective([("", ruled(rule))], path="ACT")


def made(model: Any, rule: ModelRule, **options: Any) -> Candidate:
    said = [HumanMessage("hi")]
    return candidate(
        role("m", model, cleared="internal"), messages=said, options=options, effective=under(rule), path="ACT"
    )


def test_request_has_what_the_door_decides_by() -> None:
    """Its bounds, and what the model is cleared for."""
    one = made(ScriptedModel.of(), ModelRule(tries=2), stop=["."])
    request = one.request
    assert (request.kind, request.name, request.path, request.cleared) == ("model", "m", "ACT", "internal")
    assert (one.stop, one.options, one.rule.tries) == (["."], {"max_tokens": 100}, 2)
    assert (request.estimate_tokens, request.estimate_usd) == (one.bound_tokens, one.bound_usd)


def test_policy_that_says_how_often_is_the_only_one() -> None:
    """OpenAI's client would retry by itself, unseen and unmetered; the model of the role is not changed."""
    model = openai(max_retries=5)
    once = made(model, ModelRule(tries=2)).model
    assert isinstance(once, ChatOpenAI)
    clients = (once.root_client, once.root_async_client, once.client._client, once.async_client._client)
    assert [each.max_retries for each in clients] == [0, 0, 0, 0]
    assert (model.root_client.max_retries, model.max_retries) == (5, 5)


def test_without_such_a_rule_the_model_retries_by_itself() -> None:
    """As whoever made it wants."""
    model = openai(max_retries=5)
    assert made(model, ModelRule(break_after=2)).model is model


def test_clients_that_a_model_keeps_are_made_anew() -> None:
    """As LangChain's model of Anthropic keeps them."""

    class Keeping(ScriptedModel):
        max_retries: int = 4

        @cached_property
        def client(self) -> int:
            return self.max_retries

    model = Keeping()
    assert model.client == 4
    once = without_retries(model)
    assert isinstance(once, Keeping)
    assert (once.client, model.client) == (0, 4)


def test_google_counts_the_first_attempt() -> None:
    """There 0 is not none, but the default."""

    class ChatGoogleGenerativeAI(ScriptedModel):
        max_retries: int = 6

    once = without_retries(ChatGoogleGenerativeAI())
    assert isinstance(once, ChatGoogleGenerativeAI)
    assert once.max_retries == 1


def test_model_without_retries_is_left_as_it_is() -> None:
    """There is nothing to switch off."""
    model: sw.ModelRole = role("m", ScriptedModel.of())
    assert without_retries(model.model) is model.model


@pytest.mark.parametrize("options", [{}, {"stop": ["ä"]}, {"tools": [{"type": "function", "name": "é"}], "n": 2}])
@pytest.mark.parametrize("fields", [{}, {"extra_body": {"seed": 7, "max_completion_tokens": 90}}, {"n": 3}])
def test_the_bound_of_a_call_is_that_of_its_role(options: dict[str, Any], fields: dict[str, Any]) -> None:
    """What is read and written once for a call comes to what the role says when it is asked part by part."""
    spoken = role("m", openai(**fields), options={"user": "ü"})
    said = [HumanMessage("hi")]
    one = candidate(spoken, messages=said, options=options, effective=under(ModelRule()), path="ACT")
    most = spoken.bound(said, spoken.ready(options).options)
    assert (one.request.estimate_tokens, one.request.estimate_usd) == (most.tokens, most.usd)
    assert one.model == spoken.ready(options).model
