"""Letters for a later state: they wait until the chart rests, whatever the running state reacts to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import stateward as sw
from stateward.run.store.database import Database
from tests.charts.drive import Driven
from tests.charts.one import One

Drive = Callable[..., Driven]


def busy(database: Database, *events: str, to: str = "OPEN") -> Any:
    """A chart that gets letters while it works, ends its work when `stay` was taken, and waits for `note` or `end`."""

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        for event in events:
            database.mailbox.post(run.session, event)
        while dict(fates(database))["stay"] == "posted":
            await asyncio.sleep(0)
        return {"log": ["acted"]}

    chart = sw.Chart(
        "busy",
        One,
        sw.State("ACT", do=act, on=[sw.on("stay", do=says("stay"))], to=to),
        sw.State("OPEN", on=[sw.on("note", do=says("note")), sw.on("end", "DONE")]),
        sw.Final("DONE"),
    )
    return chart.compile()


def says(word: str) -> Callable[[Any], dict[str, Any]]:
    return lambda state: {"log": [word]}


def fates(database: Database) -> list[tuple[str, str]]:
    return [(letter.event, letter.status) for letter in database.mailbox.list("s1")]


def test_a_letter_for_a_later_state_waits_for_it(drive: Drive, database: Database) -> None:
    """That the running state has some other transition, and takes one behind it first, is no reason to refuse it."""
    driven = drive(busy(database, "note", "stay"))
    assert driven.start({}).values["log"] == ["stay", "acted", "note"]
    assert fates(database) == [("stay", "taken"), ("note", "taken")]


def test_letters_that_wait_keep_their_order(drive: Drive, database: Database) -> None:
    """Also those behind the one that was taken."""
    outcome = drive(busy(database, "note", "stay", "note", "end")).start({})
    assert (outcome.values["log"], outcome.status) == (["stay", "acted", "note", "note"], "completed")


def test_a_letter_that_waited_is_refused_where_the_chart_rests(drive: Drive, database: Database) -> None:
    """With the state it met there; whoever sent it finds it under its first number."""
    drive(busy(database, "other", "stay")).start({})
    letter = database.mailbox.get("s1", 1)
    assert (letter.event, letter.status, letter.at) == ("other", "refused", "OPEN")


def test_a_letter_that_waited_is_refused_at_the_end(drive: Drive, database: Database) -> None:
    """Nobody can take it then."""
    drive(busy(database, "note", "stay", to="DONE")).start({})
    letter = database.mailbox.get("s1", 1)
    assert (letter.status, "The run had ended" in letter.note) == ("refused", True)


def test_a_letter_behind_one_that_starts_an_activity_waits_for_its_end(drive: Drive, database: Database) -> None:
    """One call takes both: the first leads out of the wait, the second comes when the chart rests again."""
    chart = sw.Chart(
        "again",
        One,
        sw.State("OPEN", on=[sw.on("go", "ACT"), sw.on("end", "DONE")]),
        sw.State("ACT", do=says("acted"), to="OPEN"),
        sw.Final("DONE"),
    )
    driven = drive(chart.compile())
    driven.start({})
    for event in ("go", "end"):
        database.mailbox.post("s1", event)
    assert (driven.resume().status, fates(database)) == ("completed", [("go", "taken"), ("end", "taken")])


def test_a_letter_for_no_region_waits_until_all_of_them_rest(drive: Drive, database: Database) -> None:
    """One region waits, another works: the chart is not at rest."""

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        for event in ("later", "stay"):
            database.mailbox.post(run.session, event)
        while dict(fates(database))["stay"] == "posted":
            await asyncio.sleep(0)
        return {"log": ["acted"]}

    rest = sw.State("REST", on=[sw.on("later", do=says("later"))])
    working = sw.Superstate("WORK", sw.State("ACT", do=act, to="REST"), rest)
    idle = sw.Superstate("IDLE", sw.State("SIT", on=[sw.on("stay", do=says("stay"))]))
    driven = drive(sw.Chart("two", One, sw.Parallel("BOTH", working, idle)).compile())
    assert driven.start({}).values["log"] == ["stay", "acted", "later"]
