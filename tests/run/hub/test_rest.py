"""News for regions: events, timers and answers come one thing a checkpoint, before the run waits and while it works."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward.run.hub import attention
from stateward.run.store.database import Database
from stateward.testing import ManualClock
from tests.charts.beside import Gate, compiled_beside, says
from tests.charts.drive import Driven

Drive = Callable[..., Driven]


def test_event_to_one_region_stops_its_activity_and_no_other(drive: Drive, database: Database) -> None:
    """B posts `skip` to A; A's activity is stopped, B's goes on where it was."""
    stopped: list[str] = []
    began: list[str] = []
    left = Gate()

    async def forever(state: Any) -> Any:
        began.append("a")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            stopped.append("a")
            raise

    async def post(state: Any) -> Any:
        began.append("b")
        database.mailbox.post("s1", "skip")
        await left.wait()
        return {"log": ["b"]}

    graph = compiled_beside(
        [
            sw.State("A1", do=forever, to="END", on=sw.on("skip", "A2")),
            sw.State("A2", do=says("a2"), to="END", exit=left.open),
        ],
        [sw.State("B1", do=post, to="END")],
    )
    assert drive(graph).start({}).values["log"] == ["a2", "b"]
    assert (began, stopped) == (["a", "b"], ["a"])


def test_event_that_leaves_no_state_disturbs_no_activity(drive: Drive, database: Database) -> None:
    """It is a step of its own; both activities go on."""
    heard, began = Gate(), list[str]()

    def hear(state: Any) -> Any:
        heard.open()
        return {"log": ["heard"]}

    async def post(state: Any) -> Any:
        began.append("a")
        database.mailbox.post("s1", "note")
        await heard.wait()
        return {"log": ["a"]}

    a = sw.State("A1", do=post, to="END", on=sw.on("note", do=hear))
    graph = compiled_beside([a], [sw.State("B1", do=says("b", after=heard), to="END")])
    assert drive(graph).start({}).values["log"] == ["heard", "a", "b"]
    assert began == ["a"]


def test_events_posted_before_the_wait_are_taken_before_it(
    drive: Drive, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One a checkpoint, in the order of posting; the run waits only when none is left."""
    monkeypatch.setattr(attention, "POLL_S", 3600)  # A's end comes first, however slow the machine is
    monkeypatch.setattr(attention, "LONGEST_S", 3600)

    def post() -> None:
        for event in ("left", "nobody", "right"):
            database.mailbox.post("s1", event)

    graph = compiled_beside(
        [sw.State("A1", do=says("a", then=post), to="A2"), sw.State("A2", on=sw.on("left", "END"))],
        [sw.State("B1", on=sw.on("right", "B2")), sw.State("B2", on=sw.on("end", "END"))],
    )
    driven = drive(graph)
    assert driven.start({}).path == "P.A.END, P.B.B2"
    assert [letter.status for letter in database.mailbox.list("s1")] == ["taken", "refused", "taken"]
    events = [checkpoint.values["stateward"]["last"]["event"] for checkpoint in driven.checkpoints[2:]]
    assert events == ["start", "done.activity.P.A.A1", "left", "right"]


def test_timer_of_one_region_stops_its_activity_and_no_other(drive: Drive, clock: ManualClock) -> None:
    """A's time is up while B works."""
    late = Gate()

    async def forever(state: Any) -> Any:
        clock.advance(60)
        await asyncio.Event().wait()

    graph = compiled_beside(
        [
            sw.State("A1", do=forever, to="END", on=sw.after(60, "A2")),
            sw.State("A2", do=says("late"), to="END", exit=late.open),
        ],
        [sw.State("B1", do=says("b", after=late), to="END")],
    )
    assert drive(graph).start({}).values["log"] == ["late", "b"]


def test_timers_of_waiting_regions_wake_the_session(drive: Drive, clock: ManualClock) -> None:
    """The interrupt says when; going on then takes what is due, region by region."""
    graph = compiled_beside([sw.State("A1", on=sw.after(10, "END"))], [sw.State("B1", on=sw.after(20, "END"))])
    driven = drive(graph)
    outcome = driven.start({})
    (interrupted,) = driven.session.graph.get_state(driven.session.config).interrupts
    assert interrupted.value["wakes_at"] == outcome.wakes_at == clock.now() + 10
    clock.advance(10)
    assert driven.resume().path == "P.A.END, P.B.B1"
    clock.advance(10)
    assert driven.resume().status == "completed"


def test_nothing_due_leaves_the_wait_as_it_is(drive: Drive) -> None:
    """No checkpoint more."""
    driven = drive(compiled_beside([sw.State("A1", on=sw.after(10, "END"))], [sw.State("B1", on=sw.on("go", "END"))]))
    driven.start({})
    before = len(driven.checkpoints)
    assert (driven.resume().status, len(driven.checkpoints)) == ("waiting", before)


def test_input_on_waiting_regions_is_an_event(drive: Drive) -> None:
    """Who takes it says what it does."""
    driven = drive(compiled_beside([sw.State("A1", on=sw.on("input", "END"))], [sw.State("B1", on=sw.on("go", "END"))]))
    driven.start({"text": "first"})
    outcome = driven.start({"text": "second"})
    assert (outcome.path, outcome.values["text"]) == ("P.A.END, P.B.B1", "second")
