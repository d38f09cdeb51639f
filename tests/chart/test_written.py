"""Wrong definitions: each is refused when the chart is built, with what is wrong, where, and what to write."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.chart.compiler import build
from stateward.chart.event import Event
from stateward.chart.state import Final, Parallel, State, Superstate
from stateward.chart.transition import History, after, on, when
from stateward.errors import DefinitionError

A: Any = State("A")


def yes(state: object) -> bool:
    return True


def inside(**given: Any) -> Any:
    """Return a superstate `OUT` whose state `A` is given something."""
    return Superstate("OUT", State("A", **given))


def refused(*states: Any, **chart: Any) -> str:
    """Return what the author of a chart is told."""
    with pytest.raises(DefinitionError) as error:
        build("bad", states, **chart)
    return str(error.value)


@pytest.mark.parametrize("name", ["__hub__", "__rest__", "__enter__", "__start__", "__end__", "__interrupt__", "__x"])
def test_a_name_of_langgraph_s_own_is_no_state_name(name: str) -> None:
    """A node of that name would be another one; the message says how to call it."""
    told = refused(Superstate("OUT", State(name)))
    assert told.startswith(f"`{name}` is not a state name, for those that begin with `__`")
    assert told.endswith(f"(at OUT). Call it `{name.strip('_')}`.")


@pytest.mark.parametrize("name", ["a:b", "a|b", "a b", "", "-a", None, 3])
def test_a_name_is_made_of_letters_digits_and_hyphens(name: Any) -> None:
    """What is no text is none either."""
    assert "is not a state name (at OUT). Use letters, digits" in refused(Superstate("OUT", State(name)))


@pytest.mark.parametrize(
    ("child", "told"),
    [
        ("A", "'A' is no state (at OUT). Write `State('A')`."),
        ([A], "a list is no state (at OUT). Write the states one after the other, without a list"),
        (State, "is no state (at OUT). Make one, with a name: `State(NAME, …)`."),
        (3, "3 is no state (at OUT). Write `State(…)`, `Superstate(…)`, `Parallel(…)` or `Final(…)`."),
    ],
)
@pytest.mark.parametrize("around", [Superstate, Parallel])
def test_only_states_stand_inside(around: Any, child: Any, told: str) -> None:
    """Of superstates and of parallel states."""
    assert told in refused(around("OUT", child))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {"on": "go"},
            "`on` has 'go', not a transition (at OUT.A). A name leads nowhere by itself: write `on('go', TARG",
        ),
        ({"on": ["go"]}, "write `on('go', TARGET)`"),
        ({"on": 3}, "`on` has 3, not a transition (at OUT.A). Write `on(EVENT, TARGET)` or `after(SECONDS, TARGET)`."),
        ({"on": {"go": "A"}}, "not a transition"),
        (
            {"on": when(yes, "A")},
            "`on` has `when(…)`, not a transition (at OUT.A). A transition without an event belongs",
        ),
        ({"on": on(3, "A")}, "3 is no event (at OUT.A). Give a name, or a class that inherits from `Event`."),  # pyright: ignore
        ({"on": on(int, "A")}, "<class 'int'> is no event (at OUT.A)"),  # pyright: ignore
        ({"on": on("a b", "A")}, "`a b` is not an event name (at OUT.A)"),
        ({"on": on("go", 3)}, "`on` leads to 3, which is no target (at OUT.A). Name a state, or write `History("),  # pyright: ignore
        ({"on": on("go", A)}, "`on` leads to State('A'), which is no target (at OUT.A). Write its name, 'A'"),
        ({"on": on("go", History(3))}, "`on` leads to History(3), which is no target"),  # pyright: ignore
        ({"on": on("go", "A", when="yes")}, "`when` is 'yes', which is not callable (at OUT.A). Pass a function."),  # pyright: ignore
        ({"on": on("go", "A", do=3)}, "`do` is 3, which is not callable"),  # pyright: ignore
        ({"on": on("go", "A", internal="no")}, "`internal` is 'no' (at OUT.A). Write True or False."),  # pyright: ignore
        ({"on": after("3", "A")}, "`after` is given '3' for its seconds (at OUT.A)"),  # pyright: ignore
        ({"to": 3}, "`to` leads to 3, which is no target (at OUT.A)"),
        ({"to": ["A", 3]}, "`to` leads to 3, which is no target"),
        ({"to": yes}, "Write `when(GUARD, TARGET)`."),
        (
            {"to": on("go", "A")},
            "`to` leads to `on(…)`, which is no target (at OUT.A). What waits for an event or for ti",
        ),
        ({"to": when(3, "A")}, "`when` is 3, which is not callable"),  # pyright: ignore
        ({"to": when(yes, None)}, "`to` leads to None, which is no target"),  # pyright: ignore
        ({"always": 3}, "`always` leads to 3, which is no target"),
        ({"entry": 3}, "`entry` is 3, which is not callable (at OUT.A). Pass a function."),
        ({"exit": [yes, "x"]}, "`exit` is 'x', which is not callable"),
        ({"do": "x"}, "`do` is 'x', which nobody can call (at OUT.A). Pass a function, a Runnable or an agent."),
        ({"do": yes, "tools": [yes]}, "not a tool's name (at OUT.A). Write its name, `yes`, and give the tool to"),
        ({"do": yes, "tools": 3}, "`tools` has 3, not a tool's name"),
        ({"do": yes, "model": 3}, "`model` is 3, not the name of a role (at OUT.A)"),
        ({"do": yes, "timeout_s": "3"}, "`timeout_s` is '3' (at OUT.A). Give finite seconds above 0"),
        ({"do": yes, "timeout_s": float("nan")}, "`timeout_s` is nan"),
        ({"do": yes, "timeout_s": True}, "`timeout_s` is True"),
    ],
)
def test_what_a_state_cannot_be_given_is_refused(given: dict[str, Any], told: str) -> None:
    """With the state's path and a way to say it."""
    assert told in refused(inside(**given))


