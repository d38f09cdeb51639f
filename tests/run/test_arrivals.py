"""What came while nobody looked: letters and due timers come before anything else, each exactly once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command

import stateward as sw
from stateward.errors import NotExpected
from stateward.run.store.database import Database
from stateward.testing import How, ManualClock, run_graph
from tests.charts.drive import Driven, policy
from tests.charts.one import One, compiled
from tests.charts.timed import Timed
from tests.charts.tools import Shop
from tests.charts.waiting import waiting
from tests.crash.test_torn_step import torn

Drive = Callable[..., Driven]


def opened(drive: Drive) -> Driven:
    driven = drive(waiting().compile())
    driven.start({})
    return driven


def statuses(driven: Driven) -> list[str]:
    return [letter.status for letter in driven.session.database.mailbox.list("s1")]


def note(text: str) -> dict[str, Any]:
    return {"text": text}


# -- letters ----------------------------------------------------------------------------------------------


def test_going_on_takes_letters_in_their_order(drive: Drive) -> None:
    """One call, each letter once; the next call finds nothing and makes no checkpoint."""
    driven = opened(drive)
    for text in "ab":
        driven.session.database.mailbox.post("s1", "note", note(text))
    assert driven.resume().values["heard"] == ["hello", "a", "b"]
    before = len(driven.checkpoints)
    assert driven.resume().values["heard"] == ["hello", "a", "b"]
    assert (statuses(driven), len(driven.checkpoints)) == (["taken", "taken"], before)
    assert driven.control["mail"] == 2


def test_letters_come_before_the_event_of_a_caller(drive: Drive) -> None:
    """The letter was there first; both are one checkpoint."""
    driven = opened(drive)
    driven.session.database.mailbox.post("s1", "note", note("first"))
    before = len(driven.checkpoints)
    assert driven.resume("note", data=note("second")).values["heard"] == ["hello", "first", "second"]
    assert len(driven.checkpoints) == before + 1


def test_an_event_that_a_letter_makes_impossible_is_refused(drive: Drive) -> None:
    """Nothing is taken then; the letter is still there."""
    driven = opened(drive)
    driven.session.database.mailbox.post("s1", "lock")
    with pytest.raises(NotExpected, match="unlock"):
        driven.resume("note", data=note("x"))
    assert (statuses(driven), driven.session.outcome().path) == (["posted"], "OPEN")
    assert driven.resume().path == "LOCKED"


def test_a_letter_that_no_transition_takes_is_refused(drive: Drive) -> None:
    """It says which state it met, the wait goes on without a checkpoint, and letters behind it have their turn."""
    driven = opened(drive)
    mailbox = driven.session.database.mailbox
    mailbox.post("s1", "unlock")
    before = len(driven.checkpoints)
    driven.resume()
    refused = mailbox.get("s1", 1)
    assert (refused.status, refused.at, len(driven.checkpoints)) == ("refused", "OPEN", before)
    assert "`unlock`" in refused.note
    mailbox.post("s1", "unlock")
    mailbox.post("s1", "note", note("a"))
    assert driven.resume().values["heard"] == ["hello", "a"]
    assert statuses(driven) == ["refused", "refused", "taken"]
    assert driven.control["last"]["letters"] == {"refused": [2], "taken": [3]}


def test_a_refused_letter_leaves_nothing_behind(drive: Drive) -> None:
    """Its guard raised, and an action that reacts to that wrote something: it is forgotten with the letter."""

    def broken(state: Any) -> bool:
        raise ValueError("no ink")

    chart = sw.Chart(
        "clean",
        One,
        sw.State(
            "A",
            on=[
                sw.on("go", "B", when=broken),
                sw.on("error.guard", do=lambda state: {"log": ["trouble"]}),
                sw.on("note", do=lambda state: {"log": ["note"]}),
            ],
        ),
        sw.Final("B"),
    )
    driven = drive(chart.compile())
    driven.start({"log": []})
    for event in ("go", "note"):
        driven.session.database.mailbox.post("s1", event)
    assert driven.resume().values["log"] == ["note"]
    assert statuses(driven) == ["refused", "taken"]


def test_a_letter_whose_data_no_longer_fits_is_refused(drive: Drive) -> None:
    """Whoever posted it past `send` is told, and the session lives."""
    driven = opened(drive)
    driven.session.database.mailbox.post("s1", "note", {"nobody": 1})
    driven.session.database.mailbox.post("s1", "error.activity")
    assert driven.resume().path == "OPEN"
    assert statuses(driven) == ["refused", "refused"]


def test_a_letter_that_comes_between_commit_and_wait_is_taken(drive: Drive) -> None:
    """It was posted while the activity ran; the run takes it before it waits, and does not interrupt for it."""

    def act(state: Any) -> Any:
        driven.session.database.mailbox.post("s1", "close")

    driven = drive(compiled(act, to="HELP"))
    assert driven.start({}).status == "completed"
    assert statuses(driven) == ["taken"]


def test_a_letter_that_comes_after_the_last_look_is_taken(drive: Drive, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who lets go of the session looks again afterwards, and goes on."""
    driven = opened(drive)
    database, released = driven.session.database, []
    release = database.leases.release

    def late(lease: Any) -> None:
        if not released:
            released.append(lease)
            database.mailbox.post("s1", "end")
        release(lease)

    monkeypatch.setattr(database.leases, "release", late)
    driven.resume("note", data=note("a"))
    assert (driven.session.outcome().status, statuses(driven)) == ("completed", ["taken"])


