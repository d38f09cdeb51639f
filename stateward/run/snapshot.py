"""What LangGraph's snapshots of checkpoints say, and how they are listed and addressed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.types import StateSnapshot

from stateward.run.called import Called
from stateward.run.checkpoint import CHANNEL, Json, Pins
from stateward.run.drive import Work


def control_in(snapshot: StateSnapshot) -> Json:
    """Return the control channel of a checkpoint; empty when there is none, or none of a run.

    Args:
        snapshot: The checkpoint.
    """
    values = cast("dict[str, Any]", snapshot.values or {})
    return cast("Json", values.get(CHANNEL) or {})


def pins_of(control: Mapping[str, Any]) -> Pins:
    """Return what the run of a checkpoint is pinned to.

    Args:
        control: Its control channel.
    """
    return Pins(**control["run"]["hashes"], mode=control["run"]["mode"])


def written_at(snapshot: StateSnapshot) -> float:
    """Return when a checkpoint was written.

    Args:
        snapshot: The checkpoint.

    Returns:
        Seconds since the epoch; 0 when there is none.
    """
    return datetime.fromisoformat(snapshot.created_at).timestamp() if snapshot.created_at else 0.0


def addressed(config: RunnableConfig, snapshot: StateSnapshot) -> RunnableConfig:
    """Return a config that names a checkpoint by its id: what is written to it gets nothing of a step cut off there.

    Args:
        config: LangGraph's config of the session.
        snapshot: The checkpoint.
    """
    named = {"checkpoint_ns": "", **config.get("configurable", {}), **snapshot.config.get("configurable", {})}
    return {**config, "configurable": named}


def listing(graph: Called, config: RunnableConfig) -> Work:
    """Return the work that lists the checkpoints of a session, the newest first.

    Args:
        graph: The graph.
        config: LangGraph's config of the session.
    """
    return Work(fn=_listed, afn=_alisted, args=(graph, config))


def _listed(graph: Called, config: RunnableConfig) -> list[StateSnapshot]:
    return list(graph.get_state_history(config))


async def _alisted(graph: Called, config: RunnableConfig) -> list[StateSnapshot]:
    return [one async for one in graph.aget_state_history(config)]