@pytest.mark.parametrize("around", [Superstate, Parallel])
@pytest.mark.parametrize("history", ["dep", "", True, 3])
def test_a_history_of_no_kind_is_refused(around: Any, history: Any) -> None:
    """It would else remember as a shallow one does, or not at all."""
    told = refused(around("OUT", State("A"), history=history))
    assert f"`history` is {history!r} (at OUT). Write `history='shallow'` or `history='deep'`" in told


@pytest.mark.parametrize("initial", [3, [3], "", ["A", ""], A])
def test_where_a_superstate_begins_is_named_by_text(initial: Any) -> None:
    """An empty name would mean the superstate itself."""
    assert "not a state inside (at OUT). Write the state's name, as text." in refused(
        Superstate("OUT", State("A"), initial=initial)
    )


@pytest.mark.parametrize("data", [0, 3, "x"])
def test_the_data_of_a_final_state_is_a_function(data: Any) -> None:
    """A value alone is none."""
    assert f"`data` is {data!r}, which is not callable (at END)" in refused(Final("END", data=data))


def test_what_stands_at_the_chart_is_checked_as_well() -> None:
    """The place is the chart then."""
    assert "`on` has 'go', not a transition (at the chart)" in refused(State("A"), on="go")
    assert "`initial` names 3, not a state inside (at the chart)" in refused(State("A"), initial=3)


@pytest.mark.parametrize("name", ["", " ", None, 3])
def test_a_chart_has_a_name(name: Any) -> None:
    """It is asked for where it is written."""
    with pytest.raises(DefinitionError, match=r"The chart's name is .* \(at Chart\(…\)\)\. Give it one, first of all"):
        build(name, [State("A")])


def test_one_thing_stands_for_a_sequence_of_one() -> None:
    """Where several can be given: a tool, a transition, a target; also a typed event."""

    class Go(Event):
        pass

    chart = build("c", [State("A", do=yes, tools="search", to="A", on=on(Go, "A"))])  # pyright: ignore
    activity = chart.node("A").activity
    assert activity is not None
    assert (activity.tools, len(chart.transitions)) == (("search",), 2)
