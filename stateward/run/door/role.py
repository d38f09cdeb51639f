"""Models by role: what may be called, what it costs at most, and what is bound to every call."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import RunnableBinding

from stateward.errors import DefinitionError

_PER_MESSAGE = 16
"""Upper bound of the tokens a provider adds around one message."""
_ADVICE = (
    "Pass the chat model itself, or `model.bind(…)`. Retries belong into the model (`max_retries`), another model into "
    "another state that `error.activity` leads to, callbacks and tags into the model (`callbacks`, `tags`) or into the "
    "config of the run."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRole:
    """A chat model with what the door must know to bound its cost."""

    name: str
    model: BaseChatModel
    usd_per_million_input: float | None = None
    usd_per_million_output: float | None = None
    max_output_tokens: int | None = None
    output_parameter: str = "max_tokens"
    """The provider's own name of the output limit."""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What is sent with every call, as `model.bind(…)` gives it; the call's own options win."""

    def asked(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Put the role's options under those of a call, and the output limit over both.

        The limit is forced into the request, so that the reservation is an upper bound.

        Args:
            options: The call's own, `stop` included.

        Returns:
            What is sent beside the messages.
        """
        merged = {**self.options, **options}
        if self.max_output_tokens is None:
            return merged
        return {**merged, self.output_parameter: self.output_limit(merged)}

    def output_limit(self, options: Mapping[str, Any]) -> int | None:
        """Return how many tokens a call may get back, or None when nothing limits them.

        Args:
            options: What is sent beside the messages. A limit that is no number above 0 is none.
        """
        limits = (self.max_output_tokens, options.get(self.output_parameter))
        return min((limit for limit in limits if isinstance(limit, int) and limit > 0), default=None)

    def bound_usd(self, messages: Sequence[BaseMessage], options: Mapping[str, Any]) -> float | None:
        """Return the most one call can cost, or None when that is not known.

        Args:
            messages: What is sent. A token is at least one byte of UTF-8, so bytes bound tokens from above.
            options: What else is sent, tool schemas for instance.

        Returns:
            US dollars, or None without a price or without an output limit.
        """
        limit = self.output_limit(options)
        if self.usd_per_million_input is None or self.usd_per_million_output is None or limit is None:
            return None
        sent = sum(len(str(m.content).encode()) + len(calls_text(m)) + _PER_MESSAGE for m in messages)
        sent += len(json.dumps(options, default=str).encode()) if options else 0
        return self.price(sent, limit)

    def price(self, tokens_in: int, tokens_out: int) -> float:
        """Return what tokens cost.

        Args:
            tokens_in: Input tokens, ≥ 0.
            tokens_out: Output tokens, ≥ 0.

        Returns:
            US dollars; 0 without a price.
        """
        per_in = self.usd_per_million_input or 0.0
        per_out = self.usd_per_million_output or 0.0
        return (tokens_in * per_in + tokens_out * per_out) / 1_000_000


def role_of(name: str, model: object) -> ModelRole:
    """Make the role of a model, so that nothing that was wrapped around the model is lost.

    Args:
        name: The role's name.
        model: A chat model, one with options bound to it, or a role that has either.

    Returns:
        A role whose model is a bare chat model.

    Raises:
        DefinitionError: It is something else, something else than options is bound to it, or it has a cache.
    """
    role = model if isinstance(model, ModelRole) else None
    where = f"models[{name!r}]"
    bare, options = unbound(role.model if role else model, where=where)
    _refuse_cache(bare, where=where)
    if role is None:
        return ModelRole(name=name, model=bare, options=options)
    return replace(role, model=bare, options={**options, **role.options})


def _refuse_cache(model: BaseChatModel, *, where: str) -> None:
    """Refuse a cache of the model's own: it would answer in the place of the door, or be left out unseen."""
    if model.cache is not None and model.cache is not False:
        raise DefinitionError(
            "The model has a cache, which would answer calls that nobody decided, counted or journaled",
            where=where,
            fix="Leave `cache` out; an activity that is entered again gets its completions from the journal.",
        )


def unbound(model: object, *, where: str) -> tuple[BaseChatModel, dict[str, Any]]:
    """Take a chat model and the options that are bound to it apart.

    Args:
        model: A chat model, or `model.bind(…)`.
        where: Who gave it, for messages.

    Returns:
        The bare model and its options.

    Raises:
        DefinitionError: It is something else, or something else than options is bound to it.
    """
    if isinstance(model, BaseChatModel):
        return model, {}
    if not isinstance(model, RunnableBinding):
        raise DefinitionError(f"`{type(model).__name__}` is not a chat model", where=where, fix=_ADVICE)
    binding = cast("RunnableBinding[Any, Any]", model)
    if not isinstance(binding.bound, BaseChatModel):
        inner = type(binding.bound).__name__
        raise DefinitionError(f"Options are bound to `{inner}`, which is not a chat model", where=where, fix=_ADVICE)
    if binding.config or binding.config_factories:
        raise DefinitionError("A config or a listener is bound to the model", where=where, fix=_ADVICE)
    return binding.bound, dict(binding.kwargs)


def calls_text(message: BaseMessage) -> str:
    """Write the tool calls of a message without their ids; empty when there are none.

    Args:
        message: Any message.
    """
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    return json.dumps([{"name": c["name"], "args": c["args"]} for c in calls], default=str) if calls else ""
