"""The charts inside a graph go on under their new definition, each in its own checkpoints."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command

import stateward as sw
from stateward.errors import Drift, GovernanceError, InputRefused
from stateward.migration import Migration, adopt_nodes
from stateward.run.store.database import Database
from stateward.testing import How, run_graph
from tests.charts.around import CONFIG, Report, Trail, around, inside, report
from tests.charts.drive import policy
from tests.charts.inside import RENAMED, adopted, pausing
from tests.charts.one import One
from tests.charts.refunds import look_then_refund
from tests.charts.tools import Shop


@pytest.fixture
def saver() -> InMemorySaver:
    return InMemorySaver()


def begun(how: How, saver: Any, node: Any = None) -> None:
    """Let a graph wait in its chart."""
    run_graph(around(node or pausing(), saver=saver), {"log": ["in"]}, how=how, config=CONFIG)


def test_a_renamed_wait_inside_waits_on(how: How, saver: InMemorySaver) -> None:
    """Additive keys still count once, and the graph around goes on."""
    begun(how, saver)
    graph = around(pausing("PAUSE"), saver=saver)
    (told,) = adopted(graph, RENAMED, how=how)
    assert (told.node, told.session, told.status_word) == ("chart", "t", "migrated")
    assert inside(graph).next == ("PAUSE",)
    final = run_graph(graph, Command(resume="go"), how=how, config=CONFIG)
    assert final["log"] == ["in", "before", "first", "last", "after"]


def test_a_dry_run_tells_each_node_and_changes_nothing(how: How, saver: InMemorySaver) -> None:
    """One that is not declared blocks."""
    begun(how, saver)
    graph = around(pausing("PAUSE"), saver=saver)
    before = list(saver.list(CONFIG))
    assert [one.status_word for one in adopted(graph, RENAMED, how=how, dry_run=True)] == ["ready"]
    (blocked,) = adopted(graph, how=how, dry_run=True)
    assert [(line.kind, line.name) for line in blocked.blocking] == [("state", "WAIT")]
    assert list(saver.list(CONFIG)) == before


def test_what_blocks_is_an_error_that_names_the_node(how: How, saver: InMemorySaver) -> None:
    """Nothing is written."""
    begun(how, saver)
    with pytest.raises(Drift, match=r"node `chart`, state `WAIT`: Declare"):
        adopted(around(pausing("PAUSE"), saver=saver), how=how)
    assert inside(around(pausing(), saver=saver)).next == ("WAIT",)


def test_two_charts_in_one_step_are_migrated_together_or_not_at_all(how: How, saver: InMemorySaver) -> None:
    """One declaration serves all of them."""

    def both(left: Any, right: Any) -> Any:
        builder = StateGraph(Trail)
        for name, node in (("left", left), ("right", right)):
            builder.add_node(name, node)
            builder.add_edge(START, name)
        return builder.compile(checkpointer=saver)

    run_graph(both(pausing(), pausing(name="other")), {"log": []}, how=how, config=CONFIG)
    with pytest.raises(Drift, match="node `right`, state `WAIT`"):
        adopted(both(pausing(), pausing("PAUSE", name="other")), how=how)
    graph = both(pausing("PAUSE"), pausing("PAUSE", name="other"))
    assert [(one.node, one.status_word) for one in adopted(graph, RENAMED, how=how)] == [
        ("left", "migrated"), ("right", "migrated"),
    ]  # fmt: skip
    assert {task.state.next for task in graph.get_state(CONFIG, subgraphs=True).tasks} == {("PAUSE",)}


def test_a_chart_in_a_graph_in_a_graph_is_found(how: How, saver: InMemorySaver) -> None:
    """It is named with the nodes around it."""

    def deep(chart: Any) -> Any:
        middle = StateGraph(Trail)
        middle.add_node("deep", chart)
        middle.add_edge(START, "deep")
        return around(middle.compile(), saver=saver)

    run_graph(deep(pausing()), {"log": []}, how=how, config=CONFIG)
    graph = deep(pausing("PAUSE"))
    (told,) = adopted(graph, RENAMED, how=how)
    assert (told.node, told.status_word) == ("chart|deep", "migrated")
    assert run_graph(graph, Command(resume="go"), how=how, config=CONFIG)["log"][-2:] == ["last", "after"]


def test_a_chart_with_other_keys_and_a_renamed_one_tells_its_parent_once(how: How) -> None:
    """What it had still to tell is known by the new name of its key."""

    class Noted(Report, total=False):
        """The same, with the chart's key called as the parent's."""

    def chart(key: str, wait: str, schema: Any) -> Any:
        return sw.Chart(
            "inner", schema,
            sw.State("FIRST", do=lambda state: {key: ["first"]}, to=wait),
            sw.State(wait, on=[sw.on("go", "DONE")]),
            sw.Final("DONE"),
        ).compile()  # fmt: skip

    old = report(chart("log", "WAIT", Trail).mapped(input={"log": "lines"}, output={"log": "lines"}))
    run_graph(old, {"lines": ["in"]}, how=how, config=CONFIG)
    graph = report(chart("lines", "PAUSE", Noted))
    graph.checkpointer = old.checkpointer
    keys = {"log": "lines", "messages": None}
    adopted(graph, Migration(states={"WAIT": "PAUSE"}, keys=keys), how=how)
    assert run_graph(graph, Command(resume="go"), how=how, config=CONFIG)["lines"] == ["in", "first"]


def test_a_superstate_alone_is_migrated_too(how: How, saver: InMemorySaver) -> None:
    """It is a chart as any other."""

    def work(check: str) -> Any:
        whole = sw.Chart(
            "desk", Trail,
            sw.Superstate("WORK", sw.State(check, on=[sw.on("fine", "END")]), sw.Final("END"), to="DONE"),
            sw.Final("DONE"),
        )  # fmt: skip
        return around(whole.superstate("WORK", exit_key="went").compile(), saver=saver)

    run_graph(work("CHECK"), {"log": []}, how=how, config=CONFIG)
    graph = work("LOOK")
    adopted(graph, Migration(states={"WORK.CHECK": "WORK.LOOK"}), how=how)
    assert run_graph(graph, Command(resume="fine"), how=how, config=CONFIG)["log"] == ["before", "after"]


def test_an_open_question_inside_is_answered_by_its_old_name(
    how: How, saver: InMemorySaver, database: Database
) -> None:
    """And the effect happens once."""
    shop, rules = Shop(), policy("approve_refunds")

    def asking(act: str) -> Any:
        state = sw.State(act, do=look_then_refund, tools=["lookup", "refund"], to="DONE", policy=rules)
        chart = sw.Chart("inner", One, state, sw.Final("DONE")).compile(tools=shop.box, database=database)
        return around(chart, saver=saver)

    asked = run_graph(asking("ACT"), {"log": []}, how=how, config=CONFIG)["__interrupt__"][0].value
    graph = asking("DO")
    (told,) = adopted(graph, Migration(states={"ACT": "DO"}), how=how)
    assert {line.kind for line in told.lines} >= {"state", "ask", "call"}
    answer = {"answers": {asked["asks"][0]["id"]: {"decision": "approve", "by": "ann"}}}
    final = run_graph(graph, Command(resume=answer), how=how, config=CONFIG)
    assert (final["log"][-1], shop.effects.count(("refund", "A1"))) == ("after", 1)
    assert [row.record["node"] for row in database.audit.rows("t") if row.record["event"] == "migrated"] == ["chart"]


def test_a_run_is_migrated_twice(how: How, saver: InMemorySaver) -> None:
    """The second time from where the first has led."""
    begun(how, saver)
    adopted(around(pausing("PAUSE"), saver=saver), RENAMED, how=how)
    graph = around(pausing("REST"), saver=saver)
    adopted(graph, Migration(states={"PAUSE": "REST"}), how=how)
    assert run_graph(graph, Command(resume="go"), how=how, config=CONFIG)["log"][-1] == "after"


def test_where_nothing_waits_there_is_nothing_to_tell(how: How, saver: InMemorySaver) -> None:
    """A run that has ended adopts nothing, and one under the definition at hand says so."""
    begun(how, saver)
    graph = around(pausing(), saver=saver)
    (told,) = adopted(graph, RENAMED, how=how, dry_run=True)
    assert told.status_word == "nothing to do"
    run_graph(graph, Command(resume="go"), how=how, config=CONFIG)
    assert adopted(around(pausing("PAUSE"), saver=saver), how=how) == ()


def test_a_node_that_is_gone_is_named(how: How, saver: InMemorySaver) -> None:
    """LangGraph finds a run by the name of its node."""
    begun(how, saver)
    builder = StateGraph(Trail)
    builder.add_node("renamed", pausing("PAUSE"))
    builder.add_edge(START, "renamed")
    with pytest.raises(Drift, match=r"node `chart`.*keep the node, under this name"):
        adopted(builder.compile(checkpointer=saver), RENAMED, how=how)


def test_wrong_uses_are_refused(how: How, saver: InMemorySaver) -> None:
    """A chart itself, a graph without checkpoints, no session, nobody."""
    with pytest.raises(InputRefused, match="is a chart itself"):
        adopted(pausing(), how=how)
    graph = around(pausing(), saver=saver)
    with pytest.raises(InputRefused, match="names no session"):
        adopted(graph, how=how, config={"configurable": {}})
    graph.checkpointer = None
    with pytest.raises(InputRefused, match="without a checkpointer"):
        adopted(graph, how=how)


def test_somebody_must_be_named(saver: InMemorySaver) -> None:
    """The audit log says who migrated."""
    with pytest.raises(GovernanceError, match="named person"):
        adopt_nodes(around(pausing(), saver=saver), CONFIG, by=" ")
