"""The step of a node whose call is to stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import stateward as sw
from tests.charts.beside import Gate, compiled_beside, says
from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.charts.stuck import Stuck, cancelled_while

Drive = Callable[..., Driven]


def test_regions_stop_together_and_keep_what_they_committed(drive: Drive) -> None:
    """One had ended, the other is stopped."""
    stuck, gate = Stuck(), Gate()

    async def wait(state: Any) -> None:
        await gate.wait()
        await stuck(state)

    regions = [[sw.State("S", do=wait, to="END")], [sw.State("S", do=says("b"), to="T")]]
    regions[1].append(sw.State("T", do=says("c", opens=[gate]), to="END"))
    outcome = cancelled_while(drive(compiled_beside(*regions)), stuck.begun)
    assert (outcome.status, outcome.values["log"][0], stuck.stopped) == ("cancelled", "b", ["activity"])


def test_run_that_heeds_events_is_cancelled(drive: Drive) -> None:
    """Its activity is a task beside what may come."""
    stuck = Stuck()
    outcome = cancelled_while(drive(compiled(stuck, on=[sw.on("stop", "DONE")])), stuck.begun)
    assert (outcome.status, stuck.stopped) == ("cancelled", ["activity"])
