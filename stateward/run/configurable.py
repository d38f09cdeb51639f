"""What Stateward reads from LangGraph's `config`, and what it adds to it for the length of one call."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import (
    DEFAULT_RECURSION_LIMIT,
    ensure_config,
    merge_configs,
    var_child_runnable_config,
)

from stateward.run.alarm import Alarm, checked_deadline
from stateward.run.checkpoint import AFTER, FENCE, Pins
from stateward.run.invocation import KEY, Invocation
from stateward.run.text import checked_text

UNTIL = "__stateward_until"
"""The configurable key of the moment, by the monotonic clock, when the deadline of a call has come that goes on."""

AUTHENTICATED = "langgraph_auth_user_id"
"""The configurable key under which LangGraph's server says who was authenticated; empty when nobody was."""

TURN = "__stateward_turn"
"""The configurable key of the place in which a call has waited for its turn."""

_OWN = frozenset(("configurable", "recursion_limit"))
"""What the config of a compiled chart says, unless somebody has given it more."""
_GIVEN = frozenset(("configurable", "metadata", "recursion_limit"))
"""What most callers say in theirs."""
_TOLD = ("model", "checkpoint_ns")
"""The configurable keys that LangChain notes in the metadata."""


def whole(own: RunnableConfig | None, given: RunnableConfig | None) -> RunnableConfig:
    """Return the config of a call: the graph's, what the code around says, and what the caller gives.

    LangChain's functions make it, three times over and for every key they know. Most calls say little, and come from
    code that says nothing: theirs is made here, and is the same.

    Args:
        own: The graph's.
        given: The caller's.
    """
    own, given = own or {}, given or {}
    if var_child_runnable_config.get() is not None or not (own.keys() <= _OWN and given.keys() <= _GIVEN):
        return ensure_config(merge_configs(own, given))
    limit = given.get("recursion_limit")
    if limit is None or limit == DEFAULT_RECURSION_LIMIT:  # LangChain takes its default for one that nobody gave
        limit = own.get("recursion_limit", DEFAULT_RECURSION_LIMIT)
    configurable = {**(own.get("configurable") or {}), **(given.get("configurable") or {})}
    metadata = {**(given.get("metadata") or {})}
    for key in _TOLD:
        if isinstance(configurable.get(key), str):
            metadata.setdefault(key, configurable[key])
    return {
        "tags": [],
        "metadata": metadata,
        "callbacks": None,
        "recursion_limit": limit,
        "configurable": configurable,
    }


def named(config: RunnableConfig, key: str) -> str:
    """Return what the caller put under a configurable key, as text; empty when nothing.

    Args:
        config: LangGraph's config.
        key: `tenant`, `approver` or `user`.

    Raises:
        InputRefused: It cannot be kept.
    """
    name: object = config.get("configurable", {}).get(key)
    return checked_text(str(name), what=f"`{key}`") if name else ""


def person_in(config: RunnableConfig, key: str) -> str:
    """Return who makes a call, as text: whom LangGraph's server has authenticated, else whom the caller names.

    The server takes its own keys out of what clients send, so nobody is another person under its authentication.

    Args:
        config: LangGraph's config.
        key: `approver` or `user`, under which the caller names somebody.

    Raises:
        InputRefused: It cannot be kept.
    """
    return named(config, AUTHENTICATED) or named(config, key)


def seen_fence(config: RunnableConfig) -> int | None:
    """Return the fence of the session that the caller saw when it decided to call, or None.

    Args:
        config: LangGraph's config.
    """
    return config.get("configurable", {}).get(AFTER)


def alarm_of(config: RunnableConfig) -> Alarm:
    """Return the outer deadline of a call: `deadline` in `configurable`, in seconds from now.

    Args:
        config: LangGraph's config.

    Raises:
        InputRefused: It is no number of seconds above 0.
    """
    configurable = config.get("configurable", {})
    return Alarm(checked_deadline(configurable.get("deadline")), until=configurable.get(UNTIL))


def lasting(config: RunnableConfig | None, alarm: Alarm) -> RunnableConfig | None:
    """Let the call that goes on with another one end when that one had to.

    Args:
        config: LangGraph's config of the other call.
        alarm: The other call's.
    """
    if config is None or alarm.until is None:
        return config
    return {**config, "configurable": {**config.get("configurable", {}), UNTIL: alarm.until}}


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


def latest_of(config: RunnableConfig) -> RunnableConfig:
    """Return what a saver is asked with for the latest checkpoint of the session that a config names.

    Args:
        config: LangGraph's config of a call that is nobody's subgraph.
    """
    kept = (onward(config) or {}).get("configurable", {})
    return {"configurable": {"checkpoint_ns": "", **kept, "thread_id": str(kept["thread_id"])}}


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
    return {**config, "metadata": {**config.get("metadata", {}), **pins.named(), "mode": pins.mode}}
