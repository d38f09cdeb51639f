"""The session façade."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import stateward as sw
from stateward.errors import Drift, InputRefused, NotExpected, UnknownAsk, UnknownSession
from stateward.govern.policy import Fuses, Policy
from stateward.testing import How
from tests.charts.drive import Driven, policy
from tests.charts.one import One, compiled
from tests.charts.tools import Shop, call
from tests.charts.waiting import waiting
from tests.crash.test_torn_step import torn

Drive = Callable[..., Driven]


async def two_refunds(state: Any, run: sw.Run[Any]) -> Any:
    results = await run.tools([call("refund", order="A"), call("refund", order="B")])
    return {"log": [result.status for result in results]}


async def three_lookups(state: Any, run: sw.Run[Any]) -> Any:
    return {"log": [(await run.tool("lookup", order=order)).status for order in "ABC"]}


def test_session_that_never_started_is_new(drive: Drive) -> None:
    """It has no row, no path and no values."""
    session = drive(waiting().compile()).session
    outcome = session.outcome()
    assert (outcome.status, outcome.path, dict(outcome.values), session.row()) == ("new", "", {}, None)


def test_outcome_tells_where_it_stands(drive: Drive) -> None:
    """Status, path and values without the control channel."""
    driven = drive(waiting().compile())
    outcome = driven.start({"text": "x"})
    assert (outcome.session, outcome.status, outcome.path) == ("s1", "waiting", "OPEN")
    assert dict(outcome.values) == {"heard": ["hello"], "text": "x"}
    assert driven.session.outcome() == outcome


def test_claims_are_recorded_without_going_on(drive: Drive) -> None:
    """A clerk may answer; whoever runs the session goes on later."""
    shop = Shop()
    driven = drive(compiled(two_refunds, box=shop.box, policy=policy("approve_refunds")))
    for ask in driven.start({}).asks:
        assert driven.session.claim(ask, "approve", by="ann").status == "answered"
    assert (driven.session.outcome().status, shop.effects) == ("waiting", [])
    assert driven.resume().values["log"] == ["ok", "ok"]


def test_resuming_with_an_open_ask_keeps_waiting(drive: Drive) -> None:
    """One answer of two is not enough."""
    driven = drive(compiled(two_refunds, box=Shop().box, policy=policy("approve_refunds")))
    first, _ = driven.start({}).asks
    driven.session.claim(first, "approve", by="ann")
    assert driven.resume().status == "waiting"


def test_answer_to_nothing_is_unknown(drive: Drive) -> None:
    """An ask has an id."""
    with pytest.raises(UnknownAsk):
        drive(waiting().compile()).answer("ask_0")


def test_answer_goes_on_as_soon_as_none_is_open(drive: Drive) -> None:
    """`answer` is claim and resume."""
    driven = drive(compiled(two_refunds, box=Shop().box, policy=policy("approve_refunds")))
    first, second = driven.start({}).asks
    assert driven.session.answer(first, "approve", by="ann").status == "waiting"
    assert driven.session.answer(second, "reject", by="ann").values["log"] == ["ok", "rejected"]


def test_another_process_goes_on(how: How, tmp_path: Path) -> None:
    """All a session needs is in the file."""
    url, shop = f"sqlite:///{tmp_path}/w.db", Shop()

    def driven(database: Any) -> Driven:
        graph = compiled(two_refunds, box=shop.box, policy=policy("approve_refunds")).attach(database)
        return Driven(sw.Session("s", graph, database), how)

    with sw.open(url) as database:
        asks = driven(database).start({}).asks
    with sw.open(url) as database:
        for ask in asks:
            driven(database).session.claim(ask, "approve", by="ann")
    with sw.open(url) as database:
        assert driven(database).resume().status == "completed"
    assert sorted(shop.done("refund")) == ["A", "B"]


def test_context_is_passed_on(drive: Drive) -> None:
    """A session carries LangGraph's `context=`."""

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        return {"text": run.context["who"]}

    assert drive(compiled(act), context={"who": "ann"}).start({}).values["text"] == "ann"


def test_run_halted_by_a_fuse_goes_on_when_its_limit_is_raised(drive: Drive) -> None:
    """What was done before the fuse is not done again (SYSTEMS E3)."""
    shop = Shop()
    driven = drive(compiled(three_lookups, box=shop.box, policy=Policy(name="two", fuses=Fuses(calls=2))))
    halted = driven.start({})
    row = driven.session.row()
    assert row is not None

    driven.session.database.ledger.raise_limit("s1", row.run, "WORK", "calls", 9, "ann", "a good customer")
    done = driven.resume()

    assert (halted.status, done.status, done.values["log"]) == ("halted", "completed", ["ok", "ok", "ok"])
    assert [entry.tries for entry in driven.session.database.journal.entries("s1")] == [1, 1, 1]


