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
from stateward.govern.kinds.shape import Sensitivity
from stateward.run.door.bound import Unbounded, tokens_sent
from stateward.run.door.output_limit import (
    NESTS,
    READ,
    forced,
    forced_into,
    limit_in,
    parameter_of,
    replies_in,
    said_by,
)
from stateward.run.door.price import Rate, Taken, bound, cost

_ADVICE = (
    "Pass the chat model itself, or `model.bind(…)`. Retries and another model belong into the policy "
    "(`models.ROLE.tries`, `models.ROLE.fallback`) or into another state that `error.activity` leads to, callbacks and "
    "tags into the model (`callbacks`, `tags`) or into the config of the run."
)
_NO_LIMIT = "its output has no limit; set `max_output_tokens` of its role"
_NO_PRICE = (
    "it has no price; set `usd_per_million_input` and `usd_per_million_output` of its role, or name its model in the "
    "file `prices`"
)
_NO_COUNT = "it is asked for a number of replies that is no number; give `n` one"
_OWN = ("use_previous_response_id", "cached_content", "modalities", "mcp_servers", "tools")
"""Fields of models by which a provider adds something of its own."""
_ADDED = (*NESTS, *_OWN)
_READ = (*READ, *_OWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What one call takes at most."""

    tokens: int | None = None
    """Sent and got; None when nobody can say."""
    usd: float | None = None
    """In US dollars; None when nobody can say."""
    reason: str = ""
    """Why nobody can say, and what to configure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRole:
    """A chat model with what the door must know to bound its cost."""

    name: str
    model: BaseChatModel
    usd_per_million_input: float | None = None
    usd_per_million_output: float | None = None
    usd_per_million_cached: float | None = None
    """Input read from the provider's cache; None: as other input."""
    usd_per_million_cache_write: float | None = None
    """Input written to the provider's cache; None: as other input."""
    rates_above: tuple[Rate, ...] = ()
    """Other prices, for calls with more input tokens than a number."""
    max_output_tokens: int | None = None
    max_block_tokens: int | None = None
    """The most tokens that one picture, sound or other block of a message that is no text takes."""
    output_parameter: str = ""
    """The provider's own name of the output limit; empty: as its class has it."""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What is sent with every call, as `model.bind(…)` gives it; the call's own options win."""
    cleared: Sensitivity = "public"
    """The most sensitive data that the model may see."""
    made: dict[Any, Any] = field(default_factory=dict[Any, Any], init=False, compare=False, repr=False)
    """The governed model of each class, without a door, and what it took over from `model`: see `carried.py`."""

    @property
    def rates(self) -> tuple[Rate, ...]:
        """What its tokens cost; empty without a price."""
        if self.usd_per_million_input is None or self.usd_per_million_output is None:
            return ()
        usual = Rate(
            input=self.usd_per_million_input,
            output=self.usd_per_million_output,
            cached=self.usd_per_million_cached,
            cache_write=self.usd_per_million_cache_write,
        )
        return (usual, *self.rates_above)

    @property
    def _parameter(self) -> str:
        return self.output_parameter or parameter_of(self.model)

    def ready(self, options: Mapping[str, Any]) -> Ready:
        """Put the role's options under those of a call, and the output limit over both and into the model.

        The limit is forced into the request, so that the reservation is an upper bound.

        Args:
            options: The call's own, `stop` included.
        """
        said, merged, parameter = said_by(self.model, _READ), {**self.options, **options}, self._parameter
        limit = self._limit(merged, said, parameter)
        if limit is None:
            return Ready(role=self, options=merged, model=self.model, said=said)
        limited = forced_into(self.model, limit=limit, parameter=parameter)
        return Ready(role=self, options=forced(merged, limit=limit, parameter=parameter), model=limited, said=said)

    def _limit(self, options: Mapping[str, Any], said: Mapping[str, Any], parameter: str) -> int | None:
        """Return how many tokens a reply may have, or None when nothing limits them."""
        found = limit_in(options, model=self.model, parameter=parameter, own=said)
        return min((limit for limit in (self.max_output_tokens, found) if limit is not None), default=None)

    def bound(self, messages: Sequence[BaseMessage], options: Mapping[str, Any]) -> Bound:
        """Say what one call takes at most.

        Args:
            messages: What is sent.
            options: What else is sent: the call's own options, `stop` included.
        """
        return self.most(messages, options, said=said_by(self.model, _READ))

    def most(
        self, messages: Sequence[BaseMessage], options: Mapping[str, Any], *, said: Mapping[str, Any], text: str = ""
    ) -> Bound:
        """Do so with what is at hand already.

        Args:
            messages: What is sent.
            options: As for `bound`.
            said: What the model says of itself, from `ready`.
            text: The options as JSON; empty where nobody has written them.
        """
        # What the model's own fields add to every request, so far as it can be seen.
        own = {name: said[name] for name in _ADDED if said.get(name)} if said else {}
        merged = {**own, **self.options, **options}
        at_hand = text if not own and options.keys() >= self.options.keys() else ""
        sent = tokens_sent(messages, merged, max_block_tokens=self.max_block_tokens, text=at_hand)
        if isinstance(sent, Unbounded):
            return Bound(reason=sent.reason)
        limit = self._limit(merged, said, self._parameter)
        replies = replies_in(merged, model=self.model, own=said)
        if limit is None or replies is None:
            return Bound(reason=_NO_COUNT if replies is None else _NO_LIMIT)
        usd = bound(self.rates, sent=sent, got=limit * replies)
        return Bound(tokens=sent + limit * replies, usd=usd, reason="" if usd is not None else _NO_PRICE)

    def bound_usd(self, messages: Sequence[BaseMessage], options: Mapping[str, Any]) -> float | None:
        """Return the most one call can cost, or None when that is not known.

        Args:
            messages: What is sent.
            options: What else is sent, tool schemas for instance.

        Returns:
            US dollars, or None without a price or without an output limit.
        """
        return self.bound(messages, options).usd

    def price(self, tokens_in: int, tokens_out: int) -> float:
        """Return what tokens cost, none of them from a cache.

        Args:
            tokens_in: Input tokens, ≥ 0.
            tokens_out: Output tokens, ≥ 0.

        Returns:
            US dollars; 0 without a price.
        """
        return cost(self.rates, taken=Taken(sent=tokens_in, got=tokens_out))


@dataclass(slots=True, kw_only=True)
class Ready:
    """A role that is asked with some options; made for each call, so it is not frozen, which would cost more."""

    role: ModelRole
    options: dict[str, Any]
    """What is sent beside the messages."""
    model: BaseChatModel
    """The model as it is called."""
    said: Mapping[str, Any]
    """What the model says of itself."""

    def bound(self, messages: Sequence[BaseMessage], *, text: str) -> Bound:
        """Say what the call takes at most.

        Args:
            messages: What is sent.
            text: The options as JSON.
        """
        return self.role.most(messages, self.options, said=self.said, text=text)


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
