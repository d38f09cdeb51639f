"""What a chart inside another graph does with an answer or event that it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.types import Command

import stateward as sw
from stateward.testing import How, run_graph
from tests.charts.around import Trail, around
from tests.charts.refunds import asking, look_then_refund, two_refunds
from tests.charts.tools import Shop

CONFIG: Any = {"configurable": {"thread_id": "t"}}


@pytest.fixture(autouse=True)
def tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep journal and asks in memory."""
    monkeypatch.setenv("STATEWARD_DB", "memory:")


def steps() -> sw.Chart[Trail]:
    """A, B and C wait for `go`, one after the other."""
    waits = [sw.State(name, on=[sw.on("go", after)]) for name, after in (("A", "B"), ("B", "C"), ("C", "D"))]
    return sw.Chart("steps", Trail, *waits, sw.Final("D"))


def beside() -> sw.Chart[Trail]:
    """Two regions, each waiting for an event of its own."""
    regions = [
        sw.Superstate(name, sw.State("W", on=[sw.on(event, "END")]), sw.Final("END"))
        for name, event in (("L", "left"), ("R", "right"))
    ]
    return sw.Chart("beside", Trail, sw.Parallel("P", *regions, to="DONE"), sw.Final("DONE"))


def opened(chart: Any, how: How) -> Any:
    """A parent whose chart waits."""
    graph = around(chart)
    run_graph(graph, {"log": ["in"]}, how=how, config=CONFIG)
    return graph


def told(values: Any) -> Any:
    """What the interrupt says."""
    return values["__interrupt__"][0].value


def resumed(graph: Any, payload: Any, how: How) -> Any:
    return run_graph(graph, Command(resume=payload), how=how, config=CONFIG)


@pytest.mark.parametrize("wrong", ["nope", {"event": "go", "update": {"nobody": 1}}, {"answers": {"x": "approve"}}, 3])
def test_a_wrong_event_is_told_and_the_wait_goes_on(how: How, wrong: Any) -> None:
    """The session is not dead: the next event is taken, and counts once."""
    graph = opened(steps().compile(), how)
    assert told(resumed(graph, wrong, how))["refused"]
    again = told(resumed(graph, "go", how))
    assert (again["state"], "refused" in again) == ("B", False)


def test_a_refusal_in_regions_is_told_and_the_wait_goes_on(how: How) -> None:
    """Where several states wait in one place it is the same."""
    graph = opened(beside().compile(), how)
    assert "`nope`" in told(resumed(graph, "nope", how))["refused"]
    assert told(resumed(graph, "left", how))["events"] == [{"name": "right", "states": ["P.R.W"]}]


def test_a_bare_answer_to_two_questions_is_refused_and_both_stay_open(how: How) -> None:
    """Nobody knows which one was meant; named, both are taken."""
    shop = Shop()
    graph = opened(asking(shop, two_refunds), how)
    asked = told(resumed(graph, "approve", how))
    assert (len(asked["asks"]), "2 are open" in asked["refused"], shop.effects.count(("refund", "A1"))) == (2, True, 0)
    answers = {ask["id"]: {"decision": "approve", "by": "ann"} for ask in asked["asks"]}
    assert resumed(graph, {"answers": answers}, how)["log"][-2:] == ["ok", "after"]


def test_an_answer_of_nobody_is_refused(how: How) -> None:
    """An answer without a name is no approval, and not the end of the session."""
    shop = Shop()
    graph = opened(asking(shop, look_then_refund), how)
    asked = told(resumed(graph, "approve", how))
    assert ("named person" in asked["refused"], shop.effects.count(("refund", "A1"))) == (True, 0)


def test_going_on_does_not_hand_the_last_answer_to_the_next_wait(how: How) -> None:
    """LangGraph keeps what the parent was resumed with, and would answer a later question with it."""
    graph = opened(steps().compile(), how)
    assert told(resumed(graph, "go", how))["state"] == "B"
    assert told(run_graph(graph, None, how=how, config=CONFIG))["state"] == "B"


def test_a_refusal_is_streamed_and_audited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever watches sees it, and so does who looks later."""
    with sw.open("memory:") as database:
        graph = opened(steps().compile(database=database, checkpointer=None), "sync")
        parts = list(graph.stream(Command(resume="nope"), CONFIG, stream_mode="custom", subgraphs=True))
        assert [part["state"] for _, part in parts] == ["A"]
        assert [row.record["event"] for row in database.audit.rows("t")] == ["refused"]
