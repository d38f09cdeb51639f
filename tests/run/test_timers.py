"""Timers: due times lie in the checkpoint, and each fires once, in its order, or never when it was cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stateward as sw
from stateward.errors import NotExpected
from stateward.run.checkpoint import CHANNEL
from stateward.run.timers import Agenda
from stateward.testing import How, ManualClock, run_graph
from tests.charts.drive import Driven, policy
from tests.charts.one import One
from tests.charts.timed import nap, reminders

Drive = Callable[..., Driven]
START = 1_000_000.0


def napping(drive: Drive) -> Driven:
    driven = drive(nap().compile())
    driven.start({"log": []})
    return driven


def reminding(drive: Drive, *orders: tuple[str, float]) -> Driven:
    """A session with orders to say something after so many seconds; the word is its id too."""
    driven = drive(reminders().compile())
    driven.start({"log": []})
    for text, after_s in orders:
        driven.resume("remind", data={"text": text, "after_s": after_s, "id": text})
    return driven


# -- waiting and firing -----------------------------------------------------------------------------------


def test_a_wait_says_when_it_wakes(drive: Drive) -> None:
    """The interrupt, the outcome and the session's row name the first moment."""
    driven = napping(drive)
    (interrupt,) = driven.session.graph.get_state(driven.session.config).interrupts
    assert interrupt.value["wakes_at"] == driven.session.outcome().wakes_at == START + 10
    assert driven.session.database.sessions.get("s1").wakes_at == START + 10


def test_a_wait_without_timers_says_nothing_of_waking(drive: Drive) -> None:
    """Its interrupt has the shape it always had."""
    driven = reminding(drive)
    (interrupt,) = driven.session.graph.get_state(driven.session.config).interrupts
    assert set(interrupt.value) == {"kind", "state", "events"}
    assert driven.session.outcome().wakes_at is None


def test_going_on_before_the_time_changes_nothing(drive: Drive, clock: ManualClock) -> None:
    """The call comes back waiting, without a checkpoint."""
    driven = napping(drive)
    before = len(driven.checkpoints)
    clock.advance(9.9)
    outcome = driven.resume()
    assert (outcome.status, outcome.path, len(driven.checkpoints)) == ("waiting", "HOUSE.NAP", before)


def test_going_on_when_the_time_has_come_fires(drive: Drive, clock: ManualClock) -> None:
    """One checkpoint takes the timer and all that follows from it."""
    driven = napping(drive)
    before = len(driven.checkpoints)
    clock.advance(10)
    outcome = driven.resume()
    assert (outcome.path, outcome.values["log"], len(driven.checkpoints)) == ("HOUSE.UP", ["woke"], before + 1)
    assert driven.control["last"]["event"] == "after.HOUSE.NAP.0"
    assert outcome.wakes_at == START + 60


def test_leaving_a_state_cancels_its_timers(drive: Drive, clock: ManualClock) -> None:
    """A timer of `after` fires only while its state is active; entered again, the state starts anew."""
    driven = napping(drive)
    clock.advance(8)
    driven.resume("call")
    driven.resume("tired")
    clock.advance(8)
    assert driven.resume().path == "HOUSE.NAP"
    clock.advance(2)
    assert driven.resume().values["log"] == ["woke"]


def test_timers_of_an_outer_state_run_on(drive: Drive, clock: ManualClock) -> None:
    """Moving about inside does not touch them."""
    driven = napping(drive)
    driven.resume("call")
    clock.advance(30)
    driven.resume("tired")
    clock.advance(30)
    outcome = driven.resume()
    assert (outcome.path, outcome.values["log"]) == ("OUT", ["woke"])
    assert outcome.wakes_at is None


def test_what_is_due_comes_in_the_order_of_its_moments(drive: Drive, clock: ManualClock) -> None:
    """Late as it is, each event finds the state that the one before has left; equal moments keep their order."""
    driven = reminding(drive, ("c", 3), ("a", 1), ("b", 2), ("a2", 1))
    clock.advance(60)
    assert driven.resume().values["log"] == ["a", "a2", "b", "c"]


