"""A delta channel whose full copies grow further apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from stateward.run.growing import GrowingDelta
from stateward.run.store.database import Database


def append(values: list[Any], more: Sequence[list[Any]]) -> list[Any]:
    return [*values, *(one for batch in more for one in batch)]


class Log(TypedDict, total=False):
    log: Annotated[list[Any], GrowingDelta(append, snapshot_frequency=4)]


def longer(state: Log) -> Log:
    return {"log": [len(state.get("log", []))]}


def test_a_small_value_is_copied_every_so_many_updates() -> None:
    """As LangGraph does."""
    channel = GrowingDelta(append, list, snapshot_frequency=4)
    assert channel.snapshot_frequency == 4
    channel.update([[1, 2, 3]])
    assert channel.snapshot_frequency == 4


def test_a_large_value_is_copied_after_half_as_many_updates() -> None:
    """Whatever they were."""
    channel = GrowingDelta(append, list, snapshot_frequency=4).from_checkpoint(list(range(100)))
    assert channel.snapshot_frequency == 50


def test_a_copy_starts_from_what_was_declared() -> None:
    """LangGraph hands on what was due just now."""
    channel = GrowingDelta(append, list, snapshot_frequency=4)
    channel.update([list(range(100))])
    assert channel.copy().snapshot_frequency == 50
    assert channel.from_checkpoint([]).snapshot_frequency == 4
    assert channel == GrowingDelta(append, list, snapshot_frequency=4)
    assert channel != GrowingDelta(append, list)


def test_full_copies_of_a_session_grow_apart(database: Database) -> None:
    """Each holds half as much again as the one before, or more; what is read is whole."""
    builder: Any = StateGraph(Log)
    builder.add_node("add", longer)
    builder.add_edge(START, "add")
    builder.add_edge("add", END)
    config: RunnableConfig = {"configurable": {"thread_id": "s"}}
    graph = builder.compile(checkpointer=database.saver)
    for _ in range(60):
        graph.invoke({}, config)
    stored = [found.checkpoint["channel_values"].get("log") for found in database.saver.list(config)][::-1]
    sizes = [len(copy.value) for copy in stored if copy is not None]
    assert len(sizes) > 2
    assert all(after >= 1.5 * before for before, after in pairwise(sizes))
    assert graph.get_state(config).values["log"] == list(range(60))
