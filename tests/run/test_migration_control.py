"""History, timers and regions of a migrated session."""

from __future__ import annotations

from typing import Any, Literal

import pytest

import stateward as sw
from stateward.errors import Drift
from stateward.migration import Migration
from stateward.testing import ManualClock
from tests.charts.beside import beside, says
from tests.charts.drive import Driven, policy
from tests.charts.migrated import Drive, migrate, notes
from tests.charts.one import One
from tests.charts.refunds import look_then_refund
from tests.charts.tools import Shop


def shift(
    *,
    early: str = "EARLY",
    late: str = "LATE",
    day: str = "DAY",
    history: Literal["shallow", "deep"] | None = "shallow",
):
    """A day of two shifts, the second with two parts, and a night that leads back to where the day was left."""
    second = sw.Superstate(late, sw.State("FIRST", on=[sw.on("next", "REST")]), sw.State("REST"))
    inside = sw.Superstate(
        day, sw.State(early, on=[sw.on("next", late)]), second, on=[sw.on("dusk", "NIGHT")], history=history
    )
    back = day if history is None else sw.History(day, deep=history == "deep")
    return sw.Chart("shift", One, inside, sw.State("NIGHT", on=[sw.on("dawn", back)])).compile()


def at_night(drive: Drive, *steps: str, **rest: Any) -> None:
    """A session in NIGHT that left the day after some steps."""
    driven = drive(shift(**rest))
    driven.start({})
    for event in (*steps, "dusk"):
        driven.resume(event)


def test_a_state_in_a_shallow_history_is_renamed(drive: Drive) -> None:
    """The way back leads into the state by its new name."""
    at_night(drive, "next")
    driven = drive(shift(late="EVENING"))
    migrate(driven, Migration(states={"DAY.LATE": "DAY.EVENING"}))
    assert driven.resume("dawn").path == "DAY.EVENING.FIRST"


def test_a_state_in_a_deep_history_is_renamed(drive: Drive) -> None:
    """By the name of a superstate around it."""
    at_night(drive, "next", "next", history="deep")
    driven = drive(shift(late="EVENING", history="deep"))
    report = migrate(driven, Migration(states={"DAY.LATE": "DAY.EVENING"}))
    assert (notes(report, "history"), driven.resume("dawn").path) == ([("DAY", "DAY")], "DAY.EVENING.REST")


def test_a_history_moves_with_its_superstate(drive: Drive) -> None:
    """What it remembers moves along."""
    at_night(drive, "next")
    driven = drive(shift(day="WORK"))
    migrate(driven, Migration(states={"DAY": "WORK"}))
    assert driven.resume("dawn").path == "WORK.LATE.FIRST"


@pytest.mark.parametrize(
    ("change", "said"), [({"late": "EVENING"}, "remembers what is not in it"), ({"history": None}, "no history now")]
)
def test_what_a_history_remembers_is_not_lost_silently(drive: Drive, change: Any, said: str) -> None:
    """Undeclared, it is refused; the session is as it was."""
    at_night(drive, "next")
    driven = drive(shift(**change))
    before = len(driven.checkpoints)
    with pytest.raises(Drift, match=said):
        migrate(driven)
    assert len(driven.checkpoints) == before


def test_a_history_may_forget_on_demand(drive: Drive) -> None:
    """Then it leads where it led before the day was ever left."""
    at_night(drive, "next")
    driven = drive(shift(late="EVENING"))
    report = migrate(driven, Migration(states={"DAY.LATE": None}))
    assert (notes(report, "history"), driven.resume("dawn").path) == ([("DAY", "")], "DAY.EARLY")


# -- timers ---------------------------------------------------------------------------------------------


def nap(*, name: str = "NAP", seconds: float | None = 10.0) -> Any:
    """A state that ends by itself after some time."""
    timers = [] if seconds is None else [sw.after(seconds, "DONE")]
    return sw.Chart("nap", One, sw.State(name, on=[*timers, sw.on("shake", "DONE")]), sw.Final("DONE")).compile()


def test_a_pending_timer_keeps_its_moment(drive: Drive, clock: ManualClock) -> None:
    """It was set under the old name, and rings under the new one, not earlier and not later."""
    due = drive(nap()).start({}).wakes_at
    driven = drive(nap(name="SLEEP", seconds=99.0))
    report = migrate(driven, Migration(states={"NAP": "SLEEP"}))
    assert (notes(report, "timer"), driven.session.outcome().wakes_at) == ([("after.NAP.0", "after.SLEEP.0")], due)
    clock.advance(10)
    assert driven.resume().status == "completed"


def test_the_database_knows_when_a_migrated_session_wakes(drive: Drive) -> None:
    """Who wakes sessions finds it."""
    due = drive(nap()).start({}).wakes_at
    driven = drive(nap(name="SLEEP"))
    migrate(driven, Migration(states={"NAP": "SLEEP"}))
    assert driven.session.database.sessions.get("s1").wakes_at == due


