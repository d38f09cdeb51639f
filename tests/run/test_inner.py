"""A graph as an activity: what the chart accumulates counts once (HAZARDS 16)."""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import pairwise
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, Overwrite, interrupt
from pydantic import BaseModel
from typing_extensions import TypedDict

import stateward as sw
from stateward.errors import DefinitionError
from stateward.run.graph import ChartGraph
from tests.charts.drive import Driven, policy

Drive = Callable[..., Driven]


def most(held: int, new: int) -> int:
    return max(held, new)


class Shared(TypedDict, total=False):
    """What a chart and the graph in it both hold."""

    log: Annotated[list[str], operator.add]
    total: Annotated[int, operator.add]
    peak: Annotated[int, most]
    messages: Annotated[list[Any], add_messages]
    text: str


GIVEN: dict[str, Any] = {"log": ["in"], "total": 5, "peak": 3, "messages": [HumanMessage("hi", id="h")], "text": "x"}


def nothing(state: Any) -> None:
    """Do nothing."""


def work(state: Any) -> dict[str, Any]:
    """Add to everything."""
    return {"log": ["a"], "total": 1, "peak": 4, "messages": [AIMessage("yes")], "text": "y"}


Work = Callable[[Any], Any]


def built(*nodes: Work, schema: Any = Shared, checkpointer: Any = None, **schemas: Any) -> Any:
    """A plain LangGraph graph of nodes in a row."""
    builder: Any = StateGraph(schema, **schemas)
    names = [START, *(f"n{n}" for n in range(len(nodes))), END]
    for name, node in zip(names[1:-1], nodes, strict=True):
        builder.add_node(name, node)
    for one, other in pairwise(names):
        builder.add_edge(one, other)
    return builder.compile(checkpointer=checkpointer)


def chart(*works: Work, schema: Any = Shared) -> ChartGraph:
    """The same as a chart."""
    states = [sw.State(f"N{n}", do=do, to=f"N{n + 1}") for n, do in enumerate(works)]
    return sw.Chart("inner", schema, *states, sw.Final(f"N{len(works)}")).compile()


def flat(do: Any, **rest: Any) -> sw.Chart[Any]:
    return sw.Chart("outer", Shared, sw.State("A", do=do, to="DONE", **rest), sw.Final("DONE"))


def in_region(do: Any) -> sw.Chart[Any]:
    """Beside a region that adds to the same keys."""
    a = sw.Superstate("A", sw.State("S", do=do, to="END"), sw.Final("END"))
    b = sw.Superstate("B", sw.State("S", do=lambda state: {"log": ["b"]}, to="END"), sw.Final("END"))
    return sw.Chart("outer", Shared, sw.Parallel("P", a, b, to="DONE"), sw.Final("DONE"))


GRAPHS: list[Any] = [pytest.param(built, id="graph"), pytest.param(chart, id="chart")]


@pytest.mark.parametrize("make", GRAPHS)
def test_what_a_graph_adds_counts_once(drive: Drive, make: Any) -> None:
    """Two nodes add to each key, of whatever kind it is."""
    values = drive(flat(make(work, work)).compile()).start(GIVEN).values
    assert (values["log"], values["total"], values["peak"], values["text"]) == (["in", "a", "a"], 7, 4, "y")
    assert [message.text for message in values["messages"]] == ["hi", "yes", "yes"]


@pytest.mark.parametrize("make", GRAPHS)
def test_in_a_region_it_counts_once_beside_what_others_add(drive: Drive, make: Any) -> None:
    """Neither loses anything of the other's."""
    values = drive(in_region(make(work)).compile()).start(GIVEN).values
    assert (sorted(values["log"]), values["total"], len(values["messages"])) == (["a", "b", "in"], 6, 2)


def below_eight(state: Shared) -> bool:
    return state.get("total", 0) < 8


@pytest.mark.parametrize("make", GRAPHS)
def test_each_visit_counts_once(drive: Drive, make: Any) -> None:
    """Also when the session has checkpoints of the last one."""
    state = sw.State("A", do=make(work), to=[sw.when(below_eight, "A"), "DONE"])
    values = drive(sw.Chart("outer", Shared, state, sw.Final("DONE")).compile()).start(GIVEN).values
    assert (values["log"], values["total"], len(values["messages"])) == (["in", "a", "a", "a"], 8, 4)


class Inside(TypedDict, total=False):
    """Other names."""

    lines: Annotated[list[str], operator.add]
    total: Annotated[int, operator.add]


@pytest.mark.parametrize("make", GRAPHS)
def test_in_an_embedded_chart_it_counts_once(drive: Drive, make: Any) -> None:
    """Its keys have other names outside."""
    step = make(lambda state: {"lines": ["a"], "total": 1}, schema=Inside)
    part = sw.Chart("part", Inside, sw.State("S", do=step, to="END"), sw.Final("END"))
    place = part.as_superstate("PART", output={"lines": "log"}, to="DONE")
    values = drive(sw.Chart("outer", Shared, place, sw.Final("DONE")).compile()).start(GIVEN).values
    assert (values["log"], values["total"]) == (["in", "a"], 6)


