"""What configuration says of models: how to reach them, and what their tokens cost."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

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


class ThinkingConfig(Strict):
    """How many tokens a model may think before it answers, in the words of who serves it."""

    form: Literal["qwen", "anthropic", "gemini"]
    """qwen: `enable_thinking` and `thinking_budget`, in the request and for the chat template (Alibaba, vLLM, SGLang).
    anthropic: `thinking`, of Anthropic's OpenAI-compatible endpoint. gemini: `thinking_config`, of Google's."""
    tokens: Annotated[int, Field(ge=0, le=1_000_000)]
    """The budget; 0 for no thinking. It counts into `max_output_tokens`."""

    def body(self) -> dict[str, Any]:
        """Return what is added to the body of each request."""
        if self.form == "qwen":
            said = {"enable_thinking": self.tokens > 0, **({"thinking_budget": self.tokens} if self.tokens else {})}
            return {**said, "chat_template_kwargs": said}
        if self.form == "anthropic":
            on = {"type": "enabled", "budget_tokens": self.tokens}
            return {"thinking": on if self.tokens else {"type": "disabled"}}
        return {"extra_body": {"google": {"thinking_config": {"thinking_budget": self.tokens}}}}


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
    thinking: ThinkingConfig | None = None
    """How many tokens it may think; left out: as its provider does by default."""

    @model_validator(mode="after")
    def _one_address(self) -> Self:
        if self.base_url is not None and self.base_url_env is not None:
            raise ValueError("either `base_url` or `base_url_env`, not both")
        return self

    @model_validator(mode="after")
    def _room_for_an_answer(self) -> Self:
        if self.thinking is not None and self.thinking.tokens >= self.max_output_tokens:
            raise ValueError("`thinking.tokens` below `max_output_tokens`, which is for thinking and answer together")
        return self

    @model_validator(mode="after")
    def _a_whole_price(self) -> Self:
        both = (self.usd_per_million_input, self.usd_per_million_output)
        rest = (self.usd_per_million_cached, self.usd_per_million_cache_write)
        if None in both and any(price is not None for price in (*both, *rest)):
            raise ValueError("both `usd_per_million_input` and `usd_per_million_output`, or no price at all")
        return self