def test_letters_that_come_too_late_for_a_run_are_refused(drive: Drive) -> None:
    """The end of a run is not the beginning of the next."""
    driven = opened(drive)
    driven.resume("end")
    driven.session.database.mailbox.post("s1", "note", note("late"))
    assert driven.start({}).values["heard"] == ["hello", "hello"]
    assert statuses(driven) == ["refused"]
    assert "completed" in driven.session.database.mailbox.get("s1", 1).note


def test_a_letter_survives_a_crash_before_its_step_commits(drive: Drive) -> None:
    """It is not taken before the checkpoint says so."""
    driven = opened(drive)
    driven.session.database.mailbox.post("s1", "note", note("a"))
    with torn(driven, at=1):
        driven.resume()
    assert statuses(driven) == ["posted"]
    assert driven.resume().values["heard"] == ["hello", "a"]
    assert driven.resume().values["heard"] == ["hello", "a"]


def test_time_travel_does_not_take_a_letter_again(drive: Drive) -> None:
    """A fork of an earlier checkpoint goes on without it."""
    driven = opened(drive)
    waiting_at = driven.session.graph.get_state(driven.session.config).config
    driven.session.database.mailbox.post("s1", "note", note("a"))
    driven.resume()
    fork = driven.session.graph.update_state(waiting_at, {"text": "fork"})
    run_graph(driven.session.graph, None, how=driven.how, config=fork)
    assert driven.session.outcome().values["heard"] == ["hello"]


