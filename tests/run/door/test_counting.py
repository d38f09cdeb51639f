"""Tokens are counted by the model in use where it can without a network, else by bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from stateward.errors import RunError
from stateward.run.door.counting import counter, tokens_beside
from stateward.testing import ScriptedModel
from tests.charts.stand_in import role

HI = [HumanMessage("Grüße")]


class Counting(ScriptedModel):
    """A model with a counter of its own."""

    def get_num_tokens_from_messages(self, messages: list[BaseMessage], tools: Sequence[Any] | None = None) -> int:
        return 3 * len(messages)


def openai(**fields: Any) -> ChatOpenAI:
    return ChatOpenAI(model="gpt-4o", api_key=SecretStr("k"), base_url="http://localhost:1/v1", **fields)


class Letters:
    """A tokenizer with a token for each letter, as tiktoken would have it."""

    def encode(self, text: str) -> list[int]:
        return list(map(ord, text))


def by_words(text: str) -> list[int]:
    return list(range(len(text.split())))


def loads_nothing(*_: Any) -> Any:
    raise AssertionError("a tokenizer was to be fetched")


def test_model_counts_for_itself() -> None:
    """A class that has a counter of its own is asked."""
    assert counter(role("m", Counting.of()))(HI) == 3


def test_function_that_was_given_to_the_model_counts() -> None:
    """LangChain's `custom_get_token_ids` needs no network, whatever the class would do."""
    count = counter(role("m", openai(custom_get_token_ids=by_words)))
    assert count([HumanMessage("one two three")]) == 8 + 5  # type, three words, no calls


@pytest.mark.parametrize("model", [ScriptedModel.of(), openai()])
def test_nothing_is_fetched_to_count(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a tokenizer at hand the bytes are counted, which are never fewer than the tokens."""
    monkeypatch.setattr("tiktoken.registry.ENCODINGS", {})
    monkeypatch.setattr("tiktoken.load.read_file", loads_nothing)
    monkeypatch.setattr("langchain_core.language_models.base.get_tokenizer", loads_nothing)
    assert counter(role("m", model))(HI) == len("Grüße".encode()) + 16


def test_loaded_tokenizer_of_openai_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has loaded it for the model gets its count."""
    monkeypatch.setattr("tiktoken.registry.ENCODINGS", {"o200k_base": Letters()})
    assert counter(role("m", openai()))([HumanMessage("hi")]) == 3 + len("user") + len("hi") + 3


def test_counter_that_does_not_know_its_model_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the model's own counter gives up, the bytes are counted."""

    class Unsure(Counting):
        def get_num_tokens_from_messages(self, messages: list[BaseMessage], tools: Any = None) -> int:
            raise NotImplementedError

    assert counter(role("m", Unsure.of()))(HI) == len("Grüße".encode()) + 16


def test_picture_needs_a_bound_of_its_role() -> None:
    """Its bytes say nothing of its tokens."""
    picture = [HumanMessage([{"type": "image", "url": "http://localhost:1/a.png"}])]
    assert counter(role("m", Counting.of(), max_block_tokens=900))(picture) == 900 + 16
    with pytest.raises(RunError, match=r"`max_block_tokens` of its role"):
        counter(role("m", Counting.of()))(picture)


def test_tools_and_schemas_are_counted_with_the_messages() -> None:
    """Other options are not read by the model."""
    count = counter(role("m", ScriptedModel.of()))
    assert tokens_beside({"temperature": 0, "stop": ["."]}, count=count) == 0
    assert tokens_beside({"tools": [{"name": "look"}]}, count=count) == len('{"tools": [{"name": "look"}]}') + 16
