"""A session that began under an older definition goes on under the new one, and loses nothing on the way."""

from __future__ import annotations

from typing import Any

import pytest

import stateward as sw
from stateward.errors import Drift
from stateward.migration import Migration
from tests.charts.migrated import RENAMED, Crash, Drive, crashing, desk, migrate, notes, renamed
from tests.charts.one import One
from tests.charts.tools import Shop


def room(*, open_: str = "OPEN", shut: str = "SHUT", **rest: Any) -> Any:
    """Two states that wait."""
    return sw.Chart(
        "room",
        One,
        sw.State(open_, on=[sw.on("lock", shut), sw.on("end", "DONE")], **rest),
        sw.State(shut, on=[sw.on("unlock", open_)]),
        sw.Final("DONE"),
    ).compile()


def nothing(state: Any) -> None:
    """Do nothing."""


def repeat(state: Any) -> Any:
    return {"log": [state["text"]]}


def test_a_renamed_state_that_waits_waits_on(drive: Drive) -> None:
    """The run is the same one, under its new definition, on a branch of its own."""
    before = drive(room()).start({"text": "kept"})
    driven = drive(room(open_="READY"))
    report = migrate(driven, Migration(states={"OPEN": "READY"}))
    assert (before.path, notes(report, "state"), report.status_word) == ("OPEN", [("OPEN", "READY")], "migrated")
    outcome = driven.resume("lock")
    assert (outcome.path, outcome.values["text"], driven.control["branch"]) == ("SHUT", "kept", "main.1")


def test_each_checkpoint_from_then_on_names_the_new_definition(drive: Drive) -> None:
    """The old ones keep the names of the old one."""
    old = drive(room())
    old.start({})
    began, driven = len(old.checkpoints), drive(room(open_="READY"))
    migrate(driven, Migration(states={"OPEN": "READY"}))
    driven.resume("end")
    pins = [one.session.graph.machine.pins.named()["chart_hash"] for one in (old, driven)]
    hashes = [checkpoint.metadata["chart_hash"] for checkpoint in driven.checkpoints]
    assert hashes == [pins[0]] * began + [pins[1]] * 2


def test_a_renamed_state_that_was_cut_off_goes_on_and_calls_nothing_again(drive: Drive) -> None:
    """What its activity had called is in the journal under its new name."""
    shop = Shop()

    async def look(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [(await run.tool("lookup", order="A1")).value]}

    with pytest.raises(Crash):
        drive(desk(shop, do=crashing(look))).start({"log": []})
    driven = drive(renamed(shop, do=look))
    migrate(driven, RENAMED)
    assert (driven.resume().values["log"], shop.done("lookup")) == ([{"order": "A1"}], ["A1"])


def test_a_state_moves_into_a_superstate(drive: Drive) -> None:
    """The superstate around it counts as entered."""
    drive(room()).start({})
    inside = sw.State("OPEN", on=[sw.on("end", "DONE")])
    around = sw.Chart("room", One, sw.Superstate("DAY", inside, on=[sw.on("night", "DONE")]), sw.Final("DONE"))
    driven = drive(around.compile())
    migrate(driven, Migration(states={"OPEN": "DAY.OPEN"}))
    assert (driven.control["entries"], driven.resume("night").status) == ({"": 1, "DAY": 1, "DAY.OPEN": 1}, "completed")


def test_what_keeps_its_name_needs_no_declaration(drive: Drive) -> None:
    """Refused until it is adopted, and then it goes on: here only a transition is new."""
    drive(room()).start({})
    driven = drive(room(to="DONE", do=nothing))
    with pytest.raises(Drift, match="stateward migrate"):
        driven.resume("end")
    assert (migrate(driven).status_word, driven.resume("end").status) == ("migrated", "completed")


def test_an_input_that_was_not_looked_at_yet_is_taken_by_the_new_chart(drive: Drive) -> None:
    """The run had been opened, and no state of it was entered."""
    shop = Shop()

    async def die(state: Any, run: sw.Run[Any]) -> Any:
        raise Crash

    with pytest.raises(Crash):
        drive(desk(shop, do=die)).start({"text": "in"})
    driven = drive(renamed(shop, do=repeat))
    report = migrate(driven)
    assert (notes(report, "state"), driven.resume().values["log"]) == ([], ["in"])


@pytest.mark.parametrize(
    ("states", "said"),
    [
        ({}, r'states=\{"OPEN": "NEW"\}'),
        ({"OPEN": "NOWHERE"}, "`NOWHERE` is no state now"),
        ({"OPEN": None}, "name the state it goes on in"),
        ({"OPEN": "DAY"}, "has states inside now"),
    ],
)
def test_a_state_with_no_place_is_refused_with_what_to_declare(drive: Drive, states: Any, said: str) -> None:
    """Nothing is written."""
    drive(room()).start({})
    inside = sw.State("EARLY", on=[sw.on("end", "DONE")])
    driven = drive(sw.Chart("room", One, sw.Superstate("DAY", inside), sw.Final("DONE")).compile())
    before = len(driven.checkpoints)
    with pytest.raises(Drift, match=said):
        migrate(driven, Migration(states=states))
    assert len(driven.checkpoints) == before


def test_a_state_that_would_be_stuck_is_refused(drive: Drive) -> None:
    """It waited for events, and no event leads out of it now."""
    drive(room()).start({})
    chart = sw.Chart("room", One, sw.State("OPEN", do=nothing, to="DONE"), sw.Final("DONE"))
    with pytest.raises(Drift, match="no event leads out"):
        migrate(drive(chart.compile()))