def test_a_foreign_saver_has_its_mailbox_in_the_tables(
    how: How, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under a checkpointer that is not ours letters are posted at `STATEWARD_DB`, and taken once."""
    url = f"sqlite:///{tmp_path}/tables.db"
    monkeypatch.setenv("STATEWARD_DB", url)
    graph = waiting().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "s1"}}
    run_graph(graph, {"text": "x"}, how=how, config=config)
    with sw.open(url) as database:
        database.mailbox.post("s1", "note", note("a"))
        for _ in range(2):
            assert run_graph(graph, None, how=how, config=config)["heard"] == ["hello", "a"]
        assert [letter.status for letter in database.mailbox.list("s1")] == ["taken"]
    graph.tables.database(None).close()


# -- asks -------------------------------------------------------------------------------------------------


async def refund(state: Any, run: sw.Run[Any]) -> Any:
    return {"log": [(await run.tool("refund", order="A")).status]}


def asking(drive: Drive, shop: Shop) -> tuple[Driven, str]:
    """A state that asks for 60 s, and may be told to stop."""
    chart = sw.Chart(
        "asks",
        One,
        sw.State(
            "ACT",
            do=refund,
            tools=["refund"],
            to="DONE",
            on=[sw.after(60, "LATE"), sw.on("stop", "LATE"), sw.on("note", do=lambda state: {"log": ["note"]})],
        ),
        sw.State("LATE", on=[sw.on("end", "DONE")]),
        sw.Final("DONE"),
        policy=policy("approve_refunds"),
    )
    driven = drive(chart.compile(tools=shop.box))
    return driven, driven.start({"log": []}).asks[0]


def test_a_timer_leaves_a_state_that_asks(drive: Drive, clock: ManualClock) -> None:
    """Its ask is taken back, and the call is not made."""
    shop = Shop()
    driven, ask = asking(drive, shop)
    clock.advance(60)
    assert (driven.resume().path, shop.effects) == ("LATE", [])
    assert driven.session.database.asks.get(ask).status == "withdrawn"


def test_a_letter_leaves_a_state_that_asks(drive: Drive) -> None:
    """As an event does."""
    driven, ask = asking(drive, Shop())
    driven.session.database.mailbox.post("s1", "stop")
    assert driven.resume().path == "LATE"
    assert driven.session.database.asks.get(ask).status == "withdrawn"


def test_an_answer_comes_after_what_leaves_the_state(drive: Drive, clock: ManualClock) -> None:
    """It is refused before it is recorded: an ask takes only one."""
    driven, ask = asking(drive, Shop())
    clock.advance(60)
    with pytest.raises(NotExpected, match="nobody waits for an answer"):
        driven.send(Command(resume={"answers": {ask: "approve"}, "by": "ann"}))
    assert driven.session.database.asks.get(ask).status == "open"


def test_a_clerk_s_answer_is_not_recorded_when_a_timer_left_the_state(drive: Drive, clock: ManualClock) -> None:
    """Nobody would wait for it, so it is refused, and the ask is as it was."""
    driven, ask = asking(drive, Shop())
    clock.advance(60)
    with pytest.raises(NotExpected, match="nobody waits for an answer"):
        driven.session.answer(ask, "approve", by="ann")
    assert driven.session.database.asks.get(ask).status == "open"
    assert driven.resume().path == "LATE"


def test_an_answer_is_not_lost_to_a_letter_that_stays(drive: Drive) -> None:
    """The letter is taken first, then the activity is entered again with the answer."""
    shop = Shop()
    driven, ask = asking(drive, shop)
    driven.session.database.mailbox.post("s1", "note")
    driven.send(Command(resume={"answers": {ask: "approve"}, "by": "ann"}))
    assert driven.session.outcome().values["log"] == ["note", "ok"]
    assert shop.done("refund") == ["A"]


def test_answers_in_the_database_are_found_after_a_letter(drive: Drive) -> None:
    """Two clerks: one answered, one wrote."""
    driven, ask = asking(drive, Shop())
    driven.session.database.mailbox.post("s1", "note")
    assert driven.answer(ask).values["log"] == ["note", "ok"]


# -- inside another graph ---------------------------------------------------------------------------------


def test_a_chart_inside_another_graph_takes_its_timers_and_no_letters(how: How, database: Database) -> None:
    """Nobody admits what it is resumed with: what is due still comes first, and the mailbox is not its own."""
    chart = sw.Chart(
        "inner",
        Timed,
        sw.State(
            "A",
            entry=lambda state: sw.Delayed("late", after_s=0),
            on=[sw.on("late", do=lambda state: {"log": ["due"]}), sw.on("end", "B")],
        ),
        sw.Final("B"),
    )
    outer: Any = StateGraph(Timed)
    outer.add_node("inner", chart.compile())
    outer.add_edge(START, "inner")
    graph = outer.compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    run_graph(graph, {"log": []}, how=how, config=config)
    assert run_graph(graph, Command(resume="end"), how=how, config=config)["log"] == ["due"]