def test_run_halted_by_a_fuse_halts_again_while_nobody_raises_it(drive: Drive) -> None:
    """The fuse trips before the same call, and the record says halted once more."""
    driven = drive(compiled(three_lookups, box=Shop().box, policy=Policy(name="two", fuses=Fuses(calls=2))))
    driven.start({})

    again = driven.resume()

    assert (again.status, (again.reason or {})["event"]) == ("halted", "fuse.calls")
    assert len(driven.session.database.sessions.terminals("s1")) == 1


def test_run_halted_by_a_fuse_stays_where_the_fuse_stopped_it(drive: Drive) -> None:
    """What the activity raised before does not move the chart past the call that was not made."""

    async def eager(state: Any, run: sw.Run[Any]) -> Any:
        run.raise_event("go")
        return {"log": [(await run.tool("lookup", order=order)).status for order in "ABC"]}

    shop = Shop()
    chart = sw.Chart(
        "eager",
        One,
        sw.Superstate(
            "WORK",
            sw.State("ACT", do=eager, tools=["lookup"], to="REST", on=[sw.on("go", "REST")]),
            sw.State("REST", on=[sw.on("close", "DONE")]),
            policy=Policy(name="two", fuses=Fuses(calls=2)),
        ),
        sw.Final("DONE"),
    )
    driven = drive(chart.compile(tools=shop.box))

    halted = driven.start({})
    again = driven.resume()

    assert (halted.status, halted.path, again.status, again.path) == ("halted", "WORK.ACT", "halted", "WORK.ACT")


def test_run_that_is_reopened_says_so_before_it_acts(drive: Drive) -> None:
    """Whoever looks in the meantime, or after a crash, sees an unfinished run."""
    seen: list[str] = []
    shop = Shop()

    async def look(state: Any, run: sw.Run[Any]) -> Any:
        statuses = [(await run.tool("lookup", order=order)).status for order in "ABC"]
        seen.append(driven.session.database.sessions.get("s1").status)
        return {"log": statuses}

    driven = drive(compiled(look, box=shop.box, policy=Policy(name="two", fuses=Fuses(calls=2))))
    driven.start({})
    run = driven.session.database.sessions.get("s1").run
    driven.session.database.ledger.raise_limit("s1", run, "WORK", "calls", 9, "ann", "a good customer")

    done = driven.resume()

    assert (done.status, seen) == ("completed", ["running"])


# -- sending ----------------------------------------------------------------------------------------------


def acted(state: Any) -> Any:
    return {"log": ["acted"]}


def open_session(drive: Drive) -> Driven:
    driven = drive(waiting().compile())
    driven.start({})
    return driven


def test_event_sent_to_a_waiting_session_goes_on_with_it(drive: Drive) -> None:
    """It is a resume, and leaves nothing in the mailbox."""
    driven = open_session(drive)
    sent = driven.tell("note", data={"text": "a"})
    assert sent.taken
    assert sent.outcome == driven.session.outcome()
    assert driven.session.database.mailbox.list("s1") == ()


def test_event_sent_while_another_runs_the_session_is_taken_once(drive: Drive) -> None:
    """It waits in the mailbox; who goes on next takes it."""
    driven = open_session(drive)
    leases = driven.session.database.leases
    lease = leases.acquire("s1")
    sent = driven.tell("note", data={"text": "a"}, by="ann")
    assert (sent.taken, sent.outcome, sent.letter.no if sent.letter else 0) == (False, None, 1)
    leases.release(lease)
    for _ in range(2):
        assert driven.resume().values["heard"] == ["hello", "a"]
    assert driven.session.database.mailbox.get("s1", 1).status == "taken"


def test_event_sent_to_a_session_that_is_let_go_meanwhile_goes_on_with_it(drive: Drive) -> None:
    """The sender tries to take the session itself after posting, so that nothing lies there unseen."""
    driven = open_session(drive)
    database = driven.session.database
    lease = database.leases.acquire("s1")
    post = database.mailbox.post

    def and_let_go(*args: Any, **kwargs: Any) -> Any:
        letter = post(*args, **kwargs)
        database.leases.release(lease)
        return letter

    database.mailbox.post = and_let_go
    sent = driven.tell("end")
    assert sent.taken
    assert (sent.outcome.status if sent.outcome else "") == "completed"


def test_event_sent_to_a_session_that_a_crash_left_is_taken(drive: Drive) -> None:
    """The run goes on where it was cut off, and then takes the event."""
    driven = drive(compiled(acted, to="HELP"))
    with torn(driven, at=2):
        driven.start({"log": ["in"]})
    sent = driven.tell("close")
    assert (sent.taken, sent.outcome.status if sent.outcome else "") == (True, "completed")