def test_a_cancelled_event_never_comes(drive: Drive, clock: ManualClock) -> None:
    """Neither when its time comes nor later; others are not touched."""
    driven = reminding(drive, ("a", 1), ("b", 2), ("a", 3))
    driven.resume("forget", data={"id": "a"})
    clock.advance(2)
    assert driven.resume().values["log"] == ["b"]
    clock.advance(60)
    assert driven.resume().values["log"] == ["b"]


def test_no_delay_is_after_the_whole_step(drive: Drive) -> None:
    """The event comes in the same commit, when all that the step raised is done."""

    def orders(state: Any) -> Any:
        return [sw.Delayed("late", after_s=0), "early", {"log": ["go"]}]

    chart = sw.Chart(
        "now",
        One,
        sw.State(
            "A",
            on=[
                sw.on("go", do=orders),
                sw.on("early", do=lambda state: {"log": ["early"]}),
                sw.on("late", do=lambda state: {"log": ["late"]}),
            ],
        ),
    )
    driven = drive(chart.compile())
    driven.start({})
    before = len(driven.checkpoints)
    assert driven.resume("go").values["log"] == ["go", "early", "late"]
    assert len(driven.checkpoints) == before + 1


def test_events_without_delay_that_never_end_trip_the_fuse(drive: Drive) -> None:
    """Each sends the next: the run halts at the limit of microsteps, as a circle of eventless transitions does."""
    chart = sw.Chart(
        "round",
        One,
        sw.State(
            "A",
            entry=lambda state: sw.Delayed("again", after_s=0),
            on=[sw.on("again", "A")],
            policy=policy("five_microsteps"),
        ),
    )
    outcome = drive(chart.compile()).start({})
    assert (outcome.status, (outcome.reason or {})["event"]) == ("halted", "fuse.microsteps")


def test_a_timer_that_no_transition_takes_is_gone(drive: Drive, clock: ManualClock) -> None:
    """Its guard is false when its time has come; that was this timer."""
    chart = sw.Chart(
        "once", One, sw.State("A", on=[sw.after(1, "B", when=lambda s: False), sw.on("go", "B")]), sw.Final("B")
    )
    driven = drive(chart.compile())
    driven.start({})
    clock.advance(1)
    assert (driven.resume().status, driven.session.outcome().wakes_at) == ("waiting", None)


def twice(state: One) -> float:
    return state.get("number", 0) * 2.0


def test_seconds_may_be_worked_out_on_entry(drive: Drive) -> None:
    """A function of the state says them."""
    chart = sw.Chart("fn", One, sw.State("A", on=[sw.after(twice, "B")]), sw.Final("B"))
    assert drive(chart.compile()).start({"number": 21}).wakes_at == START + 42


def test_a_new_run_has_no_timers_of_the_last(drive: Drive, clock: ManualClock) -> None:
    """They end with their run."""
    driven = reminding(drive, ("a", 5))
    assert driven.resume("end").wakes_at is None
    driven.start({})
    clock.advance(60)
    assert "a" not in driven.resume().values["log"]


# -- what comes first -------------------------------------------------------------------------------------


def test_what_is_due_comes_before_an_event(drive: Drive, clock: ManualClock) -> None:
    """The event finds the chart where the timer has led it, in one checkpoint."""
    driven = napping(drive)
    clock.advance(10)
    before = len(driven.checkpoints)
    assert driven.resume("note").values["log"] == ["woke", "note"]
    assert len(driven.checkpoints) == before + 1


