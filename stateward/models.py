"""Chat models from configuration: any OpenAI-compatible endpoint, or a script."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from stateward.config import ModelConfig
from stateward.errors import ConfigError
from stateward.govern.kinds.shape import Sensitivity
from stateward.prices import Price, configured, load_prices, price_of
from stateward.run.door.breaker import model_name
from stateward.run.door.role import ModelRole
from stateward.run.tool_schema import tool_schema as tool_schema  # as `bind_tools` wants a tool
from stateward.testing import ScriptedModel


def chat_models(
    configs: Mapping[str, ModelConfig],
    *,
    env: Mapping[str, str] | None = None,
    prices: str | Path | None = None,
    roles: Collection[str] | None = None,
) -> Mapping[str, ModelRole]:
    """Make the chat model of each configured role.

    Args:
        configs: Configuration by role.
        env: The environment, for addresses and keys, which are written in no file; None means the process's own.
        prices: A file of prices, which count before the public list; None for none.
        roles: Those that the graph has, so that a misspelt one is found; None for any.

    Returns:
        The models by role, with the prices the money fuse needs.

    Raises:
        ConfigError: The graph has no such role, an environment variable that a role names is not set, or the file of
            prices is wrong.
    """
    for role in configs:
        if roles is not None and role not in roles:
            known = f"one of the roles: {', '.join(sorted(roles))}"
            raise ConfigError(file="configuration", key=f"models.{role}", expected=known, given=role)
    own = None if prices is None else load_prices(prices)
    variables = os.environ if env is None else env
    return {role: chat_model(role, config, env=variables, prices=own) for role, config in configs.items()}


def chat_model(
    role: str, config: ModelConfig, *, env: Mapping[str, str], prices: Mapping[str, Price] | None = None
) -> ModelRole:
    """Make the chat model of one role.

    Args:
        role: The role.
        config: Its configuration.
        env: The environment.
        prices: By model, from `stateward.prices.load_prices`.

    Returns:
        The model with its price: the configured one, else that of `prices`, else that of the public list, else none.

    Raises:
        ConfigError: An environment variable that the role names is not set.
    """
    return _role(
        role,
        _model(role, config, env=env),
        price=configured(config) or price_of(config.model, prices=prices),
        max_output_tokens=config.max_output_tokens,
        max_block_tokens=config.max_block_tokens,
        cleared=config.cleared,
    )


def model_role(
    role: str,
    model: BaseChatModel,
    *,
    max_output_tokens: int,
    prices: Mapping[str, Price] | None = None,
    max_block_tokens: int | None = None,
    cleared: Sensitivity = "public",
) -> ModelRole:
    """Give a chat model of any provider its price, so that a money fuse lets it speak.

    Args:
        role: The role.
        model: The chat model; its name is looked up.
        max_output_tokens: The most tokens of one reply, reasoning included.
        prices: By model, from `stateward.prices.load_prices`; they count before the public list.
        max_block_tokens: The most tokens of one block of a message that is no text; None refuses such a message where
            money or tokens are limited.
        cleared: The most sensitive data that the model may see.

    Returns:
        The role; without a price, when nobody knows one.
    """
    return _role(
        role,
        model,
        price=price_of(model_name(model), prices=prices),
        max_output_tokens=max_output_tokens,
        max_block_tokens=max_block_tokens,
        cleared=cleared,
    )


def _role(role: str, model: BaseChatModel, *, price: Price | None, **rest: Any) -> ModelRole:
    return ModelRole(name=role, model=model, **(price.of_role if price else {}), **rest)


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
        extra_body=None if config.thinking is None else config.thinking.body(),
    )


def _variable(role: str, field: str, name: str | None, *, env: Mapping[str, str]) -> str | None:
    if name is None:
        return None
    if name not in env:
        raise ConfigError(
            file="environment", key=f"models.{role}.{field}", expected=f"the variable `{name}` to be set", given=None
        )
    return env[name]
