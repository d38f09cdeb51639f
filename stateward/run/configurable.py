"""What Stateward reads from LangGraph's `config`, and what it adds to it for the length of one call."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig

from stateward.run.checkpoint import AFTER, FENCE, Pins
from stateward.run.invocation import KEY, Invocation


def named(config: RunnableConfig, key: str) -> str:
    """Return what the caller put under a configurable key, as text; empty when nothing.

    Args:
        config: LangGraph's config.
        key: `tenant` or `approver`.
    """
    return str(config.get("configurable", {}).get(key) or "")


def seen_fence(config: RunnableConfig) -> int | None:
    """Return the fence of the session that the caller saw when it decided to call, or None.

    Args:
        config: LangGraph's config.
    """
    return config.get("configurable", {}).get(AFTER)


def is_nested(config: RunnableConfig) -> bool:
    """Whether another graph's node makes this call: LangGraph then adds keys of its own to the namespace.

    Args:
        config: LangGraph's config.
    """
    configurable = config.get("configurable", {})
    return bool(configurable.get("checkpoint_ns")) and any(key.startswith("__pregel_") for key in configurable)


def onward(config: RunnableConfig | None) -> RunnableConfig | None:
    """Return a config that names the session of another one, and neither a checkpoint of it nor what its caller saw.

    Args:
        config: LangGraph's config.
    """
    if config is None:
        return None
    kept = {key: value for key, value in config.get("configurable", {}).items() if key not in ("checkpoint_id", AFTER)}
    return {**config, "configurable": kept}


def with_fence(config: RunnableConfig, fence: int | None) -> RunnableConfig:
    """Let writes under a config carry a fencing token.

    Args:
        config: LangGraph's config.
        fence: The token, or None when nothing is leased.
    """
    if fence is None:
        return config
    configurable: dict[str, Any] = {**config.get("configurable", {}), FENCE: fence}
    return {**config, "configurable": configurable}


def with_invocation(config: RunnableConfig, invocation: Invocation) -> RunnableConfig:
    """Let the nodes that run under a config find their invocation.

    Args:
        config: LangGraph's config.
        invocation: The call they belong to.
    """
    configurable: dict[str, Any] = {**config.get("configurable", {}), KEY: invocation}
    return with_fence({**config, "configurable": configurable}, invocation.fence)


def pinned(config: RunnableConfig, pins: Pins) -> RunnableConfig:
    """Name the hashes in every checkpoint's metadata; without a saver that would only cost time.

    Args:
        config: LangGraph's config.
        pins: What the run is pinned to.
    """
    hashes = {f"{part}_hash": value for part, value in pins.to_json().items()}
    return {**config, "metadata": {**config.get("metadata", {}), **hashes, "mode": pins.mode}}
