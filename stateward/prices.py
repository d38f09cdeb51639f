"""What models cost: from a file of one's own, else from the public list of `genai-prices`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from genai_prices import Usage, calc_price
from genai_prices.types import ModelPrice, TieredPrices

from stateward.config import load
from stateward.model_config import ModelConfig, PriceConfig, PricesConfig
from stateward.run.door.price import Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a model's tokens cost."""

    usual: Rate
    above: tuple[Rate, ...] = ()
    """Other rates, for calls of more input tokens than a number."""

    @property
    def of_role(self) -> dict[str, Any]:
        """The price in the words of `ModelRole`."""
        return {
            "usd_per_million_input": self.usual.input,
            "usd_per_million_output": self.usual.output,
            "usd_per_million_cached": self.usual.cached,
            "usd_per_million_cache_write": self.usual.cache_write,
            "rates_above": self.above,
        }


def load_prices(file: str | Path) -> Mapping[str, Price]:
    """Read a file of prices.

    Args:
        file: YAML: `prices:`, and under it the model, as its provider calls it, with `usd_per_million_input`,
            `usd_per_million_output`, and optionally `usd_per_million_cached` and `usd_per_million_cache_write`.

    Returns:
        The price of each model.

    Raises:
        ConfigError: The file cannot be read, a key is unknown, or a price is missing or no number from 0.
    """
    read = load(PricesConfig, file, env={}, prefix="prices")
    return {model: _price(said) for model, said in read.prices.items()}


def configured(config: ModelConfig) -> Price | None:
    """Return the price that a model's own configuration says; None when it says none.

    Args:
        config: The configuration.
    """
    if config.usd_per_million_input is None or config.usd_per_million_output is None:
        return None
    names = PriceConfig.model_fields
    return _price(PriceConfig(**{name: value for name, value in config if name in names}))


def price_of(model: str, *, prices: Mapping[str, Price] | None = None) -> Price | None:
    """Return the price of a model.

    Args:
        model: As its provider calls it.
        prices: Prices that count before the public list.

    Returns:
        The price; None when neither has it, so that a money fuse refuses the model.
    """
    return (prices or {}).get(model) or _listed(model)


def _price(said: PriceConfig) -> Price:
    return Price(
        usual=Rate(
            input=said.usd_per_million_input,
            output=said.usd_per_million_output,
            cached=said.usd_per_million_cached,
            cache_write=said.usd_per_million_cache_write,
        )
    )


def _listed(model: str) -> Price | None:
    try:
        listed = calc_price(Usage(input_tokens=1, output_tokens=1), model_ref=model).model_price
    except LookupError:
        return None
    if listed.input_mtok is None or listed.output_mtok is None:
        return None  # priced by something else than tokens
    starts = sorted({tier.start for part in _parts(listed).values() for tier in _tiers(part)})
    return Price(usual=_rate(listed, 0), above=tuple(_rate(listed, start) for start in starts))


def _rate(listed: ModelPrice, above: int) -> Rate:
    return Rate(above=above, **{name: _dollars(part, above) for name, part in _parts(listed).items()})  # pyright: ignore[reportArgumentType]  # input and output are there


def _parts(listed: ModelPrice) -> dict[str, Decimal | TieredPrices | None]:
    return {
        "input": listed.input_mtok,
        "output": listed.output_mtok,
        "cached": listed.cache_read_mtok,
        # Which of its caches a provider writes to is not told by LangChain: the dearest bounds both.
        "cache_write": _dearest(listed.cache_write_mtok, listed.cache_write_1h_mtok),
    }


def _dearest(one: Decimal | TieredPrices | None, other: Decimal | TieredPrices | None) -> Decimal | TieredPrices | None:
    if one is None or other is None:
        return other if one is None else one
    return one if (_dollars(one, 0) or 0.0) >= (_dollars(other, 0) or 0.0) else other


def _tiers(part: Decimal | TieredPrices | None) -> list[Any]:
    return part.tiers if isinstance(part, TieredPrices) else []


def _dollars(part: Decimal | TieredPrices | None, above: int) -> float | None:
    if not isinstance(part, TieredPrices):
        return None if part is None else float(part)
    reached = [tier.price for tier in part.tiers if tier.start <= above]
    return float(reached[-1] if reached else part.base)
