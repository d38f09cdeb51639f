"""A run inside another graph goes on only under the definition that it began under."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import stateward as sw
from stateward.errors import Drift
from stateward.govern.policy import Fuses, Policy
from stateward.run.graph import ChartGraph
from stateward.testing import How, run_graph
from tests.charts.around import CONFIG, Trail, around, inside
from tests.charts.inside import pausing


def stopped(how: How, chart: ChartGraph) -> Any:
    """Let a graph wait inside, and return its saver."""
    saver = InMemorySaver()
    run_graph(around(chart, saver=saver), {"log": ["in"]}, how=how, config=CONFIG)
    return saver


def limited(calls: int) -> ChartGraph:
    """A chart that waits, under a policy."""
    return sw.Chart(
        "inner",
        Trail,
        sw.State("WAIT", on=[sw.on("go", "DONE")]),
        sw.Final("DONE"),
        policy=Policy(name="limited", fuses=Fuses(calls=calls)),
    ).compile()


@pytest.mark.parametrize("given", [None, Command(resume="go")])
def test_a_renamed_wait_is_refused_and_not_lost(how: How, given: Any) -> None:
    """The run stays where it is, and the old definition goes on with it (HAZARDS 20)."""
    saver = stopped(how, pausing())
    with pytest.raises(Drift, match=r"`WAIT`.*chart `inner` in node `chart`.*adopt_nodes"):
        run_graph(around(pausing("PAUSE"), saver=saver), given, how=how, config=CONFIG)
    old = around(pausing(), saver=saver)
    assert inside(old).next == ("WAIT",)
    assert run_graph(old, Command(resume="go"), how=how, config=CONFIG)["log"][-2:] == ["last", "after"]


def test_another_policy_is_refused(how: How) -> None:
    """The error names what is another one."""
    saver = stopped(how, limited(3))
    with pytest.raises(Drift, match=r"policy .* is now"):
        run_graph(around(limited(4), saver=saver), Command(resume="go"), how=how, config=CONFIG)


def test_what_the_graph_was_resumed_with_is_given_to_nobody(how: How) -> None:
    """An event that was refused does not end the wait of whoever resumes next."""
    saver = stopped(how, limited(3))
    with pytest.raises(Drift):
        run_graph(around(limited(4), saver=saver), Command(resume="go"), how=how, config=CONFIG)
    assert "__interrupt__" in run_graph(around(limited(3), saver=saver), None, how=how, config=CONFIG)


def test_a_run_that_begins_has_the_definition_at_hand(how: How) -> None:
    """Only one that goes on was begun under another."""
    saver = stopped(how, limited(3))
    old = around(limited(3), saver=saver)
    run_graph(old, Command(resume="go"), how=how, config=CONFIG)
    assert "__interrupt__" in run_graph(around(limited(4), saver=saver), {"log": []}, how=how, config=CONFIG)
