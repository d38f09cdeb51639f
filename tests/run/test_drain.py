"""Draining: the step is finished, and the run can be gone on with."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import stateward as sw
from stateward.run.store.database import Database
from tests.charts.beside import Beside, Gate, says
from tests.charts.drive import Driven
from tests.charts.waiting import waiting

Drive = Callable[..., Driven]


def test_drained_run_ends_its_step_and_can_be_resumed(drive: Drive, database: Database) -> None:
    """What the step did is kept; the next one is begun by whoever goes on."""
    gate = Gate()
    chart = sw.Chart(
        "two",
        Beside,
        sw.State("A", do=says("a", after=gate), to="B"),
        sw.State("B", do=says("b"), to="DONE"),
        sw.Final("DONE"),
    )
    driven = drive(chart.compile())
    told: list[Any] = []
    with driven.running() as came:
        gate.reached.wait()
        drainer = threading.Thread(target=lambda: told.append(driven.session.drain(by="ann")))
        drainer.start()
        live = database.registry.find("s1")
        while live is not None and not live.waiting:
            pass
        gate.open()
    drainer.join()
    assert [(each.status, each.path, each.values["log"]) for each in (*came, *told)] == [("running", "B", ["a"])] * 2
    assert (database.leases.held("s1"), driven.resume().values["log"]) == (None, ["a", "b"])


def test_session_that_nobody_runs_needs_no_draining(drive: Drive) -> None:
    """It is told where it stands."""
    driven = drive(waiting().compile())
    driven.start({})
    assert driven.session.drain().status == "waiting"
