"""A compiled chart as a node of somebody's graph."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.graph import START, StateGraph
from langgraph.types import Command

import stateward as sw
from stateward.govern.policy import Policy
from stateward.testing import How, run_graph
from tests.charts.around import CONFIG, Trail, around, inner, inside, waiting, writer
from tests.charts.refunds import asking, look_then_refund
from tests.charts.tools import Shop


def test_an_additive_key_shared_with_the_parent_counts_once(how: How) -> None:
    """What the parent has is not added to itself, before and after a wait (HAZARDS 16)."""
    graph = waiting(how)
    final = run_graph(graph, Command(resume="go"), how=how, config=CONFIG)
    assert final["log"] == ["in", "before", "first", "last", "after"]


def test_two_charts_in_one_superstep_both_count_once(how: How) -> None:
    """Neither overwrites the other, and a plain key that none of them changed is written by none."""
    builder = StateGraph(Trail)
    for name in ("left", "right"):
        builder.add_node(name, writer(name))
        builder.add_edge(START, name)
    final = run_graph(builder.compile(), {"log": ["in"], "number": 3}, how=how)
    assert (final["log"], final["number"]) == (["in", "left", "right"], 3)


def test_called_from_a_node_of_ones_own_it_returns_its_state(how: How) -> None:
    """A function that calls the chart gets what any graph returns."""
    chart = writer("inner")
    graph = around(lambda state: {"number": len(chart.invoke({"log": ["a", "b"]})["log"])})
    assert run_graph(graph, {"log": []}, how=how, config=CONFIG)["number"] == 3


def test_a_function_behind_it_in_a_sequence_gets_its_state(how: How) -> None:
    """`chart | function` is the user's own node."""
    graph = around(writer("inner") | (lambda state: {"number": len(state["log"])}))
    assert run_graph(graph, {"log": ["in"]}, how=how, config=CONFIG)["number"] == 3


def test_messages_reach_the_parent_once_and_removals_too(how: How) -> None:
    """New messages are told, gone ones are removed, the others are left alone."""

    def speak(state: Trail) -> Any:
        return {"messages": [RemoveMessage(id="h1"), AIMessage("hello", id="a1")]}

    chart = sw.Chart("speak", Trail, sw.State("S", do=speak, to="DONE"), sw.Final("DONE")).compile()
    given = {"messages": [HumanMessage("hi", id="h1"), HumanMessage("there", id="h2")]}
    final = run_graph(around(chart), given, how=how, config=CONFIG)
    assert [message.id for message in final["messages"]] == ["h2", "a1"]


def test_its_steps_are_streamed_with_subgraphs() -> None:
    """Each state is seen under the namespace of the node."""
    parts = list(around(writer("inner")).stream({"log": []}, CONFIG, subgraphs=True, stream_mode="updates"))
    seen = [(namespace[0].partition(":")[0] if namespace else "", *update) for namespace, update in parts]
    assert seen == [("", "before"), ("chart", "WRITE"), ("", "chart"), ("", "after")]


def test_its_wait_is_the_interrupt_of_the_parent(how: How) -> None:
    """The parent shows which events the chart awaits, and `get_state` shows where it stands."""
    graph = waiting(how)
    assert graph.get_state(CONFIG).interrupts[0].value["events"] == [{"name": "go"}]
    assert inside(graph).next == ("WAIT",)


def test_an_edit_inside_stays_inside_until_the_chart_ends(how: How) -> None:
    """`update_state` with the config of the chart edits its values and leaves it where it stands."""
    graph = waiting(how)
    graph.update_state(inside(graph).config, {"number": 7})
    assert inside(graph).next == ("WAIT",)
    assert run_graph(graph, Command(resume="go"), how=how, config=CONFIG)["number"] == 7


def test_a_restricted_call_inside_asks_through_the_parent(how: How, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ask is the parent's interrupt; approved, the effect happens exactly once."""
    monkeypatch.setenv("STATEWARD_DB", "memory:")
    shop = Shop()
    graph = around(asking(shop, look_then_refund))
    asked = run_graph(graph, {"log": []}, how=how, config=CONFIG)["__interrupt__"][0].value
    answer = {"answers": {asked["asks"][0]["id"]: {"decision": "approve", "by": "ann"}}}
    final = run_graph(graph, Command(resume=answer), how=how, config=CONFIG)
    assert final["log"] == ["before", "ok", {"refunded": "A1"}, "after"]
    assert shop.effects.count(("refund", "A1")) == 1


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_new_turn_of_a_chart_that_keeps_its_state_is_no_time_travel(durability: Any) -> None:
    """Its last run waited and has ended; the next one begins anew, however late checkpoints are written."""
    builder = StateGraph(Trail)
    builder.add_node("chart", inner().compile(checkpointer=True))
    builder.add_edge(START, "chart")
    graph = builder.compile(checkpointer=around(writer("x")).checkpointer)
    for _ in range(2):
        asked = graph.invoke({"log": []}, CONFIG, durability=durability)
        assert asked["__interrupt__"][0].value["state"] == "WAIT"
        done = graph.invoke(Command(resume="go"), CONFIG, durability=durability)
    assert done["log"] == ["first", "last"] * 2


def test_a_chart_that_keeps_its_state_over_turns_tells_only_the_last_one(how: How) -> None:
    """With `checkpointer=True` LangGraph keeps the chart's state; the parent is not told old updates again."""
    chart = sw.Chart("kept", Trail, sw.State("W", do=lambda s: {"log": ["w"]}, to="DONE"), sw.Final("DONE"))
    builder = StateGraph(Trail)
    builder.add_node("chart", chart.compile(checkpointer=True))
    builder.add_edge(START, "chart")
    graph = builder.compile(checkpointer=around(writer("x")).checkpointer)
    for turn in ("one", "two"):
        final = run_graph(graph, {"log": [turn]}, how=how, config=CONFIG)
    assert final["log"] == ["one", "w", "two", "w"]


def desk() -> sw.Chart[Trail]:
    """WORK has two ways out: its end, and `give_up`."""
    work = sw.Superstate(
        "WORK",
        sw.State("ACT", do=lambda state: {"log": ["act"]}, to="WAIT"),
        sw.State("WAIT", on=[sw.on("go", "END")]),
        sw.Final("END"),
        to="REPLY",
        on=[sw.on("give_up", "PERSON")],
        policy=Policy(name="patient", call_timeout_s=3.0),
    )
    reply = sw.State("REPLY", do=lambda state: {"log": ["reply"]}, to="DONE")
    return sw.Chart("desk", Trail, work, reply, sw.State("PERSON", on=[sw.on("done", "DONE")]), sw.Final("DONE"))


@pytest.mark.parametrize(("event", "exit"), [("go", "REPLY"), ("give_up", "PERSON")])
def test_a_superstate_alone_tells_the_parent_which_way_it_went(how: How, event: str, exit: str) -> None:
    """The parent's own edges can read the path of the target outside."""
    graph = around(desk().superstate("WORK", exit_key="went").compile())
    run_graph(graph, {"log": ["in"]}, how=how, config=CONFIG)
    final = run_graph(graph, Command(resume=event), how=how, config=CONFIG)
    assert (final["log"], final["went"]) == (["in", "before", "act", "after"], exit)


def test_a_superstate_alone_keeps_its_policy() -> None:
    """What binds a state in the whole chart binds it here, under the same path."""
    machine = desk().superstate("WORK").compile().machine
    assert machine.effectives[machine.chart.by_path["WORK.ACT"]].call_timeout_s == 3.0
