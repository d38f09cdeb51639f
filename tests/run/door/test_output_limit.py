"""The output limit is in every request once, in the provider's own words, and nothing else lifts it."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from pydantic import ConfigDict, SecretStr

import stateward as sw
from stateward.run.door.output_limit import NESTS, SPELLINGS, forced, limit_in, parameter_of, replies_in, said_by
from stateward.testing import ScriptedModel


def openai(**fields: Any) -> ChatOpenAI:
    return ChatOpenAI(model="small", api_key=SecretStr("k"), base_url="http://localhost:1/v1", **fields)


def payload(model: ChatOpenAI, options: dict[str, Any], *, most: int | None = 100) -> dict[str, Any]:
    """What is sent to an OpenAI-compatible server."""
    role = sw.ModelRole(name="m", model=model, max_output_tokens=most)
    limited = role.ready(options).model
    assert isinstance(limited, ChatOpenAI)
    # The last step before the client of OpenAI, which LangChain has no public way to.
    make: Any = getattr(limited, "_get_request_payload")  # noqa: B009  # private
    return make([HumanMessage("hi")], **role.ready(options).options)


def limits(sent: dict[str, Any]) -> dict[str, Any]:
    found = {name: value for name, value in sent.items() if name in SPELLINGS}
    for nest in NESTS:
        inside: dict[str, Any] = sent.get(nest) or {}
        found.update({f"{nest}.{name}": value for name, value in inside.items() if name in SPELLINGS})
    return found


LIFTS: list[dict[str, Any]] = [
    {},
    *({name: 1_000_000} for name in SPELLINGS),
    {"extra_body": {"max_tokens": 1_000_000, "top_k": 3}},
    {"max_tokens": 5000, "max_completion_tokens": 6000},
    {"max_tokens": -1},
]


@pytest.mark.parametrize("options", LIFTS, ids=str)
@pytest.mark.parametrize(
    "fields",
    [{}, {"max_tokens": 5000}, {"extra_body": {"max_tokens": 5000}}, {"model_kwargs": {"max_output_tokens": 5000}}],
    ids=str,
)
def test_nothing_lifts_the_limit_of_a_chat_completion(options: dict[str, Any], fields: dict[str, Any]) -> None:
    """Neither the call, nor the model, nor what is nested in either."""
    assert limits(payload(openai(**fields), options)) == {"max_completion_tokens": 100}


@pytest.mark.parametrize("options", LIFTS, ids=str)
@pytest.mark.parametrize("fields", [{}, {"max_tokens": 5000}], ids=str)
def test_nothing_lifts_the_limit_of_a_response(options: dict[str, Any], fields: dict[str, Any]) -> None:
    """With the Responses API it has another name."""
    model = openai(use_responses_api=True, **fields)
    assert limits(payload(model, options)) == {"max_output_tokens": 100}


@pytest.mark.parametrize(
    ("fields", "options", "most"),
    [
        ({"max_tokens": 50}, {}, 100),
        ({}, {"max_output_tokens": 50}, 100),
        ({"max_tokens": 80}, {"max_tokens": 50}, None),
    ],
)
def test_smaller_limit_stands(fields: dict[str, Any], options: dict[str, Any], most: int | None) -> None:
    """Of the role, the model and the call the smallest is sent."""
    assert limits(payload(openai(**fields), options, most=most)) == {"max_completion_tokens": 50}


def test_other_options_are_left_alone() -> None:
    """Also those beside a limit that is taken out."""
    sent = payload(openai(), {"extra_body": {"max_tokens": 9, "top_k": 3}, "seed": 7})
    assert (sent["extra_body"], sent["seed"]) == ({"top_k": 3}, 7)


class ChatOllama(ScriptedModel):
    """Named as LangChain's, with the fields that count here."""

    num_predict: int | None = None


class ChatGoogleGenerativeAI(ScriptedModel):
    """Named as LangChain's."""


class ChatAnthropic(ScriptedModel):
    """Named as LangChain's."""


@pytest.mark.parametrize(
    ("kind", "name"),
    [(ChatGoogleGenerativeAI, "max_output_tokens"), (ChatAnthropic, "max_tokens"), (ScriptedModel, "max_tokens")],
)
def test_each_provider_has_its_own_name_for_it(kind: type[ScriptedModel], name: str) -> None:
    """The caller's spelling does not matter."""
    role = sw.ModelRole(name="m", model=kind(), max_output_tokens=100)
    assert role.ready({"max_completion_tokens": 500}).options == {name: 100}


def test_ollama_reads_it_from_the_model_or_its_options() -> None:
    """It has no such parameter of a call."""
    role = sw.ModelRole(name="m", model=ChatOllama(num_predict=500), max_output_tokens=100)
    limited = role.ready({}).model
    assert isinstance(limited, ChatOllama)
    assert (parameter_of(role.model), limited.num_predict, role.ready({}).options) == ("num_predict", 100, {})
    assert role.ready({"options": {"num_predict": 900, "seed": 7}}).options == {
        "options": {"num_predict": 100, "seed": 7}
    }


def test_role_may_name_it_itself() -> None:
    """For a class nobody knows."""
    role = sw.ModelRole(name="m", model=ScriptedModel.of(), max_output_tokens=100, output_parameter="max_length")
    assert role.ready({"max_length": 500}).options == {"max_length": 100}
    assert role.ready({"max_length": 50}).options == {"max_length": 50}


@pytest.mark.parametrize("nest", ["generation_config", "options", "model_kwargs"])
def test_what_is_nested_twice_lifts_no_limit(nest: str) -> None:
    """Neither a limit nor a number of replies hides there."""
    options = {"extra_body": {nest: {"max_output_tokens": 900, "n": 5}}}
    model = ScriptedModel.of("x")
    assert forced(options, limit=10, parameter="max_tokens") == {"extra_body": {nest: {"n": 5}}, "max_tokens": 10}
    assert (replies_in(options, model=model), limit_in(options, model=model, parameter="max_tokens")) == (5, 900)


class Worked(ScriptedModel):
    """It works its limit out, and says how many replies it gives only when asked."""

    @property
    def max_tokens(self) -> int:
        return 7

    def __getattr__(self, item: str) -> Any:
        usual: Any = super()
        return 3 if item == "n" else usual.__getattr__(item)


class Open(ScriptedModel):
    """It takes fields that its class does not name."""

    model_config = ConfigDict(extra="allow")


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (Worked(), {"max_tokens": 7, "n": 3}),
        (Open.model_validate({"num_predict": 5}), {"num_predict": 5}),
        (openai(max_tokens=9, n=2), {"max_tokens": 9, "n": 2}),
        (ScriptedModel(), {}),
    ],
    ids=["worked out", "not named", "fields", "nothing"],
)
def test_what_a_model_says_of_itself_is_found_wherever_it_stands(model: BaseChatModel, said: dict[str, Any]) -> None:
    """In a field, in a property, among further fields, or told when it is asked."""
    assert said_by(model, ("max_tokens", "num_predict", "n", "best_of")) == said
