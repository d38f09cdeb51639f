"""Names of functions, both ways."""

from __future__ import annotations

import functools
from typing import Any

import pytest

import stateward as sw
from stateward.chart.compiler import build
from stateward.errors import DefinitionError
from stateward.exchange.registry import Named, Registry


class Go(sw.Event):
    """An event."""


def first(state: Any) -> bool:
    """A guard."""
    return True


def other() -> Any:
    """Return another function of the same name."""

    def first(state: Any) -> bool:
        return False

    return first


class Agent:
    """An object without a name."""

    def __call__(self, state: Any) -> None:
        return None


def test_functions_go_by_their_own_names_or_by_those_given() -> None:
    """Events go by their event names."""
    registry = Registry.of(guards=[first], actions={"act now": first}, events=[Go])
    assert registry.get("guards", "first", where="here") is first
    assert registry.get("actions", "act now", where="here") is first
    assert registry.events == {"go": Go}


def test_an_unknown_name_lists_the_known_ones() -> None:
    """The place is that in the document."""
    told = r"`x` is not among the registry's guards \(at line 3\)\. Known guards: `first`"
    with pytest.raises(DefinitionError, match=told):
        Registry.of(guards=[first]).get("guards", "x", where="line 3")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([lambda state: True], "has no name of its own"),
        ([first, other()], "Two different guards are called `first`"),
        ({" ": first}, "A name is empty"),
    ],
)
def test_a_registry_has_one_thing_for_a_name(given: Any, told: str) -> None:
    """What has no name of its own needs one."""
    with pytest.raises(DefinitionError, match=told):
        Registry.of(guards=given)


def test_a_thing_is_called_by_the_registry_then_by_itself() -> None:
    """A partial function is its function with arguments."""
    registry = Registry.of(guards={"listed": first})
    assert registry.name_of("guards", first, where="A") == Named(name="listed")
    assert registry.name_of("actions", first, where="A") == Named(name="first")
    assert registry.name_of("guards", functools.partial(first, n=1), where="A") == Named(name="listed", params={"n": 1})


@pytest.mark.parametrize(
    ("thing", "told"),
    [
        (lambda state: True, r"`<lambda>`|has no name that a document could use"),
        (Agent(), "`Agent` has no name that a document could use"),
        (functools.partial(first, object()), "no plain JSON"),
        (functools.partial(first, n=object()), "no plain JSON"),
        (other(), "Two different guards are called `first`"),
    ],
)
def test_what_has_no_name_says_what_to_do(thing: Any, told: str) -> None:
    """The message names the state and the registry."""
    with pytest.raises(DefinitionError, match=told) as caught:
        Registry.of(guards={"first": first}).name_of("guards", thing, where="WORKING.ACT")
    assert caught.value.where == "WORKING.ACT"


def test_the_registry_of_a_chart_has_all_it_uses() -> None:
    """Names that are given are kept."""
    chart = build("c", [sw.State("A", do=Agent, on=[sw.on(Go, "A", when=first), sw.after(first, "A", do=first)])])
    registry = Registry.of_chart(chart, registry=Registry.of(actions={"mine": first}))
    assert {kind: list(things) for kind, things in registry.things.items() if things} == {
        "guards": ["first"],
        "actions": ["mine"],
        "activities": ["Agent"],
        "delays": ["first"],
    }
    assert registry.events == {"go": Go}


def test_two_functions_of_one_name_in_a_chart_are_refused() -> None:
    """The message names the second state."""
    states = [sw.State("A", on=sw.on("go", "B", when=first)), sw.State("B", on=sw.on("go", "A", when=other()))]
    chart = build("c", states)
    with pytest.raises(DefinitionError, match=r"Two different guards are called `first` \(at B\)"):
        Registry.of_chart(chart)
