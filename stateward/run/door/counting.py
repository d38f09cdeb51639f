"""How many tokens messages have, for the model that is to read them; never over a network.

LangChain's own counters may ask a provider (Anthropic, Google) or fetch a tokenizer's files (OpenAI, and every model
that has none of its own), so a model's counter is trusted only where it is known to work alone. Everywhere else the
bytes are counted, of which a token has at least one: fewer messages are shown then than would fit, never more.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.base import BaseLanguageModel
from langchain_core.messages import BaseMessage, HumanMessage

from stateward.errors import RunError
from stateward.govern.window import Count, unmarked
from stateward.run.door.bound import Unbounded, tokens_sent
from stateward.run.door.role import ModelRole, calls_text

_OVERHEAD = 8
"""Tokens that a message has beside its text, for a tokenizer that counts text only."""
_COUNTERS = ("get_num_tokens_from_messages", "get_num_tokens", "get_token_ids")
_SENT = ("tools", "functions", "response_format")
"""Options that a model reads as it reads messages."""


def counter(role: ModelRole) -> Count:
    """Return what counts the tokens of messages for a role.

    Args:
        role: The role.
    """
    model = role.model

    def by_bytes(messages: Sequence[BaseMessage]) -> int:
        sent = tokens_sent([unmarked(each) for each in messages], {}, max_block_tokens=role.max_block_tokens)
        if isinstance(sent, Unbounded):
            raise RunError(f"A window of tokens cannot be kept: {sent.reason}", where=f"model role `{role.name}`")
        return sent

    def by_model(messages: Sequence[BaseMessage]) -> int:
        if not all(isinstance(message.content, str) for message in messages):
            return by_bytes(messages)  # some counters fetch pictures to measure them
        try:
            return model.get_num_tokens_from_messages(list(messages))
        except (NotImplementedError, ValueError):
            return by_bytes(messages)

    if model.custom_get_token_ids is not None:
        return lambda messages: _by_ids(model, messages)
    return by_model if _counts_alone(model) else by_bytes


def tokens_beside(options: Mapping[str, Any], *, count: Count) -> int:
    """Return the tokens of what is sent beside the messages: tools and schemas.

    Args:
        options: What is sent beside the messages.
        count: Counts for the model that is to read it.
    """
    said = {name: options[name] for name in _SENT if options.get(name)}
    return count([HumanMessage(json.dumps(said, default=str, ensure_ascii=False))]) if said else 0


def _by_ids(model: BaseChatModel, messages: Sequence[BaseMessage]) -> int:
    texts = [json.dumps([each.type, each.content, calls_text(each)], ensure_ascii=False) for each in messages]
    return sum(_OVERHEAD + len(model.get_token_ids(text)) for text in texts)


def _counts_alone(model: BaseChatModel) -> bool:
    """Whether a model's class has a counter of its own that needs no network."""
    own = next(
        (kind for kind in type(model).__mro__ if any(name in vars(kind) for name in _COUNTERS)), BaseLanguageModel
    )
    if own.__module__.startswith("langchain_openai."):
        return _has_encoding(model)
    return not own.__module__.startswith("langchain")


def _has_encoding(model: BaseChatModel) -> bool:
    """Whether tiktoken has loaded what the model counts with; it would fetch the file otherwise."""
    registry = sys.modules.get("tiktoken.registry")
    names = sys.modules.get("tiktoken.model")
    if registry is None or names is None:
        return False
    loaded = cast("Mapping[str, object]", registry.ENCODINGS)
    name = getattr(model, "tiktoken_model_name", None) or getattr(model, "model_name", "")
    try:
        return names.encoding_name_for_model(name) in loaded
    except KeyError:  # LangChain takes one of these then
        return {"cl100k_base", "o200k_base"} <= loaded.keys()
