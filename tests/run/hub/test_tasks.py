"""Activities in tasks of their own stream like any node's: tokens, own data, tool results, subgraphs, and by state."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.graph import END, START, StateGraph

import stateward as sw
from stateward.run.hub.tasks import of_region
from stateward.run.store.database import Database
from stateward.testing import How
from tests.charts.beside import Beside, Gate, compiled_beside, says
from tests.charts.drive import Driven
from tests.charts.spoken import Awaited, hear
from tests.charts.tools import Shop

Drive = Callable[..., Driven]
SESSION: Any = {"configurable": {"thread_id": "s1"}}


def parts(graph: Any, how: How, given: Any = None, **kwargs: Any) -> list[Any]:
    """What a graph streams, one of both ways."""
    if how == "sync":
        return list(graph.stream(given or {}, SESSION, **kwargs))

    async def gather() -> list[Any]:
        return [part async for part in graph.astream(given or {}, SESSION, **kwargs)]

    return asyncio.run(gather())


def two(a: Any, b: Any, **rest: Any) -> Any:
    return compiled_beside([a], [b], **rest)


def test_updates_come_step_by_step(how: How, database: Database) -> None:
    """One part for each thing that happened, from the hub."""
    gate = Gate()
    a, b = sw.State("S", do=says("a"), to="END", exit=gate.open), sw.State("S", do=says("b", after=gate), to="END")
    streamed = parts(two(a, b).attach(database), how, stream_mode="updates")
    assert [list(part) for part in streamed] == [["__enter__"], ["__hub__"], ["__hub__"]]
    assert [part["__hub__"]["log"] for part in streamed[1:]] == [["a"], ["b"]]


def test_values_come_step_by_step(how: How, database: Database) -> None:
    """Each after its commit."""
    gate = Gate()
    a, b = sw.State("S", do=says("a"), to="END", exit=gate.open), sw.State("S", do=says("b", after=gate), to="END")
    streamed = parts(two(a, b).attach(database), how, stream_mode="values")
    assert [part.get("log") for part in streamed][-3:] == [[], ["a"], ["a", "b"]]


def emits(gate: Gate) -> Any:
    """Make an activity that emits before and after a gate, and calls a tool."""

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        run.emit("early")
        await gate.wait()
        run.emit("late")
        return {"log": [(await run.tool("lookup", order="A1")).status]}

    return act


def test_custom_parts_come_while_the_activity_runs_also_after_the_visit_that_began_it(
    how: How, database: Database
) -> None:
    """B's steps end visits of the hub; what A emits afterwards, tool results too, is streamed all the same."""
    gate = Gate()
    a = sw.State("S", do=emits(gate), to="END", tools=["lookup"])
    graph = compiled_beside(
        [a],
        [sw.State("B1", do=says("b1"), to="B2"), sw.State("B2", do=says("b2"), to="END", exit=gate.open)],
        box=Shop().box,
    )
    streamed = parts(graph.attach(database), how, stream_mode="custom")
    assert streamed[:2] == ["early", "late"]
    assert (streamed[2]["path"], streamed[2]["status"]) == ("P.A.S", "ok")


def test_sync_activity_that_is_left_is_heard_no_more(how: How, database: Database) -> None:
    """What its thread emits afterwards is not streamed."""
    begun, gone, over = Gate(), threading.Event(), threading.Event()

    def act(state: Any, run: sw.SyncRun[Any]) -> None:
        run.emit("early")
        begun.open()
        gone.wait()
        run.emit("late")
        over.set()

    def see_it_over(state: Any) -> None:
        gone.set()
        over.wait()

    regions = [sw.State("S", do=act, to="END")], [sw.State("S", do=says("b", after=begun), to="NEXT")]
    graph = compiled_beside(*regions, more=[sw.State("NEXT", do=see_it_over, to="DONE")]).attach(database)
    assert parts(graph, how, stream_mode="custom") == ["early"]


def test_tokens_of_each_region_come_as_they_are_spoken(how: How, database: Database) -> None:
    """With the state's path for the node, so that one knows who speaks."""
    gate = Gate()

    async def word() -> str:
        await gate.wait()
        return "late"

    def opening() -> Any:
        gate.open()
        return "first"

    a = sw.State("S", do=hear, model="a", to="END")
    b = sw.State("S", do=hear, model="b", to="END")
    models = {"a": Awaited.of("early", word), "b": Awaited.of(opening)}
    graph = two(a, b, models=models).attach(database)
    streamed = parts(graph, how, stream_mode="messages")
    said = [(meta["langgraph_node"], chunk.text) for chunk, meta in streamed if chunk.text]
    assert set(said) == {("P.A.S", "early"), ("P.A.S", "late"), ("P.B.S", "first")}
    assert said.index(("P.A.S", "early")) < said.index(("P.A.S", "late"))


def inner(word: str, gate: Gate | None = None) -> Any:
    """A graph of somebody's own, as an activity."""

    async def node(state: Any) -> Any:
        if gate is not None:
            await gate.wait()
        return {"text": word}

    builder = StateGraph(Beside)
    builder.add_node("node", RunnableLambda(node))
    builder.add_edge(START, "node")
    builder.add_edge("node", END)
    compiled = builder.compile()

    async def act(state: Any) -> Any:
        return {"log": [(await compiled.ainvoke({}))["text"]]}

    return act


def test_subgraphs_inside_regions_are_streamed_under_their_states(how: How, database: Database) -> None:
    """A's inner graph goes on after visits of the hub that B ended."""
    gate = Gate()
    a = sw.State("S", do=inner("in a", gate), to="END")
    b = [sw.State("B1", do=says("b1"), to="B2"), sw.State("B2", do=inner("in b"), to="END", exit=gate.open)]
    graph = compiled_beside([a], b).attach(database)
    streamed = parts(graph, how, stream_mode="updates", subgraphs=True)
    inside = [(namespace[0].partition(":")[0], part) for namespace, part in streamed if namespace]
    assert inside == [("P.B.B2", {"node": {"text": "in b"}}), ("P.A.S", {"node": {"text": "in a"}})]


def test_events_of_langchain_are_streamed(database: Database) -> None:
    """`astream_events` sees the models of regions that outlive the visit that began them."""
    gate = Gate()

    async def word() -> str:
        await gate.wait()
        return "late"

    a = sw.State("S", do=hear, model="a", to="END")
    b = [sw.State("B1", do=says("b1"), to="B2"), sw.State("B2", do=says("b2"), to="END", exit=gate.open)]
    graph = compiled_beside([a], b, models={"a": Awaited.of(word)}).attach(database)

    async def gather() -> list[Any]:
        return [event async for event in graph.astream_events({}, SESSION, version="v2")]

    ends = [event for event in asyncio.run(gather()) if event["event"] == "on_chat_model_end"]
    assert [event["metadata"]["langgraph_node"] for event in ends] == ["P.A.S"]


@pytest.mark.parametrize(
    ("given", "namespace"), [("__hub__:7", "P.A.S:7"), ("around:1|__hub__:7", "around:1|P.A.S:7"), ("", "P.A.S:")]
)
def test_region_has_its_own_place_in_the_config(given: str, namespace: str) -> None:
    """The task's id stays, the node's name becomes the state's path."""
    config = of_region({"configurable": {"checkpoint_ns": given}, "metadata": {"langgraph_node": "__hub__"}}, "P.A.S")
    assert config["configurable"]["checkpoint_ns"] == config["metadata"]["langgraph_checkpoint_ns"] == namespace
    assert config["metadata"]["langgraph_node"] == "P.A.S"
