"""Chat models from configuration."""

from __future__ import annotations

import pytest
from langchain_openai import ChatOpenAI
from pydantic import ValidationError

import stateward as sw
from stateward.config import ModelConfig
from stateward.errors import ConfigError
from stateward.models import chat_model, chat_models, tool_schema
from stateward.run.door.output_limit import forced_into
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


@pytest.mark.parametrize(
    ("form", "tokens", "body"),
    [
        ("qwen", 0, {"enable_thinking": False, "chat_template_kwargs": {"enable_thinking": False}}),
        ("anthropic", 1536, {"thinking": {"type": "enabled", "budget_tokens": 1536}}),
        ("anthropic", 0, {"thinking": {"type": "disabled"}}),
        ("gemini", 1536, {"extra_body": {"google": {"thinking_config": {"thinking_budget": 1536}}}}),
    ],
)
def test_a_thinking_budget_is_sent_in_the_providers_words(form: str, tokens: int, body: dict[str, object]) -> None:
    """It is added to the body of each request, and no output limit takes it away."""
    said = {"provider": "openai", "max_output_tokens": 2048, "thinking": {"form": form, "tokens": tokens}}

    model = chat_model("lead", ModelConfig.model_validate(said), env={}).model

    assert isinstance(model, ChatOpenAI)
    assert forced_into(model, limit=2048, parameter="max_completion_tokens") is model
    assert model.extra_body == body


def test_a_thinking_budget_leaves_room_for_an_answer() -> None:
    """The output limit is for both together."""
    said = {"provider": "openai", "max_output_tokens": 1536, "thinking": {"form": "qwen", "tokens": 1536}}

    with pytest.raises(ValidationError, match="below `max_output_tokens`"):
        ModelConfig.model_validate(said)


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


def test_a_role_that_nobody_has_is_refused_with_those_there_are() -> None:
    """A misspelt role would leave its work to the rules, and nobody would know."""
    config = ModelConfig(provider="openai", model="qwen3", base_url="http://localhost:8000/v1")
    with pytest.raises(ConfigError, match="expected one of the roles: agent"):
        chat_models({"agnt": config}, env={}, roles=("agent",))
