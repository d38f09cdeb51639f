"""Event names between XState and a chart."""

from __future__ import annotations

import pytest

from stateward.errors import DefinitionError
from stateward.exchange.xstate_events import inward, outward, overlap, rank


def find(kind: str, name: str) -> str:
    return f"<{kind} {name}>"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("go", "go"),
        ("go.*", "go.*"),
        ("*", "*"),
        ("done.state.A.B", "xstate.done.state.<state A.B>"),
        ("done.activity.A", "xstate.done.actor.<actor A>"),
        ("done.state.*", "xstate.done.state.*"),
        ("done.activity.*", "xstate.done.actor.*"),
        ("done.*", "xstate.done.*"),
    ],
)
def test_a_name_has_its_counterpart(ours: str, theirs: str) -> None:
    """Completions speak of paths here, and of ids there."""
    plain = theirs.replace("<state ", "").replace("<actor ", "").replace(">", "")
    assert outward(ours, known=[ours], find=find, where="A") == theirs
    assert inward(plain, find=lambda kind, id: id, where="A") == ours


def test_a_name_that_others_begin_with_gets_a_star() -> None:
    """In XState it would else mean that event alone; so for families of which there are more than are named."""
    assert outward("go", known=["go", "go.on"], find=find, where="A") == "go.*"
    assert outward("go", known=["go", "gone"], find=find, where="A") == "go"
    assert outward("error", known=[], find=find, where="A") == "error.*"


@pytest.mark.parametrize("name", ["xstate.init", "after.A.0", "xstate"])
def test_a_name_that_would_mean_something_else_is_refused(name: str) -> None:
    """Timers of other states have no name that could be relied on."""
    with pytest.raises(DefinitionError, match="would mean something else"):
        outward(name, known=[], find=find, where="A")


@pytest.mark.parametrize("name", ["xstate.error.actor.x", "xstate.after.100.m.a", "user clicked", "", "a.*.b"])
def test_an_event_that_a_chart_has_not_is_refused(name: str) -> None:
    """XState's own beside completions, and what is no name here."""
    with pytest.raises(DefinitionError, match=r"not an event name|of XState's own"):
        inward(name, find=find, where="states.a.on")


def test_exact_names_come_before_wide_ones_and_the_long_before_the_short() -> None:
    """As XState tries them."""
    assert sorted(["*", "a.*", "b", "a.b.*", "a"], key=rank) == ["b", "a", "a.b.*", "a.*", "*"]
    assert (overlap("a", "a.b"), overlap("a", "ab"), overlap("*", "b"), overlap("a", "a")) == (True, False, True, True)