def test_mapped_by_name_it_counts_once(drive: Drive) -> None:
    """Only what is mapped is heard of."""
    inside = chart(lambda state: {"lines": ["a"], "total": 1}, schema=Inside)
    do = inside.mapped(input={"lines": "log", "total": "total"}, output={"lines": "log"})
    values = drive(flat(do).compile()).start(GIVEN).values
    assert (values["log"], values["total"]) == (["in", "a"], 5)


def test_message_that_a_graph_removes_is_removed(drive: Drive) -> None:
    """Messages are told apart by their ids."""
    do = built(lambda state: {"messages": [RemoveMessage(id="h"), AIMessage("yes")]})
    assert [m.text for m in drive(flat(do).compile()).start(GIVEN).values["messages"]] == ["yes"]


def test_value_that_a_graph_overwrites_is_overwritten(drive: Drive) -> None:
    """As by a function."""
    assert drive(flat(built(lambda state: {"log": Overwrite(["new"])})).compile()).start(GIVEN).values["log"] == ["new"]


def test_command_of_a_node_counts_too(drive: Drive) -> None:
    """Several writes of one key as well."""
    do = built(lambda state: Command(update=[("log", ["a"]), ("log", ["b"])]))
    assert drive(flat(do).compile()).start(GIVEN).values["log"] == ["in", "a", "b"]


class Seen(TypedDict):
    text: str


def test_key_that_a_graph_is_not_handed_is_new_as_a_whole(drive: Drive) -> None:
    """It began with nothing."""
    do = built(work, input_schema=Seen)
    assert drive(flat(do).compile()).start(GIVEN).values["log"] == ["in", "a"]


class Draft(BaseModel):
    """A gate."""

    text: str


def test_gate_sees_what_a_graph_left_as_it_was(drive: Drive) -> None:
    """It covers a key, not a change."""
    chart = flat(built(lambda state: {"log": ["a"]}), output=Draft)
    assert drive(chart.compile()).start(GIVEN).status == "completed"


def test_graph_that_does_not_fit_commits_nothing(drive: Drive) -> None:
    """Not its earlier updates either."""
    do = built(nothing, work, lambda state: {"log": ["b"], "text": 7})
    state = sw.State("A", do=do, to="DONE", on=sw.on("error.update", "DONE"))
    values = drive(sw.Chart("outer", Shared, state, sw.Final("DONE")).compile()).start(GIVEN).values
    assert (values["log"], values["text"]) == (["in"], "x")


def test_graph_leaves_no_checkpoints_of_its_own(drive: Drive) -> None:
    """An agent that is a state adds nothing to the disk (HAZARDS 12)."""
    driven = drive(flat(built(work)).compile())
    driven.start(GIVEN)
    places: Any = [found.config for found in driven.session.database.saver.list(None)]
    assert {place["configurable"]["checkpoint_ns"] for place in places} == {""}


def test_interrupt_inside_a_graph_is_an_error_of_the_activity(drive: Drive) -> None:
    """As in a function: a wait is a state."""
    do = built(lambda state: {"log": [interrupt("?")]})
    state = sw.State("A", do=do, to="DONE", on=sw.on("error.interrupt", "DONE"))
    outcome = drive(sw.Chart("outer", Shared, state, sw.Final("DONE")).compile()).start(GIVEN)
    assert (outcome.status, outcome.values["log"]) == ("completed", ["in"])


class Replacing(TypedDict, total=False):
    log: list[str]


def latest(held: list[str], new: list[str]) -> list[str]:
    return new


class Otherwise(TypedDict, total=False):
    log: Annotated[list[str], latest]


UNKNOWABLE: list[Any] = [
    built(work, schema=Replacing),
    built(work, schema=Otherwise),
    built(work, checkpointer=True),
    built(work).with_retry(),
    chart(nothing, schema=Replacing),
]


@pytest.mark.parametrize("do", UNKNOWABLE, ids=["replaces", "reduces otherwise", "remembers", "is wrapped", "chart"])
def test_graph_of_which_it_cannot_be_known_is_refused(do: Any) -> None:
    """Naming the key and the way out."""
    with pytest.raises(DefinitionError, match=r"`log` cannot be known") as refused:
        flat(do).compile()
    assert "mapped" in str(refused.value)


def test_graph_in_maps_is_refused_under_a_policy() -> None:
    """Its calls would go past the state's door all the same."""
    do = chart(nothing).mapped(input={}, output={})
    with pytest.raises(DefinitionError, match="would not bind"):
        flat(do, policy=policy("two_turns")).compile()
