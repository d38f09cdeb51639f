"""What the tokens of a model cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from langchain_core.messages import AIMessage, BaseMessage

_MILLION = 1_000_000
_WRITTEN = ("cache_creation", "ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")
"""What LangChain calls the input that a provider wrote to its cache; each token is counted under one of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """What a million tokens cost, in US dollars."""

    input: float
    output: float
    """Reasoning is output, whether it is shown or not."""
    cached: float | None = None
    """Input that the provider read from its cache; None: as other input."""
    cache_write: float | None = None
    """Input that it wrote to its cache; None: as other input."""
    above: int = 0
    """Holds for calls of more input tokens than this, for all of their tokens."""

    @property
    def dearest_input(self) -> float:
        """The most that a million input tokens cost, whatever the provider's cache does."""
        return max(self.input, self.cached or 0.0, self.cache_write or 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """The tokens that one call took."""

    sent: int
    """All input, what came from a cache included."""
    got: int
    """All output, reasoning included."""
    cached: int = 0
    cache_write: int = 0

    @property
    def total(self) -> int:
        """Sent and got."""
        return self.sent + self.got


def cost(rates: Sequence[Rate], *, taken: Taken) -> float:
    """Return what a call cost.

    Args:
        rates: The model's; none for a model without a price.
        taken: Its tokens.

    Returns:
        US dollars; 0 without a rate.
    """
    fitting = [rate for rate in rates if rate.above == 0 or taken.sent > rate.above]
    if not fitting:
        return 0.0
    rate = max(fitting, key=lambda each: each.above)
    cached, written = min(taken.cached, taken.sent), min(taken.cache_write, taken.sent)
    plain = max(0, taken.sent - cached - written)
    per_cached = rate.input if rate.cached is None else rate.cached
    per_written = rate.input if rate.cache_write is None else rate.cache_write
    dollars = plain * rate.input + cached * per_cached + written * per_written + taken.got * rate.output
    return dollars / _MILLION


def bound(rates: Sequence[Rate], *, sent: int, got: int) -> float | None:
    """Return the most that a call can cost.

    Args:
        rates: The model's.
        sent: Its input tokens at most.
        got: Its output tokens at most.

    Returns:
        US dollars; None without a rate.
    """
    reached = [rate for rate in rates if rate.above == 0 or sent > rate.above]
    return max(((sent * each.dearest_input + got * each.output) / _MILLION for each in reached), default=None)


def taken(message: BaseMessage) -> Taken | None:
    """Read from a reply what it took.

    Args:
        message: What the model said.

    Returns:
        Its tokens, the larger where its provider counts reasoning in the total only; None when it does not say.
    """
    usage = message.usage_metadata if isinstance(message, AIMessage) else None
    if usage is None:
        return None
    sent = usage["input_tokens"]
    # Providers put keys of their own beside those that LangChain's type has.
    details = cast("Mapping[str, int | None]", usage.get("input_token_details") or {})
    return Taken(
        sent=sent,
        got=max(usage["output_tokens"], usage["total_tokens"] - sent),
        cached=details.get("cache_read") or 0,
        cache_write=sum(details.get(name) or 0 for name in _WRITTEN),
    )
