"""Time travel of a graph around a chart lands in the chart where the past left it (HAZARDS 13)."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.types import Command

from stateward.testing import How, run_graph
from tests.charts.around import CONFIG, around, inside, waiting
from tests.charts.refunds import asking, look_then_refund
from tests.charts.tools import Shop


@pytest.fixture(autouse=True)
def tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep journal and asks in memory."""
    monkeypatch.setenv("STATEWARD_DB", "memory:")


def asked(graph: Any, how: How) -> str:
    """Run up to a question, and return the ask."""
    return run_graph(graph, {"log": []}, how=how, config=CONFIG)["__interrupt__"][0].value["asks"][0]["id"]


def answered(graph: Any, how: How, ask: str, decision: str, config: Any) -> Any:
    answer = {"answers": {ask: {"decision": decision, "by": "ann"}}}
    return run_graph(graph, Command(resume=answer), how=how, config=config)["log"]


def test_time_travel_lands_on_the_state_inside(how: How) -> None:
    """Going back to a checkpoint inside the chart does not begin it anew (HAZARDS 13, langgraph 8458)."""
    graph = waiting(how)
    there = inside(graph).config
    run_graph(graph, Command(resume="go"), how=how, config=CONFIG)
    run_graph(graph, None, how=how, config=there)
    landed = inside(graph)
    assert landed.next == ("WAIT",)
    assert landed.values["log"] == ["in", "before", "first"]


def test_a_run_goes_on_from_where_time_travel_landed(how: How) -> None:
    """The fork answers again and counts every update once."""
    graph = waiting(how)
    there = inside(graph).config
    run_graph(graph, Command(resume="go"), how=how, config=CONFIG)
    run_graph(graph, None, how=how, config=there)
    final = run_graph(graph, Command(resume="go"), how=how, config=CONFIG)
    assert final["log"] == ["in", "before", "first", "last", "after"]


def test_an_answer_to_the_past_forks(how: How) -> None:
    """A resume with the config inside is another answer, not the recorded one."""
    graph = waiting(how)
    there = inside(graph).config
    run_graph(graph, Command(resume="go"), how=how, config=CONFIG)
    final = run_graph(graph, Command(resume="go"), how=how, config=there)
    assert final["log"] == ["in", "before", "first", "last", "after"]


def test_a_node_replayed_from_before_it_begins_anew(how: How) -> None:
    """The parent's own checkpoint before the node knows nothing of what happened in it."""
    graph = waiting(how)
    before = next(one for one in graph.get_state_history(CONFIG) if one.next == ("chart",))
    run_graph(graph, Command(resume="go"), how=how, config=CONFIG)
    run_graph(graph, None, how=how, config=before.config)
    assert inside(graph).values["log"] == ["in", "before", "first"]


@pytest.mark.parametrize("where", ["inside", "around"])
def test_another_answer_to_a_question_inside_forks(how: How, where: str) -> None:
    """The question is put again on a branch of the chart, and one approval is one effect."""
    shop = Shop()
    graph = around(asking(shop, look_then_refund))
    ask = asked(graph, how)
    past = inside(graph).config if where == "inside" else graph.get_state(CONFIG).config
    for decision, status in (("approve", "ok"), ("reject", "rejected"), ("approve", "ok"), ("reject", "rejected")):
        assert answered(graph, how, ask, decision, past)[1] == status
    assert (shop.done("lookup"), shop.done("refund")) == (["A1"], ["A1", "A1"])


def test_an_event_to_the_past_of_the_graph_around_forks(how: How) -> None:
    """The chart has ended since; it goes on from where it waited last."""
    graph = waiting(how)
    past = graph.get_state(CONFIG).config
    for _ in range(2):
        final = run_graph(graph, Command(resume="go"), how=how, config=past)
        assert final["log"] == ["in", "before", "first", "last", "after"]
    assert run_graph(graph, Command(resume="nope"), how=how, config=past)["__interrupt__"][0].value["refused"]
