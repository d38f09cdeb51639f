"""A run found again in its chart."""

from __future__ import annotations

import pytest

from stateward.chart.compiler import build
from stateward.chart.state import Final, State
from stateward.chart.transition import on
from stateward.errors import DefinitionError
from stateward.picture.trail import trail
from tests.chart.machines.shipping import shipping
from tests.chart.machines.working import working

CHART = working()
SHIPPING = shipping()


def is_large(state: object) -> bool:
    return True


PAYING = build(
    "paying",
    [State("ASKED", on=[on("cash", "PAID"), on("card", "PAID", when=is_large), on("card", "PAID")]), Final("PAID")],
)


def test_a_state_is_active_with_those_around_it() -> None:
    """The whole chain is marked, the chart itself not."""
    assert trail(CHART, highlight=["WORKING.ACT"]).active == {"WORKING", "WORKING.ACT"}


def test_a_transition_is_taken_and_its_ends_visited() -> None:
    """Arrows are written as a history writes them."""
    marks = trail(CHART, path=["WORKING.PLAN -> WORKING.ACT"])
    assert [CHART.tables.arrows[index] for index in marks.taken] == ["WORKING.PLAN -> WORKING.ACT"]
    assert marks.visited == {"WORKING.PLAN", "WORKING.ACT"}


def test_between_states_the_transitions_are_found() -> None:
    """Also those of superstates, and those that lead to what is around the next state, or to its history."""
    marks = trail(SHIPPING, path=["NEW", "HANDLING.GOODS.PICK", "HELD", "HANDLING.GOODS.PICK"])
    assert {SHIPPING.tables.arrows[index] for index in marks.taken} == {
        "NEW -> HANDLING",
        "HANDLING -> HELD",
        "HELD -> HANDLING.(history)",
        "HELD -> HANDLING.GOODS.(history)",
    }


def test_a_state_named_twice_took_no_transition() -> None:
    """Two steps in one state are no self-transition: a history names that by its arrow."""
    assert trail(SHIPPING, path=["HANDLING.GOODS.PICK"] * 2).taken == frozenset()


def test_of_two_arrows_between_two_states_the_one_taken_is_found() -> None:
    """A history writes event and guard where the ends alone would say too little."""
    by_name = {arrow: index for index, arrow in enumerate(PAYING.tables.arrows)}
    assert list(by_name) == ["ASKED -> PAID on cash", "ASKED -> PAID on card [is_large]", "ASKED -> PAID on card"]
    for arrow, index in by_name.items():
        assert trail(PAYING, path=[arrow]).taken == {index}
    assert trail(PAYING, path=["ASKED -> PAID"]).taken == set(by_name.values())


def test_a_history_of_an_earlier_form_of_the_chart_is_understood() -> None:
    """Then the arrow may have been one of several, and is named at more length than is needed."""
    assert trail(CHART, path=["WORKING -> PAUSED on pause"]).taken == trail(CHART, path=["WORKING -> PAUSED"]).taken


def test_an_empty_step_parts_two_states() -> None:
    """What follows it did not come from what is before it."""
    path = ["WORKING.PLAN", "", "WORKING.ACT"]
    assert trail(CHART, path=path).taken == frozenset()
    assert trail(CHART, path=path).visited == {"WORKING.PLAN", "WORKING.ACT"}


def test_one_path_alone_is_taken_as_one() -> None:
    """It is no sequence of letters."""
    assert trail(CHART, highlight="PAUSED").active == {"PAUSED"}
    assert trail(CHART, path="PAUSED").visited == {"PAUSED"}


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        ({"highlight": ["NOWHERE"]}, r"`NOWHERE` is no state .*States: `WORKING`"),
        ({"path": ["NOWHERE"]}, r"`NOWHERE` is no state"),
        ({"path": ["PAUSED -> DONE"]}, r"`PAUSED -> DONE` is no transition .*`WORKING -> PAUSED`"),
    ],
)
def test_what_the_chart_does_not_have_is_an_error(marks: dict[str, list[str]], message: str) -> None:
    """With what it has instead."""
    with pytest.raises(DefinitionError, match=message):
        trail(CHART, **marks)
