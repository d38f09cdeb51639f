"""Where a chart that is a node of another graph begins when that graph goes back: where the past left it.

LangGraph begins the subgraph anew (langgraph issue 8458), or replays what it has recorded of it. Here the checkpoint
inside is written again as the latest one, on a branch of its own, as at the top (`fork.py`). Which one that is:

- the one that time travel names inside the node (`checkpoint_map`);
- when the graph around is resumed at a checkpoint it left long ago, and the chart has ended since: the last one that
  waited. What is brought is for a wait.
"""

from __future__ import annotations

from collections.abc import Mapping

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.types import StateSnapshot

from stateward.run.called import Called, checkpoint_id
from stateward.run.checkpoint import TERMINAL
from stateward.run.drive import Steps, Work
from stateward.run.edit import any_node, begun, placed
from stateward.run.fork import Turn, forked, take_over
from stateward.run.invocation import Invocation
from stateward.run.nested import saver_in
from stateward.run.snapshot import control_in, listing

_REPLAY = "__pregel_replay_state"
"""LangGraph's name for what it hands a task that is replayed."""


def landing(graph: Called, config: RunnableConfig, invocation: Invocation) -> Steps[RunnableConfig]:
    """Let a chart that is a node begin where the graph around has gone back to.

    Args:
        graph: The chart.
        config: The call's config.
        invocation: The call.

    Returns:
        A generator of work that returns the config to go on with.

    Raises:
        Drift: The run in the past was started by another definition.
        NotExpected: Nobody knows how a call ended that was begun before.
    """
    there = _named(config)
    snapshot = yield from (_last_wait(graph, config) if there is None else _addressed(graph, config, there))
    if snapshot is None or not begun(snapshot):
        return config
    turn: Turn = yield from forked(graph.machine, snapshot, invocation)
    yield from take_over(turn, invocation)
    before = turn.before
    yield graph.writing(config, placed(before.values, goto=before.next, node=any_node(graph.machine)))
    return _at_latest(config)


def _named(config: RunnableConfig) -> RunnableConfig | None:
    """The checkpoint of this node that time travel names; a fork visits the node as another task."""
    configurable = config.get("configurable", {})
    named: Mapping[str, str] = configurable.get("checkpoint_map") or {}
    node = _node(str(configurable.get("checkpoint_ns", "")))
    found = [ns for ns in named if ns and _node(ns) == node]
    if len(found) != 1:
        return None
    there = {**configurable, "checkpoint_ns": found[0], "checkpoint_id": named[found[0]]}
    return {**config, "configurable": there}


def _node(namespace: str) -> str:
    return namespace.rpartition(":")[0]


def _addressed(graph: Called, config: RunnableConfig, there: RunnableConfig) -> Steps[StateSnapshot | None]:
    """Read the named checkpoint, unless the chart stands there anyway."""
    here: StateSnapshot = yield Work(fn=graph.get_state, afn=graph.aget_state, args=(_at_latest(config),))
    if checkpoint_id(here.config) == checkpoint_id(there):
        return None
    return (yield Work(fn=graph.get_state, afn=graph.aget_state, args=(there,)))


def _last_wait(graph: Called, config: RunnableConfig) -> Steps[StateSnapshot | None]:
    """Find where a chart waited last that has ended since, when the graph around is resumed before its end."""
    saver, configurable = saver_in(config), config.get("configurable", {})
    named: Mapping[str, str] = configurable.get("checkpoint_map") or {}
    if saver is None or "" not in named or configurable.get(_REPLAY) is not None:
        return None
    thread = configurable.get("thread_id")
    for namespace in (configurable.get("checkpoint_ns"), ""):
        at: RunnableConfig = {"configurable": {"thread_id": thread, "checkpoint_ns": namespace}}
        latest: CheckpointTuple | None = yield Work(fn=saver.get_tuple, afn=saver.aget_tuple, args=(at,))
        # Ids grow with time. What the graph around wrote last may not be stored yet, and is not the past.
        if latest is None or (namespace == "" and checkpoint_id(latest.config) <= named[""]):
            return None  # its first visit, or the graph around stands there
    visits: list[StateSnapshot] = yield listing(graph, _at_latest(config))
    if not visits or control_in(visits[0]).get("status") not in TERMINAL:
        return None
    return next((one for one in visits if control_in(one).get("status") == "waiting"), None)


def _at_latest(config: RunnableConfig) -> RunnableConfig:
    """Let a call begin at its own latest checkpoint, whatever the graph around it replays."""
    configurable = config.get("configurable", {})
    named: Mapping[str, str] = configurable.get("checkpoint_map") or {}
    around = {ns: checkpoint for ns, checkpoint in named.items() if ns != configurable.get("checkpoint_ns")}
    return {**config, "configurable": {**configurable, "checkpoint_map": around, _REPLAY: None}}
