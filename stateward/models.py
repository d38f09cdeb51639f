"""Chat models from configuration: any OpenAI-compatible endpoint, or a script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from genai_prices import Usage, calc_price
from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from stateward.config import ModelConfig
from stateward.errors import ConfigError
from stateward.run.door.role import ModelRole
from stateward.run.door.tool import Tool
from stateward.testing import ScriptedModel

_MILLION = 1_000_000


def chat_models(configs: Mapping[str, ModelConfig], *, env: Mapping[str, str]) -> Mapping[str, ModelRole]:
    """Make the chat model of each configured role.

    Args:
        configs: Configuration by role.
        env: The environment, for addresses and keys; no key is ever written in a file.

    Returns:
        The models by role, with the prices the money fuse needs.

    Raises:
        ConfigError: An environment variable that a role names is not set.
    """
    return {role: chat_model(role, config, env=env) for role, config in configs.items()}


def chat_model(role: str, config: ModelConfig, *, env: Mapping[str, str]) -> ModelRole:
    """Make the chat model of one role.

    Args:
        role: The role.
        config: Its configuration.
        env: The environment.

    Returns:
        The model with its prices: the configured ones, else those of the public price list, else none.

    Raises:
        ConfigError: An environment variable that the role names is not set.
    """
    per_input, per_output = _prices(config)
    return ModelRole(
        name=role,
        model=_model(role, config, env=env),
        usd_per_million_input=per_input,
        usd_per_million_output=per_output,
        max_output_tokens=config.max_output_tokens,
    )


def _model(role: str, config: ModelConfig, *, env: Mapping[str, str]) -> BaseChatModel:
    if config.provider == "scripted":
        return ScriptedModel.of()
    key = _variable(role, "api_key_env", config.api_key_env, env=env) or "none"
    url = config.base_url or _variable(role, "base_url_env", config.base_url_env, env=env)
    return ChatOpenAI(
        model=config.model,
        api_key=SecretStr(key),
        base_url=url,
        temperature=config.temperature,
        timeout=config.timeout_s,
        max_retries=2,
        stream_usage=True,  # otherwise a streamed call is charged as reserved
    )


def _variable(role: str, field: str, name: str | None, *, env: Mapping[str, str]) -> str | None:
    if name is None:
        return None
    if name not in env:
        raise ConfigError(
            file="environment", key=f"models.{role}.{field}", expected=f"the variable `{name}` to be set", given=None
        )
    return env[name]


def _prices(config: ModelConfig) -> tuple[float | None, float | None]:
    if config.usd_per_million_input is not None and config.usd_per_million_output is not None:
        return config.usd_per_million_input, config.usd_per_million_output
    return _listed(config.model, Usage(input_tokens=_MILLION)), _listed(config.model, Usage(output_tokens=_MILLION))


def _listed(model: str, usage: Usage) -> float | None:
    """What a million tokens cost by the public list, or None for a model that is not on it."""
    try:
        return float(calc_price(usage, model_ref=model).total_price)
    except LookupError:
        return None


def tool_schema(tool: Tool) -> dict[str, Any]:
    """Describe a tool to a chat model.

    Args:
        tool: The tool.

    Returns:
        OpenAI's function form, as `bind_tools` takes it.
    """
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.schema)},
    }
