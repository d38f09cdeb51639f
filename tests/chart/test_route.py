"""Routes: what taking transitions comes to, as far as no function has a say in it."""

from __future__ import annotations

import pytest

from stateward.chart.compiler import build
from stateward.chart.definition import Route
from stateward.chart.route import route
from stateward.chart.state import AnyState, Final, State, Superstate
from stateward.chart.step import PlainData, advance, start
from stateward.chart.transition import after, on
from tests.chart.machines.nested import nested
from tests.chart.machines.regions import regions
from tests.chart.paths import at, paths, seen


def first(*states: AnyState) -> Route:
    """Return the route of a chart's first transition from its beginning."""
    chart = build("c", states)
    step = start(chart, PlainData())
    return route(chart, chart.transitions[:1], active=step.configuration.active, memory={})


def test_a_route_is_worked_out_once() -> None:
    """The same transition from the same states is looked up."""
    chart = nested()
    active = start(chart, PlainData({"log": []})).configuration.active
    leaving = [t for t in chart.transitions if t.events == ("leave",)]
    assert route(chart, leaving, active=active, memory={}) is route(chart, leaving, active=active, memory={9: ()})


def test_what_history_remembers_decides_the_route_back() -> None:
    """Another memory is another route."""
    chart = nested()
    back = [t for t in chart.transitions if t.events == ("back",)]
    active, history = (0, chart.by_path["E"]), chart.transitions[back[0].index].targets[0]
    routes = [route(chart, back, active=active, memory={history: (chart.by_path[path],)}) for path in ("A.B.D", "A.X")]
    assert [paths(chart, way.entered) for way in routes] == [["A", "A.B", "A.B.D"], ["A", "A.X"]]


def test_a_state_is_active_while_its_own_exit_and_entry_actions_run() -> None:
    """Those left before it are not active any more, those entered after it not yet."""
    chart = nested()
    active = start(chart, PlainData({"log": []})).configuration.active
    again = [t for t in chart.transitions if t.events == ("again",)]
    way = route(chart, again, active=active, memory={})
    assert [paths(chart, stop.active)[1:] for stop in way.exits] == [["A", "A.B", "A.B.C"], ["A", "A.B"], ["A"]]
    assert [paths(chart, stop.active)[1:] for stop in way.entries] == [["A"], ["A", "A.B"], ["A", "A.B", "A.B.C"]]


def test_transitions_of_several_regions_are_one_route() -> None:
    """What they leave and enter is in one order over all regions."""
    chart = regions()
    way = route(chart, chart.transitions[:2], active=start(chart, PlainData()).configuration.active, memory={})
    assert paths(chart, way.exited) == ["P.R.R1", "P.L.L1"]
    assert paths(chart, way.entered) == ["P.L.L2", "P.R.R2"]


def test_a_route_is_silent_where_nothing_happens_on_the_way() -> None:
    """Actions, timers and completions are something; an end of the chart without data is not."""
    assert first(State("A", on=on("x", "B")), State("B")).silent
    assert first(State("A", on=on("x", "B")), Final("B")).silent
    assert not first(State("A", on=on("x", "B")), Final("B", data=lambda state: 1)).silent
    assert not first(State("A", on=on("x", "B"), exit=lambda: None), State("B")).silent
    assert not first(State("A", on=on("x", "B")), State("B", on=after(1, "A"))).silent
    assert not first(State("A", on=on("x", "B")), State("B", to="A")).silent
    assert not first(Superstate("S", State("A", on=on("x", "B")), Final("B"))).silent


def test_only_so_many_routes_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chart with very many combinations forgets them and begins anew; what it does stays the same."""
    monkeypatch.setattr("stateward.chart.route.MOST_ROUTES", 3)
    chart, data = nested(), PlainData({"log": []})
    step = start(chart, data)
    for name in ("next", "leave", "back", "inside", "leave", "back", "outside", "again"):
        step = advance(chart, step.configuration, seen(name), data)
        assert len(chart.tables.routes) <= 3
    assert at(chart, step) == ["A.B.C"]
