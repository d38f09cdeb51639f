"""A second oracle: random charts do the same in python-statemachine; what differs is known, and shown here."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from stateward.chart.event import Occurrence
from tests.chart.peer import Peer
from tests.chart.played import Deed, Play, scripts
from tests.chart.random_charts import Act, Arrow, Box, Features, Kind, Sketch, sketches
from tests.chart.sketched import chart

SHARED = Features(outer=False, deep_completion=False, outward_history=False, loud_history=False)
"""What both have; docs/design/oracle.md says why the rest is left out."""


def compared(sketch: Sketch, script: list[Deed]) -> None:
    """Play a script on both and compare the active states and the data after every event."""
    play = Play(chart(sketch), script)
    if play.failure is not None and not play.taken:
        return
    peer = Peer(sketch)
    for taken in play.taken:
        if taken.event is not None:
            peer.send(taken.event)
        ours = {play.chart.nodes[state].name for state in taken.step.configuration.active if state}
        if peer.has_ended and not taken.step.final:
            assert any(box.kind == "parallel" and box.name in ours for box in sketch.root.inside)
            return
        assert (peer.active, peer.data) == (ours, taken.state)


@settings(max_examples=40, deadline=None)
@given(sketches(SHARED), scripts)
def test_python_statemachine_does_the_same(sketch: Sketch, script: list[Deed]) -> None:
    """The same active states and data after every event: entries, exits and actions in the same order, and history."""
    compared(sketch, script)


@pytest.mark.slow
@settings(max_examples=3_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sketches(SHARED), scripts)
def test_python_statemachine_does_the_same_on_many_more_charts(sketch: Sketch, script: list[Deed]) -> None:
    """Three thousand charts."""
    compared(sketch, script)


def sketch(*boxes: Box) -> Sketch:
    """Return a chart of these."""
    return Sketch(Box("", "compound", boxes))


def told(name: str, kind: Kind = "atomic", *inside: Box, **rest: Any) -> Box:
    """Return a box that tells when it is entered and left."""
    leaves = () if kind == "final" else (Act(f"-{name}"),)
    return Box(name, kind, inside, entry=(Act(f"+{name}"),), exit=leaves, **rest)


def both(drawn: Sketch, *names: str, mended: bool = True) -> tuple[list[str], list[str]]:
    """Return the log of our kernel and the peer's after some events."""
    play = Play(chart(drawn), [("send", name) for name in names])
    peer = Peer(drawn, mended=mended)
    for name in names:
        peer.send(Occurrence(name=name))
    return play.data.state["log"], peer.data["log"]


def test_peer_numbers_states_of_different_regions_alike() -> None:
    """Unmended it enters a later region before the inside of an earlier one; document order is ours and SCXML's."""
    drawn = sketch(told("P", "parallel", told("L", "compound", told("A", "compound", told("B"))), told("R")))
    ours, peers = both(drawn, mended=False)
    assert (ours, peers) == (["+P", "+L", "+A", "+B", "+R"], ["+P", "+L", "+A", "+R", "+B"])
    assert both(drawn)[1] == ours


def test_peer_runs_the_actions_of_a_transition_into_history_twice() -> None:
    """Ours run once, as SCXML says."""
    leads = Arrow(event="a", targets=("H*",), do=(Act("go"),))
    ours, peers = both(sketch(told("X", arrows=(leads,)), told("H", "compound", told("A"), history="deep")), "a")
    assert (ours.count("go"), peers.count("go")) == (1, 2)


def test_peer_enters_again_what_history_finds_active() -> None:
    """As the W3C's text does, literally; ours enters nothing that is active (docs/design/kernel.md, difference 7)."""
    inner = told("B", "compound", told("C", arrows=(Arrow(event="a", targets=("A*",)),)))
    ours, peers = both(sketch(told("A", "compound", inner, initial=("C",), history="shallow")), "a")
    assert (ours.count("+B"), peers.count("+B")) == (1, 2)


def test_peer_ends_with_a_complete_parallel_state_at_the_top() -> None:
    """Ours goes on: SCXML ends with a final state at the top only."""
    region = told("R", "compound", told("F", "final"))
    drawn = sketch(told("P", "parallel", region, arrows=(Arrow(event="a", targets=("P",)),)))
    assert Peer(drawn).has_ended
    assert both(drawn, "a")[0][-3:] == ["+P", "+R", "+F"]


def test_peer_does_not_complete_a_parallel_state_through_a_parallel_region() -> None:
    """Ours tells it, level by level."""
    inner = told("I", "parallel", told("R", "compound", told("F", "final")))
    drawn = sketch(told("P", "parallel", inner, to=(Arrow(targets=("OUT",)),)), told("OUT"))
    ours, peers = both(drawn)
    assert ("+OUT" in ours, "+OUT" in peers) == (True, False)
