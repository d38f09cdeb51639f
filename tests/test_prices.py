"""What models cost: a file of one's own counts before the public list."""

from __future__ import annotations

from pathlib import Path

import pytest

from stateward.config import ModelConfig
from stateward.errors import ConfigError
from stateward.models import chat_models, model_role
from stateward.prices import load_prices, price_of
from stateward.testing import ScriptedModel

FILE = """
prices:
  gpt-4o-mini: {usd_per_million_input: 1, usd_per_million_output: 4, usd_per_million_cached: 0.5}
  meta/llama-3.3: {usd_per_million_input: 0.1, usd_per_million_output: 0.2}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "prices.yaml"
    path.write_text(FILE)
    return path


def test_file_counts_before_the_public_list(file: Path) -> None:
    """Also for a model that the list has."""
    models = {
        "a": ModelConfig(provider="openai", model="gpt-4o-mini"),
        "b": ModelConfig(provider="openai", model="meta/llama-3.3"),
    }
    roles = chat_models(models, env={}, prices=file)
    assert [each.usd_per_million_input for each in roles.values()] == [1.0, 0.1]
    assert [each.usd_per_million_cached for each in roles.values()] == [0.5, None]


def test_configuration_counts_before_the_file(file: Path) -> None:
    """It is nearer to the role."""
    config = ModelConfig(provider="openai", model="gpt-4o-mini", usd_per_million_input=7, usd_per_million_output=8)
    assert chat_models({"a": config}, env={}, prices=file)["a"].usd_per_million_output == 8


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("prices: {m: {usd_per_million_input: 1}}", "usd_per_million_output"),
        ("prices: {m: {usd_per_million_input: 1, usd_per_million_output: 2, per_call: 3}}", "per_call"),
        ("prices: {m: {usd_per_million_input: -1, usd_per_million_output: 2}}", "usd_per_million_input"),
        ("price: {}", "price"),
    ],
    ids=["missing", "unknown", "negative", "misspelt"],
)
def test_wrong_file_is_refused(tmp_path: Path, text: str, key: str) -> None:
    """The error names the place."""
    path = tmp_path / "prices.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as refused:
        load_prices(path)
    assert key in refused.value.key


def test_missing_file_is_refused(tmp_path: Path) -> None:
    """A price that is looked for and not found is no price of zero."""
    with pytest.raises(ConfigError):
        load_prices(tmp_path / "prices.yaml")


@pytest.mark.parametrize("cached", [{"usd_per_million_cached": 1.0}, {"usd_per_million_input": 1.0}], ids=str)
def test_half_a_price_is_refused(cached: dict[str, float]) -> None:
    """It would count for nothing."""
    with pytest.raises(ValueError, match="or no price at all"):
        ModelConfig.model_validate({"provider": "openai", **cached})


def test_public_price_has_its_cache_and_its_steps() -> None:
    """A model that costs more in long calls is charged so in these alone."""
    price = price_of("claude-sonnet-4-5")
    assert price is not None
    assert (price.usual.input, price.usual.output, price.usual.cached) == (3.0, 15.0, 0.3)
    (step,) = price.above
    assert (step.above, step.input, step.output) == (200_000, 6.0, 22.5)


def test_unknown_model_has_none() -> None:
    """So that a money fuse refuses it."""
    assert price_of("nobody-knows-this") is None


def test_model_made_by_hand_gets_its_price(file: Path) -> None:
    """By the name that it says itself."""

    class Named(ScriptedModel):
        model_name: str = "meta/llama-3.3"

    role = model_role("writer", Named(), max_output_tokens=50, prices=load_prices(file), cleared="personal")
    assert (role.usd_per_million_output, role.max_output_tokens, role.cleared) == (0.2, 50, "personal")
    assert model_role("writer", ScriptedModel(), max_output_tokens=50).rates == ()
