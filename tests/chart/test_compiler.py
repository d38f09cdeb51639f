"""From the tree to the tables, and what is refused on the way."""

from __future__ import annotations

import json
from typing import Any, ClassVar, cast

import pytest

from stateward.chart.compiler import build
from stateward.chart.event import Event
from stateward.chart.state import AnyState, Final, State, Superstate
from stateward.chart.transition import History, on, when
from stateward.errors import DefinitionError, UnknownTarget
from tests.chart.machines.working import Resume, think, working


def test_paths_run_from_the_top_in_document_order() -> None:
    """Index order is document order, and everything inside a state comes right after it."""
    chart = working()
    paths = [node.path for node in chart.nodes if node.kind != "history"]
    expected = ["", "WORKING", "WORKING.PLAN", "WORKING.ACT", "WORKING.REFLECT", "PAUSED", "DONE"]
    assert paths == expected
    assert chart.node("WORKING").end == chart.by_path["PAUSED"]
    assert chart.events == {"pause": None, "resume": Resume}


def test_names_are_looked_for_from_the_inside_out() -> None:
    """A sibling hides a state further out; the state's own inside comes last."""
    chart = build(
        "names",
        [
            Superstate("A", State("HERE", on=[on("go", "THERE")]), State("THERE"), on=[on("in", "HERE")]),
            State("THERE", on=[on("go", "A.THERE")]),
        ],
    )
    targets = [chart.nodes[transition.targets[0]].path for transition in chart.transitions]
    assert targets == ["A.HERE", "A.THERE", "A.THERE"]


def test_a_superstate_s_to_prefers_its_sibling_over_its_child() -> None:
    """`to="DONE"` of a superstate that has a DONE inside leads to the DONE beside it."""
    chart = build("two", [Superstate("A", Final("DONE"), to="DONE"), Final("DONE")])
    assert [chart.nodes[t.targets[0]].path for t in chart.transitions] == ["DONE"]


def test_completion_is_tried_before_a_wildcard_of_the_same_state() -> None:
    """`on="*"` cannot swallow the completion of its own state."""
    chart = build("wild", [State("A", do=think, to="B", on=[on("*", "A")]), State("B")])
    assert [t.kind for t in chart.tables.triggered[1]] == ["completion", "event"]


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ([State("A", to="B")], r"`B` is no state \(at A\).*Known states: `A`"),
        ([State("A", on=[on("x", History("B"))])], "`B` is no state"),
        ([Superstate("A", State("B"), initial="C")], "`C` is no state"),
    ],
)
def test_an_unknown_target_lists_what_is_known(states: list[AnyState], message: str) -> None:
    """A name that leads nowhere is refused with the names that would."""
    with pytest.raises(UnknownTarget, match=message):
        build("bad", states)


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ([], "no states inside"),
        ([State("A"), State("A")], "Two states are named `A`"),
        ([State("9A")], "`9A` is not a state name"),
        ([State("A.B")], "is not a state name"),
        ([Superstate("A", State("B")), State("C", on=[on("x", History("A"))])], "declares no history"),
        (
            [Superstate("A", State("B"), history="shallow"), State("C", to=History("A", deep=True))],
            "declares shallow history",
        ),
        ([State("A", do=think, timeout_s=0)], "`timeout_s` is 0"),
        ([State("A", tools=["t"])], "there is no `do`"),
        ([State("A", asks=True)], "there is no `do`"),
        ([State("A", do=think, asks=cast("Any", "yes"))], "`asks` is 'yes'"),
        ([State("A", entry=lambda state, run: None)], "names the parameter `run`"),
        ([State("A", to=[when(lambda state, x: True, "A")])], "names the parameter `x`"),
    ],
)
def test_a_wrong_chart_is_refused(states: list[AnyState], message: str) -> None:
    """Every mistake is found when the chart is built, and says where it is."""
    with pytest.raises(DefinitionError, match=message):
        build("bad", states)


def test_two_event_types_of_one_name_are_refused() -> None:
    """An event name means one type in a chart."""

    class Other(Event):
        event_name: ClassVar[str] = "resume"

    with pytest.raises(DefinitionError, match="Two event types are named `resume`"):
        build("bad", [State("A", on=[on(Resume, "A"), on(Other, "A")])])


def test_history_leads_to_the_initial_state_before_the_first_visit() -> None:
    """The history state's default is its superstate's initial state."""
    chart = build("h", [Superstate("A", State("B"), State("C"), initial="C", history="deep"), State("D")])
    history = next(node for node in chart.nodes if node.kind == "history")
    assert history.deep
    assert [chart.nodes[state].path for state in history.default] == ["A.C"]


def test_the_structure_as_json_names_functions_and_leaves_policies_out() -> None:
    """What is hashed is plain JSON and the same for the same chart."""
    text = json.dumps(working().to_json(), sort_keys=True)
    assert text == json.dumps(working().to_json(), sort_keys=True)
    assert "needs_more" in text
    assert "policy" not in text


def test_a_chart_that_asks_nobody_keeps_its_hash() -> None:
    """So that a run that began before it could be said goes on."""
    quiet, asking = (build("one", [State("A", do=think, asks=asks)]).to_json() for asks in (False, True))
    assert ('"asks"' in json.dumps(quiet), '"asks": true' in json.dumps(asking)) == (False, True)