def test_an_event_that_is_not_awaited_after_what_is_due_is_refused(drive: Drive, clock: ManualClock) -> None:
    """Nothing changes, and the message tells the way out."""
    driven = napping(drive)
    clock.advance(10)
    before = len(driven.checkpoints)
    with pytest.raises(NotExpected, match="come first"):
        driven.resume("call")
    assert (len(driven.checkpoints), driven.session.outcome().path) == (before, "HOUSE.NAP")
    assert driven.resume().path == "HOUSE.UP"


def test_what_is_due_comes_before_an_input(drive: Drive, clock: ManualClock) -> None:
    """An input on a waiting session is an event like others."""
    chart = sw.Chart(
        "in",
        One,
        sw.State("A", on=[sw.after(1, "B", do=lambda state: {"log": ["due"]})]),
        sw.State("B", on=[sw.on("input", "C")]),
        sw.Final("C"),
    )
    driven = drive(chart.compile())
    driven.start({})
    with pytest.raises(NotExpected):
        driven.start({"log": ["in"]})
    clock.advance(1)
    assert driven.start({"log": ["in"]}).values["log"] == ["due", "in"]


# -- activities -------------------------------------------------------------------------------------------


def test_an_activity_sends_events_for_later_and_calls_them_off(drive: Drive, clock: ManualClock) -> None:
    """They are set when its step commits."""

    async def order(state: Any, run: sw.Run[Any]) -> None:
        run.raise_event("late", after_s=5, id="x")
        run.raise_event("later", after_s=9)

    def call_off(state: Any, run: sw.SyncRun[Any]) -> None:
        run.cancel_event("x")

    chart = sw.Chart(
        "acts",
        One,
        sw.State("A", do=order, to="REST"),
        sw.State(
            "REST",
            on=[
                sw.on("late", do=lambda state: {"log": ["late"]}),
                sw.on("later", do=lambda state: {"log": ["later"]}),
                sw.on("off", "OFF"),
            ],
        ),
        sw.State("OFF", do=call_off, to="REST"),
    )
    driven = drive(chart.compile())
    assert driven.start({}).wakes_at == START + 5
    assert driven.resume("off").wakes_at == START + 9
    clock.advance(60)
    assert driven.resume().values["log"] == ["later"]


def test_an_id_needs_a_delay(drive: Drive) -> None:
    """What comes now cannot be called off, and no own timer can be named."""

    def wrong(state: Any, run: sw.SyncRun[Any]) -> Any:
        with pytest.raises(ValueError, match="after_s"):
            run.raise_event("now", id="x")
        with pytest.raises(ValueError, match=r"after\.A"):
            run.cancel_event("after.A.0")
        with pytest.raises(ValueError, match="finite seconds"):
            run.raise_event("never", after_s=-1)

    chart = sw.Chart("wrong", One, sw.State("A", do=wrong, to="B"), sw.Final("B"))
    assert drive(chart.compile()).start({}).status == "completed"


def test_a_chart_that_begins_with_an_activity_counts_from_its_entry(drive: Drive, clock: ManualClock) -> None:
    """The timers of the first states are in the checkpoint before the first activity runs."""

    def slow(state: Any) -> Any:
        clock.advance(3)

    chart = sw.Chart("first", One, sw.State("A", do=slow, on=[sw.after(10, "B")]), sw.Final("B"))
    assert drive(chart.compile()).start({}).wakes_at == START + 10


# -- restart and travel -----------------------------------------------------------------------------------


def test_timers_survive_a_restart(tmp_path: Any, how: How, clock: ManualClock) -> None:
    """Another process finds them where the last one left them, and fires them once."""
    url = f"sqlite:///{tmp_path}/t.db"

    def at(advance_s: float, *given: Any) -> Any:
        clock.advance(advance_s)
        with sw.open(url, clock=clock) as database:
            driven = Driven(sw.Session("s", nap().compile(database=database), database), how)
            return driven.start(*given) if given else driven.resume()

    at(0, {"log": []})
    assert at(4).path == "HOUSE.NAP"
    assert at(6).values["log"] == ["woke"]
    assert at(6).values["log"] == ["woke"]
    assert at(60).path == "OUT"