def test_a_timer_that_nothing_waits_for_is_refused(drive: Drive) -> None:
    """It would ring, and nobody would hear it."""
    drive(nap()).start({})
    driven = drive(nap(seconds=None))
    with pytest.raises(Drift, match=r"no `after` of `NAP`.*events="):
        migrate(driven)
    report = migrate(driven, Migration(events={"after.NAP.0": None}))
    assert (notes(report, "timer"), driven.session.outcome().wakes_at) == ([("after.NAP.0", "")], None)


def later(name: str = "ring") -> Any:
    """A state that sends itself an event for later."""
    ask = sw.on("set", do=lambda state: sw.Delayed(name, after_s=5))
    return sw.Chart("later", One, sw.State("ON", on=[ask, sw.on(name, "DONE")]), sw.Final("DONE")).compile()


def test_a_delayed_event_is_renamed(drive: Drive, clock: ManualClock) -> None:
    """Undeclared, it is refused."""
    drive(later()).start({})
    drive(later()).resume("set")
    driven = drive(later("chime"))
    with pytest.raises(Drift, match="no transition for `ring`"):
        migrate(driven)
    migrate(driven, Migration(events={"ring": "chime"}))
    clock.advance(5)
    assert driven.resume().status == "completed"


# -- regions --------------------------------------------------------------------------------------------


def regions(one: str = "X", other: str = "Y", *more: Any) -> Any:
    """Two regions: one works and then waits, the other waits."""
    first = [sw.State(one, do=says("worked"), on=[sw.on("go", "END")])]
    return beside(first, [sw.State(other, on=[sw.on("stop", "END")])], *more).compile()


def both(driven: Driven) -> list[Any]:
    driven.resume("go")
    outcome = driven.resume("stop")
    return [outcome.status, outcome.values["log"]]


def test_states_in_regions_are_renamed(drive: Drive) -> None:
    """The work that was done there is not done again."""
    drive(regions()).start({})
    driven = drive(regions("U", "V"))
    migrate(driven, Migration(states={"P.A.X": "P.A.U", "P.B.Y": "P.B.V"}))
    assert both(driven) == ["completed", ["worked"]]


def test_work_that_a_state_has_got_since_is_not_begun_while_it_waits(drive: Drive) -> None:
    """It is done at the next entry."""
    drive(regions()).start({})
    first = [sw.State("X", do=says("worked"), on=[sw.on("go", "END")])]
    driven = drive(beside(first, [sw.State("Y", do=says("more"), on=[sw.on("stop", "END")])]).compile())
    migrate(driven)
    assert both(driven) == ["completed", ["worked"]]


def paying(shop: Shop, name: str, other: str) -> Any:
    """One region asks a person, the other one waits."""
    tools = [tool.name for tool in shop.box]
    first = [sw.State(name, do=look_then_refund, tools=tools, to="END")]
    second = [sw.State(other, on=[sw.on("stop", "END")])]
    return beside(first, second, policy=policy("approve_refunds")).compile(tools=shop.box)


def test_a_region_that_asks_is_renamed_with_its_question(drive: Drive) -> None:
    """Answered afterwards, its effect happens once, and the other region waits on."""
    shop = Shop()
    drive(paying(shop, "X", "Y")).start({})
    driven = drive(paying(shop, "U", "V"))
    migrate(driven, Migration(states={"P.A.X": "P.A.U", "P.B.Y": "P.B.V"}))
    (ask,) = driven.session.outcome().asks
    assert (driven.answer(ask).status, shop.done("lookup"), shop.done("refund")) == ("waiting", ["A1"], ["A1"])
    assert driven.resume("stop").status == "completed"


def test_a_region_whose_question_is_withdrawn_is_entered_again(drive: Drive) -> None:
    """The other one is left alone."""
    shop = Shop()
    drive(paying(shop, "X", "Y")).start({})
    first = [sw.State("X", do=says("paid by hand"), to="END")]
    migration = Migration(withdraw=frozenset({"refund"}))
    driven = drive(beside(first, [sw.State("Y", on=[sw.on("stop", "END")])]).compile())
    migrate(driven, migration)
    assert (driven.resume().path, driven.resume("stop").values["log"]) == ("P.A.END, P.B.Y", ["paid by hand"])


def test_a_region_without_a_state_is_refused(drive: Drive) -> None:
    """Of a parallel state every region is active."""
    drive(regions()).start({})
    with pytest.raises(Drift, match=r"no state of its region `P\.C`"):
        migrate(drive(regions("X", "Y", [sw.State("Z")])))


def test_states_that_exclude_each_other_are_refused(drive: Drive) -> None:
    """Regions cannot become one state after the other."""
    drive(regions()).start({})
    chart = sw.Chart("beside", One, sw.State("ONE", on=[sw.on("go", "TWO")]), sw.State("TWO", on=[sw.on("go", "ONE")]))
    with pytest.raises(Drift, match="Only one state in it can be active, not `ONE` and `TWO`"):
        migrate(drive(chart.compile()), Migration(states={"P.A.X": "ONE", "P.B.Y": "TWO"}))
