"""Where XState and the W3C leave different states."""

from __future__ import annotations

from typing import Any

import pytest

import stateward as sw
from stateward.chart.compiler import build
from stateward.errors import DefinitionError
from stateward.exchange.xstate_domain import leaves_source, refuse_hidden, returns, shows, xstate_domain


def note(state: Any) -> None:
    """An action."""


def regions(**parallel: Any) -> Any:
    """Two regions, and an arrow from one to the other."""
    left = sw.Superstate("L", sw.State("X", on=sw.on("go", "P.R.Y")))
    right = sw.Superstate("R", sw.State("X"), sw.State("Y"))
    return build("c", [sw.Parallel("P", left, right, **parallel)])


def test_the_innermost_state_around_both_ends_may_be_parallel_in_xstate() -> None:
    """It is left here and not there."""
    chart = regions()
    source, target, parallel = (chart.by_path[path] for path in ("P.L.X", "P.R.Y", "P"))
    assert xstate_domain(chart.nodes, source=source, targets=(target,), reenter=False) == parallel
    assert chart.tables.domains[0] == 0


@pytest.mark.parametrize("said", [{"entry": note}, {"exit": note}, {"history": "deep"}])
def test_that_shows_if_leaving_it_does_something(said: Any) -> None:
    """Otherwise the two come to the same."""
    quiet, busy = regions(), regions(**said)
    assert shows(quiet.nodes, quiet.transitions[0], reenter=False, timed=frozenset()) is None
    told = shows(busy.nodes, busy.transitions[0], reenter=False, timed=frozenset())
    assert told is not None
    assert told.path == "P"


def test_a_parallel_state_in_a_parallel_state_shows_always() -> None:
    """Its siblings would be left here."""
    inner = sw.Parallel("Q", sw.State("X", on=sw.on("go", "P.Q.Y")), sw.State("Y"))
    chart = build("c", [sw.Parallel("P", inner, sw.State("Z"))])
    assert shows(chart.nodes, chart.transitions[0], reenter=False, timed=frozenset()) is not None


def test_a_transition_inside_leaves_its_source_only_with_reenter() -> None:
    """In XState."""
    chart = build("c", [sw.Superstate("A", sw.State("X"), sw.State("Y"), history="deep")])
    a, memory, x = (chart.by_path[path] for path in ("A", "A.(history)", "A.X"))
    assert not leaves_source(chart.nodes, source=a, targets=(x,), reenter=False)
    assert leaves_source(chart.nodes, source=a, targets=(x,), reenter=True)
    assert not leaves_source(chart.nodes, source=a, targets=(), reenter=True)
    assert returns(chart.nodes, source=x, targets=(memory,))
    assert not returns(chart.nodes, source=a, targets=(memory,))


BOTH = [(None, "A", True), ("P.R.Y", None, True), ("P.R.Y", "A", False)]


@pytest.mark.parametrize(("inner", "outer", "differs"), BOTH)
def test_a_state_around_is_asked_by_each_region_here_and_only_if_none_reacts_there(
    inner: str | None, outer: str | None, differs: bool
) -> None:
    """It shows if one of the two leaves nothing; else the inner one wins in both."""
    left = sw.Superstate("L", sw.State("X", on=sw.on("go", inner)))
    right = sw.Superstate("R", sw.State("X"), sw.State("Y"))
    chart = build("c", [sw.Parallel("P", left, right), sw.State("A")], on=sw.on("go", outer))
    if not differs:
        refuse_hidden(chart.nodes, chart.transitions)
        return
    with pytest.raises(DefinitionError, match="XState asks the outer only if no region of `P` reacts"):
        refuse_hidden(chart.nodes, chart.transitions)


@pytest.mark.parametrize(("target", "differs"), [("TOP.L.X", True), ("TOP.R.P.ONE.X", False)])
def test_the_outer_one_shows_if_the_inner_one_loses_to_a_third_region(target: str, differs: bool) -> None:
    """XState 5.33.3 asks R for nobody, for ONE reacts; here TWO asks R, whose arrow L's does not touch."""
    one = sw.Superstate("ONE", sw.State("X", on=sw.on("go", target)))
    inner = sw.Superstate("R", sw.Parallel("P", one, sw.State("TWO")), on=sw.on("go", "TOP.R.P", internal=True))
    left = sw.Superstate("L", sw.State("X", on=sw.on("go", "TOP.L.X")))
    chart = build("c", [sw.Parallel("TOP", left, inner)])
    if not differs:
        refuse_hidden(chart.nodes, chart.transitions)
        return
    with pytest.raises(DefinitionError, match=r"XState asks the outer only if no region of `TOP\.R\.P` reacts"):
        refuse_hidden(chart.nodes, chart.transitions)