def test_a_fork_has_the_timers_of_its_checkpoint(drive: Drive, clock: ManualClock) -> None:
    """What was pending there is due by now, whatever became of it later."""
    driven = napping(drive)
    waiting = driven.session.graph.get_state(driven.session.config).config
    driven.resume("call")
    clock.advance(10)
    fork = driven.session.graph.update_state(waiting, {"wants": "sleep"})
    run_graph(driven.session.graph, None, how=driven.how, config=fork)
    assert driven.session.outcome().values["log"] == ["woke"]


def test_without_a_saver_what_is_due_at_once_comes(how: How) -> None:
    """A chart that runs in one go has no checkpoints, and no wait either."""
    chart = sw.Chart(
        "plain",
        One,
        sw.State("A", do=lambda s: None, to="B", exit=lambda s: sw.Delayed("go", after_s=0)),
        sw.State("B", on=[sw.on("go", "C")]),
        sw.Final("C", entry=lambda s: {"log": ["end"]}),
    )
    assert run_graph(chart.compile(), {"log": []}, how=how)["log"] == ["end"]


def test_a_checkpoint_from_before_timers_is_read(drive: Drive) -> None:
    """Its control channel lacks the tables; nothing is pending then."""
    driven = reminding(drive)
    control = {key: value for key, value in driven.control.items() if key not in ("timers", "mail", "ended", "failed")}
    agenda = Agenda(control.get("timers") or {}, driven.session.graph.machine.chart)
    assert (bool(agenda), agenda.wakes_at, agenda.due(1e12), agenda.delta()) == (False, None, None, None)


# -- a model ----------------------------------------------------------------------------------------------

ORDERS = st.lists(
    st.one_of(
        st.tuples(st.just("remind"), st.sampled_from("abc"), st.integers(0, 6)),
        st.tuples(st.just("forget"), st.sampled_from("abc"), st.just(0)),
        st.tuples(st.just("wait"), st.just(""), st.integers(0, 4)),
    ),
    max_size=14,
)


@settings(max_examples=25, deadline=None)
@given(orders=ORDERS)
def test_any_orders_and_waits_say_what_a_list_says(orders: list[tuple[str, str, int]]) -> None:
    """Against the plainest model: a list of (due, number, word), of which what is due is said in its order."""
    clock = ManualClock()
    model: list[tuple[float, int, str, str]] = []
    said: list[str] = []
    with sw.open("memory:", clock=clock) as database:
        session = sw.Session("s", reminders().compile(database=database), database)
        session.start({"log": []})
        for number, (kind, word, seconds) in enumerate(orders):
            if kind == "wait":
                clock.advance(seconds)
                session.resume()
            else:
                data = {"id": word} | ({"text": f"{word}{number}", "after_s": seconds} if kind == "remind" else {})
                session.resume(kind, data=data)
            if kind == "remind":
                model.append((clock.now() + seconds, number, word, f"{word}{number}"))
            if kind == "forget":
                model = [one for one in model if one[2] != word]
            due = sorted(one for one in model if one[0] <= clock.now())
            model = [one for one in model if one not in due]
            said.extend(one[3] for one in due)
            outcome = session.outcome()
            assert outcome.values["log"] == said
            assert outcome.wakes_at == min((one[0] for one in model), default=None)
            assert len(session.graph.get_state(session.config).values[CHANNEL]["timers"]) == len(model)


def test_moments_are_noticed_while_an_activity_runs(drive: Drive, clock: ManualClock) -> None:
    """A timer leaves a state whose activity never ends."""

    async def forever(state: Any) -> None:
        clock.advance(10)
        await asyncio.Event().wait()

    chart = sw.Chart(
        "limit", One, sw.State("A", do=forever, to="B", on=[sw.after(10, "C")]), sw.Final("B"), sw.Final("C")
    )
    assert drive(chart.compile()).start({}).path == "C"
