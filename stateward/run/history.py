"""The history of a session: its checkpoints, by what their control channels and metadata say.

LangGraph's `get_state_history` makes every value of every checkpoint, and what is stored as writes is put together anew
for each: a look at a session of n turns costs n times as much as one of a turn. Which step was which is told by the
control channel alone, so the values stay packed here.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

from stateward.run.called import checkpoint_id
from stateward.run.channel import ControlChannel
from stateward.run.checkpoint import CHANNEL, Json
from stateward.run.graph import ChartGraph
from stateward.run.store.fence import Fenced
from stateward.run.store.opaque import OpaqueSerializer


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One checkpoint of a session."""

    id: str
    parent: str
    """Id of the checkpoint it came from; empty for the first one."""
    at_s: float
    """When it was written, in seconds since the epoch."""
    step: int | None
    """LangGraph's number of it."""
    source: str
    """LangGraph's word for what wrote it: `input`, `loop`, `update` or `fork`."""
    control: Json
    """Its control channel; empty when there is none, or none of a run."""


def kept(graph: ChartGraph, config: RunnableConfig) -> tuple[Kept, ...]:
    """List the checkpoints of a session.

    Args:
        graph: The chart, attached to a database.
        config: LangGraph's config of the session; what is bound to the graph is added.

    Returns:
        The newest first.

    Raises:
        UnknownSession: Another tenant is named than the session's.
    """
    saver = _packed(cast("BaseCheckpointSaver[Any]", graph.checkpointer))
    bound = (graph.config or {}).get("configurable", {})
    whole: RunnableConfig = {"configurable": {"checkpoint_ns": "", **bound, **config.get("configurable", {})}}
    return tuple(_kept(found) for found in saver.list(whole))


def _packed(saver: BaseCheckpointSaver[Any]) -> BaseCheckpointSaver[Any]:
    """Return a saver that leaves values packed; a saver of somebody else's may need its own serializer."""
    if not isinstance(saver, Fenced):
        return saver
    packed = copy(saver)
    packed.serde = OpaqueSerializer()
    return packed


def _kept(found: CheckpointTuple) -> Kept:
    checkpoint, metadata = found.checkpoint, cast("dict[str, Any]", found.metadata or {})
    return Kept(
        id=checkpoint_id(found.config),
        parent=checkpoint_id(found.parent_config),
        at_s=datetime.fromisoformat(checkpoint["ts"]).timestamp(),
        step=metadata.get("step"),
        source=str(metadata.get("source", "")),
        control=ControlChannel().from_checkpoint(checkpoint["channel_values"].get(CHANNEL)).get(),
    )
