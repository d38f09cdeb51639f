"""Reminders of open questions: they come while nobody has answered, and no longer."""

from __future__ import annotations

from collections.abc import Callable

import stateward as sw
from stateward import ask
from stateward.replay import replay
from stateward.run.store.database import Database
from stateward.run.travel import Timeline
from stateward.testing import ManualClock
from stateward.waking import wake
from tests.charts.beside import compiled_beside
from tests.charts.drive import Driven
from tests.charts.people import asking, asks

Drive = Callable[..., Driven]
REMINDED = ask.text("City?", remind_s=[60, 600])


def test_a_reminder_comes_and_the_question_stays_open(drive: Drive, clock: ManualClock) -> None:
    """One that no transition takes stands in the timeline."""
    one = drive(asking(REMINDED))
    started = one.start({})
    assert started.wakes_at == clock.now() + 60
    clock.advance(60)
    reminded = one.resume()
    assert (reminded.status, reminded.asks, reminded.wakes_at) == ("waiting", started.asks, clock.now() + 540)
    assert one.control["last"]["event"] == "ask.reminder"
    assert one.answer(started.asks[0], "respond", note="Rome").values["log"] == ["Rome"]


def test_an_answer_drops_the_reminders(drive: Drive, clock: ManualClock) -> None:
    """When the activity waits for no other question."""
    one = drive(asking(REMINDED, ask.text("Way?", remind_s=[90]), at_once=True))
    city, way = one.start({}).asks
    assert one.answer(city, "respond", note="Rome").wakes_at == clock.now() + 60
    assert one.answer(way, "respond", note="car").wakes_at is None
    assert not one.control.get("timers")


def test_a_chart_may_take_a_reminder_as_a_transition(drive: Drive, clock: ManualClock) -> None:
    """It leaves the state; the question is taken back, and its other reminders with it."""
    one = drive(asking(REMINDED, handles=["ask.reminder"]))
    (city,) = one.start({}).asks
    clock.advance(60)
    assert (one.resume().path, one.control.get("timers") or {}) == ("HELP", {})
    assert one.session.database.asks.get(city).status == "withdrawn"


def test_a_reminder_says_what_it_is_about(drive: Drive, clock: ManualClock) -> None:
    """So that whoever looks after the session can pass it on."""
    one = drive(asking(REMINDED, handles=["ask.reminder"]))
    (city,) = one.start({}).asks
    clock.advance(60)
    one.resume()
    assert one.control["event"]["data"] == {"ask": city, "state": "WORK.ACT", "question": "City?", "number": 1}


def test_a_driver_wakes_the_session_for_it(database: Database, clock: ManualClock) -> None:
    """In another process as well: the reminder lies in the checkpoint."""
    graph = asking(REMINDED)
    session = sw.Session("s1", graph, database)
    session.start({})
    clock.advance(61)
    (woken,) = wake(graph, database)
    assert woken.outcome is not None
    assert (woken.outcome.status, len(woken.outcome.asks)) == ("waiting", 1)


def test_regions_are_reminded_each_of_its_own_question(drive: Drive, clock: ManualClock) -> None:
    """What one of them is told drops nothing of the other's."""
    states = [sw.State("S", do=asks([ask.text(text, remind_s=[60])]), asks=True, to="END") for text in ("A?", "B?")]
    one = drive(compiled_beside([states[0]], [states[1]]))
    first, second = one.start({}).asks
    one.answer(first, "respond", note="a")
    assert [timer["id"] for timer in one.control["timers"].values()] == [second]
    clock.advance(60)
    assert one.resume().status == "waiting"
    assert one.answer(second, "respond", note="b").status == "completed"


def test_a_fork_is_reminded_of_its_own_question(drive: Drive, clock: ManualClock) -> None:
    """Its answer drops its reminders."""
    one = drive(asking(REMINDED))
    one.start({})
    timeline = Timeline(one.session.graph, one.session.database, "s1")
    timeline.fork(timeline.rows[-1].checkpoint, name="other")
    (again,) = one.session.outcome().asks
    assert {timer["id"] for timer in one.control["timers"].values()} == {again}
    assert one.answer(again, "respond", note="Rome").wakes_at is None


def test_a_run_with_reminders_is_played_again(drive: Drive, clock: ManualClock) -> None:
    """They come when they came."""
    one = drive(asking(REMINDED))
    (city,) = one.start({}).asks
    clock.advance(60)
    one.resume()
    one.answer(city, "respond", note="Rome")
    (played,) = replay(one.session)
    assert played.divergence is None


def test_a_cancelled_session_is_reminded_of_nothing(drive: Drive, clock: ManualClock) -> None:
    """Nor is it shown as one that waits for a moment, or woken."""
    one = drive(asking(REMINDED))
    one.start({})
    cancelled = one.cancel()
    clock.advance(61)
    database = one.session.database
    assert (cancelled.wakes_at, database.sessions.get("s1").wakes_at) == (None, None)
    assert list(wake(one.session.graph, database)) == []
