"""What configuration says of models: how to reach them, and what their tokens cost."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from stateward.govern.kinds.shape import Sensitivity, Strict

Money = Annotated[float, Field(ge=0, le=1_000_000)]


class PriceConfig(Strict):
    """What a million tokens of one model cost, in US dollars."""

    usd_per_million_input: Money
    usd_per_million_output: Money
    usd_per_million_cached: Money | None = None
    """Input read from the provider's cache; left out: as other input."""
    usd_per_million_cache_write: Money | None = None
    """Input written to the provider's cache; left out: as other input."""


class PricesConfig(Strict):
    """A file of prices."""

    prices: dict[str, PriceConfig]
    """The model, as its provider calls it, to its price."""


class ModelConfig(Strict):
    """How to reach the chat model of one role."""

    provider: Literal["scripted", "openai"]
    """scripted: answers from a script, without network. openai: any OpenAI-compatible endpoint."""
    model: str = "scripted"
    base_url: str | None = None
    base_url_env: str | None = None
    """The environment variable that holds the base URL."""
    api_key_env: str | None = None
    """The environment variable that holds the key; keys are never written in a file."""
    max_output_tokens: Annotated[int, Field(ge=1, le=1_000_000)] = 1024
    max_block_tokens: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """The most tokens that one picture, sound or other block of a message that is no text takes."""
    usd_per_million_input: Money | None = None
    usd_per_million_output: Money | None = None
    usd_per_million_cached: Money | None = None
    usd_per_million_cache_write: Money | None = None
    cleared: Sensitivity = "public"
    """The most sensitive data that the model may see."""
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    timeout_s: Annotated[float, Field(gt=0, le=86_400)] = 60.0

    @model_validator(mode="after")
    def _one_address(self) -> Self:
        if self.base_url is not None and self.base_url_env is not None:
            raise ValueError("either `base_url` or `base_url_env`, not both")
        return self

    @model_validator(mode="after")
    def _a_whole_price(self) -> Self:
        both = (self.usd_per_million_input, self.usd_per_million_output)
        rest = (self.usd_per_million_cached, self.usd_per_million_cache_write)
        if None in both and any(price is not None for price in (*both, *rest)):
            raise ValueError("both `usd_per_million_input` and `usd_per_million_output`, or no price at all")
        return self