def test_event_whose_step_was_cut_off_is_taken_by_who_goes_on(drive: Drive) -> None:
    """It had been accepted, and nothing of its step was stored."""
    driven = open_session(drive)
    with torn(driven, at=1):
        driven.resume("note", data={"text": "a"})
    assert driven.resume().values["heard"] == ["hello", "a"]


def test_event_that_another_run_refuses_is_refused_to_its_sender(drive: Drive) -> None:
    """With the state it met; here the sender goes on itself, after the crash of who ran the session."""
    # WORK.ACT must not take it: the sender's run re-enters that state, and an event may come before the activity's end.
    chart = sw.Chart(
        "late",
        One,
        sw.State("ACT", do=acted, to="HELP"),
        sw.State("HELP", on=sw.on("close", "LAST")),
        sw.State("LAST", on=sw.on("help", "DONE")),
        sw.Final("DONE"),
    )
    driven = drive(chart.compile())
    with torn(driven, at=2):
        driven.start({"log": ["in"]})
    with pytest.raises(NotExpected, match=r"`help`.*HELP"):
        driven.tell("help")
    assert driven.session.outcome().path == "HELP"


@pytest.mark.parametrize("event", ["nonsense", "done.state.OPEN", "after.OPEN.0"])
def test_event_that_no_chart_awaits_is_never_posted(drive: Drive, event: str) -> None:
    """Its name is refused at once, whoever runs the session."""
    driven = open_session(drive)
    driven.session.database.leases.acquire("s1")
    with pytest.raises(NotExpected):
        driven.tell(event)
    with pytest.raises(InputRefused):
        driven.tell("note", data={"nobody": 1})
    assert driven.session.database.mailbox.list("s1") == ()


def test_event_for_a_session_that_never_was_is_refused(drive: Drive) -> None:
    """Somebody has to open it with an input."""
    with pytest.raises(UnknownSession):
        drive(waiting().compile()).tell("end")


def test_event_for_a_finished_session_is_refused(drive: Drive) -> None:
    """Nothing waits there, and nothing is posted."""
    driven = open_session(drive)
    driven.tell("end")
    with pytest.raises(NotExpected, match="completed"):
        driven.tell("note", data={"text": "a"})


def test_event_is_taken_back_when_the_session_cannot_go_on(drive: Drive) -> None:
    """The sender is told, and nobody finds the event later."""
    driven = drive(compiled(acted, to="HELP"))
    with torn(driven, at=3):
        driven.start({"log": ["in"]})
    other = drive(compiled(acted, to="HELP", handles=["more"]))
    with pytest.raises(Drift):
        other.tell("close")
    assert [letter.status for letter in driven.session.database.mailbox.list("s1")] == ["refused"]


def test_sender_waits_until_its_event_was_taken(drive: Drive) -> None:
    """Another call of this process takes it out of the mailbox in the meantime."""
    driven = open_session(drive)
    database = driven.session.database
    lease = database.leases.acquire("s1")
    post = database.mailbox.post

    def and_go_on(*args: Any, **kwargs: Any) -> Any:
        letter = post(*args, **kwargs)
        database.leases.release(lease)
        driven.session.resume()
        database.leases.acquire("s1")
        return letter

    database.mailbox.post = and_go_on
    sent = driven.tell("note", data={"text": "a"}, wait_s=60)
    assert (sent.taken, sent.outcome) == (True, None)


# -- what is no call --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("event", "data"), [(3, None), ("", None), ("note", [1, 2]), ("note", "x"), (None, {"a": 1})])
def test_what_is_no_event_is_refused(drive: Drive, event: Any, data: Any) -> None:
    """Before anything is tried, and the wait stays."""
    driven = open_session(drive)
    for act in (driven.resume, driven.tell):
        with pytest.raises(InputRefused, match="event"):
            act(event, data=data)
    assert driven.session.outcome().path == "OPEN"


def test_going_on_with_a_session_that_never_was_is_not_expected(drive: Drive) -> None:
    """There is no run to go on with, and none is opened."""
    driven = drive(waiting().compile())
    for act in (driven.resume, lambda: driven.send(None)):
        with pytest.raises(NotExpected, match="no run to go on with"):
            act()
    assert driven.checkpoints == []


def test_an_empty_thread_id_names_no_session(drive: Drive) -> None:
    """LangGraph would take it for one."""
    graph = drive(waiting().compile()).session.graph
    with pytest.raises(InputRefused, match="names no session"):
        graph.invoke({}, {"configurable": {"thread_id": ""}})
