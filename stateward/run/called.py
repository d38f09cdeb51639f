"""The graph that a call is made to, and its checkpoints as they were stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from langchain_core.runnables import RunnableConfig
from langgraph.types import StateSnapshot, StateUpdate

from stateward.run.drive import Steps, Work
from stateward.run.plan import Machine
from stateward.run.tables import Tables


class Called(Protocol):
    """What a call needs of the graph it is made to."""

    machine: Machine
    tables: Tables
    name: str
    config: RunnableConfig | None
    checkpointer: Any  # a saver, or LangGraph's bool for subgraphs
    allowed: frozenset[tuple[str, str]]
    context_schema: Any  # the user's own type, or None
    get_state: Callable[..., StateSnapshot]
    aget_state: Callable[..., Any]
    get_state_history: Callable[..., Any]
    aget_state_history: Callable[..., Any]

    def writing(self, config: RunnableConfig, update: StateUpdate) -> Work:
        """Return the work that writes a checkpoint of our own making, LangGraph's way."""
        ...


def committed(graph: Called, config: RunnableConfig) -> Steps[StateSnapshot]:
    """Read a session's latest checkpoint, and nothing of a step that a crash cut off before its commit.

    LangGraph's `get_state` adds the writes of such a step, so that a run looks finished whose last checkpoint and
    terminal record do not exist yet.

    Args:
        graph: The graph.
        config: LangGraph's config of the session.

    Returns:
        A generator of work that returns the snapshot.
    """
    snapshot: StateSnapshot = yield Work(fn=graph.get_state, afn=graph.aget_state, args=(config,))
    if any(task.result is not None for task in snapshot.tasks):
        # Named by its id, a checkpoint is shown as it was stored.
        snapshot = yield Work(fn=graph.get_state, afn=graph.aget_state, args=(snapshot.config,))
    return snapshot


def checkpoint_id(config: RunnableConfig | None) -> str:
    """Return the checkpoint that a config names, or nothing.

    Args:
        config: LangGraph's config.
    """
    return str((config or {}).get("configurable", {}).get("checkpoint_id") or "")
