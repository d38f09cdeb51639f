"""The runs of charts inside a session's graph that have not ended: found in the session's checkpoints.

LangGraph keeps a chart that is a node in a namespace of its own, which is made of the node and the task. A checkpoint
there names the one of the outermost graph that it belongs to; those of steps that are over are left where they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

from stateward.run.channel import control_in
from stateward.run.checkpoint import TERMINAL, Json
from stateward.run.drive import Steps, Work


@dataclass(frozen=True, slots=True, kw_only=True)
class Inside:
    """A run of a chart inside another graph."""

    namespace: str
    """LangGraph's name for where it is kept."""
    node: str
    """The node, with those around it: `OUTER|INNER`."""
    raw: Json
    """Its control channel."""


def runs_inside(saver: BaseCheckpointSaver[Any], session: str) -> Steps[tuple[Inside, ...]]:
    """Find the runs inside a session's graph that have not ended, in the order of their nodes.

    Args:
        saver: Where the session's checkpoints are.
        session: LangGraph's `thread_id`.

    Returns:
        A generator of work that returns those of the step that the outermost graph is at.
    """
    stored: list[CheckpointTuple] = yield Work(fn=_listed, afn=_alisted, args=(saver, session))
    latest = _latest(stored)
    around = latest.pop("", None)
    found = [_inside(namespace, one) for namespace, one in latest.items() if _belongs(one, around)]
    return tuple(sorted((one for one in found if one is not None), key=lambda one: one.namespace))


def _latest(stored: Iterable[CheckpointTuple]) -> dict[str, CheckpointTuple]:
    """The latest checkpoint of each namespace; ids grow with time."""
    latest: dict[str, CheckpointTuple] = {}
    for one in sorted(stored, key=lambda one: one.checkpoint["id"]):
        latest[str(one.config.get("configurable", {}).get("checkpoint_ns", ""))] = one
    return latest


def _belongs(one: CheckpointTuple, around: CheckpointTuple | None) -> bool:
    parents: Mapping[str, str] = one.metadata.get("parents") or {}
    return around is not None and parents.get("") == around.checkpoint["id"]


def _inside(namespace: str, one: CheckpointTuple) -> Inside | None:
    raw = control_in(one.checkpoint["channel_values"]) or {}
    if not raw or raw["status"] in TERMINAL:
        return None
    node = "|".join(part.partition(":")[0] for part in namespace.split("|"))
    return Inside(namespace=namespace, node=node, raw=raw)


def _listed(saver: BaseCheckpointSaver[Any], session: str) -> list[CheckpointTuple]:
    return list(saver.list(_every(session)))


async def _alisted(saver: BaseCheckpointSaver[Any], session: str) -> list[CheckpointTuple]:
    return [one async for one in saver.alist(_every(session))]


def _every(session: str) -> RunnableConfig:
    return {"configurable": {"thread_id": session}}
