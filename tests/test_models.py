"""Chat models from configuration."""

from __future__ import annotations

import pytest
from langchain_openai import ChatOpenAI

import stateward as sw
from stateward.config import ModelConfig
from stateward.errors import ConfigError
from stateward.models import chat_model, chat_models, tool_schema
from stateward.testing import ScriptedModel


def test_an_openai_compatible_endpoint_is_reached_by_its_base_url() -> None:
    """No key is needed for a local one."""
    config = ModelConfig(provider="openai", model="qwen3", base_url="http://localhost:8000/v1")

    model = chat_model("writer", config, env={}).model

    assert isinstance(model, ChatOpenAI)
    assert (model.model_name, model.openai_api_base) == ("qwen3", "http://localhost:8000/v1")


def test_usage_is_asked_for_when_a_reply_is_streamed() -> None:
    """A streamed call is charged by what it took, at a local endpoint too."""
    config = ModelConfig(provider="openai", model="qwen3", base_url="http://localhost:8000/v1")

    model = chat_model("writer", config, env={}).model

    assert isinstance(model, ChatOpenAI)
    assert model.stream_usage is True


def test_a_key_comes_from_the_environment_only() -> None:
    """The configuration names the variable."""
    config = ModelConfig(provider="openai", model="gpt-4o-mini", api_key_env="DESK_KEY")

    model = chat_model("writer", config, env={"DESK_KEY": "s3cret"}).model

    assert isinstance(model, ChatOpenAI)
    assert model.openai_api_key is not None
    assert "s3cret" not in repr(model)


def test_a_variable_that_is_not_set_is_named() -> None:
    """The error says which role wanted it."""
    config = ModelConfig(provider="openai", model="gpt-4o-mini", api_key_env="DESK_KEY")

    with pytest.raises(ConfigError, match=r"models\.writer\.api_key_env.*DESK_KEY"):
        chat_model("writer", config, env={})


def test_a_configured_price_stands() -> None:
    """It is per million tokens."""
    config = ModelConfig(
        provider="scripted", usd_per_million_input=1.0, usd_per_million_output=4.0, max_output_tokens=100
    )

    role = chat_model("planner", config, env={})

    assert role.price(1_000_000, 500_000) == pytest.approx(3.0)


def test_a_listed_model_has_its_public_price() -> None:
    """The money fuse works without any price in the configuration."""
    role = chat_model("planner", ModelConfig(provider="openai", model="gpt-4o-mini"), env={})

    assert role.usd_per_million_input is not None
    assert role.usd_per_million_input > 0


def test_an_unlisted_model_has_no_price() -> None:
    """So that a money fuse refuses it instead of taking it for free."""
    role = chat_model("planner", ModelConfig(provider="openai", model="nobody-knows-this"), env={})

    assert (role.usd_per_million_input, role.usd_per_million_output) == (None, None)


def test_every_configured_role_gets_its_model() -> None:
    """Roles are independent of each other."""
    configs = {"planner": ModelConfig(provider="scripted"), "writer": ModelConfig(provider="scripted")}

    roles = chat_models(configs, env={})

    assert set(roles) == {"planner", "writer"}
    assert all(isinstance(role.model, ScriptedModel) for role in roles.values())


def test_a_tool_is_described_without_its_injected_context() -> None:
    """A model sees what it may give, and nothing else."""

    @sw.tool(effect="idempotent")
    def refund(order: str, eur: float, *, ctx: sw.ToolContext) -> str:
        """Pay money back."""
        return f"{ctx.path} {order} {eur}"

    function = tool_schema(refund)["function"]

    assert (function["name"], function["description"]) == ("refund", "Pay money back.")
    assert set(function["parameters"]["properties"]) == {"order", "eur"}
