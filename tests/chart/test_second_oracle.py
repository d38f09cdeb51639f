"""A second oracle: random charts do the same in python-statemachine; what differs is known, and shown here."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.chart.peer import Peer
from tests.chart.played import Deed, Play, scripts
from tests.chart.random_charts import Features, Sketch, sketches
from tests.chart.sketched import chart

SHARED = Features(
    outer=False, deep_completion=False, outward_history=False, loud_history=False
)
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
