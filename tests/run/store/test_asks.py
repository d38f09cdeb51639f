"""Asks: answered exactly once, by who may."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import stateward as sw
from stateward.errors import AskClosed, CheckpointError, GovernanceError, StaleFence, UnknownAsk
from stateward.run.store.ask import ask_id, envelope
from stateward.run.store.database import open_database
from tests.charts.drive import Driven, policy
from tests.charts.one import compiled
from tests.charts.tools import Shop
from tests.run.store.desk import Fresh, StillClock, ask, key, url
from tests.run.store.processes import go, line, workers


async def pay(state: Any, run: sw.Run[Any]) -> Any:
    """A call that a person must approve."""
    return {"log": [(await run.tool("refund", order=state["text"])).status]}


def pay_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    return {"log": [run.tool("refund", order=state["text"]).status]}


def test_the_same_call_with_the_same_arguments_is_the_same_ask(fresh: Fresh) -> None:
    """Asking again after a crash finds the ask, even when it was answered in between."""
    database = fresh()
    (first,) = database.asks.create([ask()])
    assert first.id == ask_id(key(), "f1")
    assert first.id != ask_id(key(), "f2")
    assert database.asks.create([ask()]) == (first,)
    answered = database.asks.answer(first.id, decision="approve", by="ann", note="fine")
    assert database.asks.create([ask()]) == (answered,)
    assert database.asks.get(first.id) == answered


def test_an_id_that_belongs_to_another_call_is_an_error(fresh: Fresh) -> None:
    """Twelve digits can collide; an approval is never lent to another call."""
    database = fresh()
    database.asks.create([ask()])
    with pytest.raises(CheckpointError, match="Another call"):
        database.asks.create([replace(ask(2), id=ask().id)])


def test_only_the_first_answer_counts_and_the_second_is_told_who_gave_it(fresh: Fresh) -> None:
    """The message names the person and the time."""
    database = fresh()
    database.asks.create([ask()])
    database.asks.answer(ask().id, decision="reject", by="ann")
    with pytest.raises(AskClosed, match=r"`reject` by `ann` at 1970-01-01T00:16:40"):
        database.asks.answer(ask().id, decision="approve", by="bob")
    assert database.asks.get(ask().id).decision == "reject"


def test_only_an_approver_may_answer_and_nobody_may_be_nameless(fresh: Fresh) -> None:
    """A refused person leaves the ask open."""
    database = fresh()
    database.asks.create([ask(approvers=("ann",))])
    with pytest.raises(GovernanceError, match="`ann`"):
        database.asks.answer(ask().id, decision="approve", by="bob")
    with pytest.raises(GovernanceError, match="named person"):
        database.asks.answer(ask().id, decision="approve", by="")
    assert database.asks.answer(ask().id, decision="approve", by="ann").by == "ann"


def test_a_word_that_is_no_decision_is_refused(fresh: Fresh) -> None:
    """A typing slip never approves."""
    database = fresh()
    database.asks.create([ask()])
    word: Any = "aprove"
    with pytest.raises(GovernanceError, match="aprove"):
        database.asks.answer(ask().id, decision=word, by="ann")


def test_an_expired_ask_is_closed(fresh: Fresh) -> None:
    """It leaves the inbox and cannot be answered."""
    clock = StillClock()
    database = fresh(clock)
    database.asks.create([ask(expires_at=1_010)])
    assert len(database.asks.open()) == 1
    clock.time = 1_010
    assert database.asks.open() == ()
    assert database.asks.get(ask().id).status == "expired"
    with pytest.raises(AskClosed, match="has expired at 1970-01-01T00:16:50"):
        database.asks.answer(ask().id, decision="approve", by="ann")


def test_a_withdrawn_ask_is_closed_and_an_answered_one_stays(fresh: Fresh) -> None:
    """Withdrawing touches only open asks of the session."""
    database = fresh()
    one, two = database.asks.create([ask(1), ask(2)])
    database.asks.answer(one.id, decision="approve", by="ann")
    assert database.asks.withdraw("other", [two.id]) == ()
    assert database.asks.withdraw("s", [one.id, two.id]) == (two.id,)
    with pytest.raises(AskClosed, match="withdrawn"):
        database.asks.answer(two.id, decision="approve", by="ann")


def test_a_withdrawn_ask_that_is_put_again_is_open_again(fresh: Fresh) -> None:
    """After a crash between a withdrawal and the commit the run comes back to its question."""
    clock = StillClock()
    database = fresh(clock)
    database.asks.create([ask(approvers=("ann",))])
    database.asks.withdraw("s", [ask().id])
    clock.time = 1_100
    (again,) = database.asks.create([ask(approvers=("bob",), expires_at=1_200)])
    assert (again.status, again.created_at, again.expires_at, again.approvers) == ("open", 1_100, 1_200, ("bob",))
    assert database.asks.open("s") == (again,)
    assert database.asks.answer(ask().id, decision="approve", by="bob").status == "answered"
    events = [row.record["event"] for row in database.audit.rows("s")]
    assert events == ["asked", "withdrawn", "reopened", "answered"]


def test_an_expired_ask_that_is_put_again_stays_expired(fresh: Fresh) -> None:
    """Putting it again gives it no more time, neither before nor after."""
    clock = StillClock()
    database = fresh(clock)
    database.asks.create([ask(expires_at=1_010)])
    assert database.asks.create([ask(expires_at=1_020)])[0].expires_at == 1_010
    clock.time = 1_010
    assert database.asks.create([ask(expires_at=1_020)])[0].status == "expired"
    assert [row.record["event"] for row in database.audit.rows("s")] == ["asked"]


def test_an_expired_ask_on_which_a_run_acts_is_closed_for_good(fresh: Fresh) -> None:
    """Somebody whose clock is late finds it closed; an answer that came before counts."""
    clock = StillClock()
    database = fresh(clock)
    one, two = database.asks.create([ask(1, expires_at=1_010), ask(2, expires_at=1_010)])
    database.asks.answer(two.id, decision="approve", by="ann")
    clock.time = 1_010
    assert [found.status for found in database.asks.load("s", [one.id, two.id])] == ["expired", "answered"]
    clock.time = 1_000
    with pytest.raises(AskClosed, match="expired"):
        database.asks.answer(one.id, decision="approve", by="ann")
    assert [row.record["event"] for row in database.audit.rows("s")] == ["asked", "asked", "answered", "expired"]


def test_only_the_holder_closes_what_expired(fresh: Fresh) -> None:
    """A run that was taken over acts on nothing."""
    clock = StillClock()
    database = fresh(clock)
    old = database.leases.acquire("s")
    database.asks.create([ask(expires_at=1_010)], fence=old.fence)
    clock.time += 31
    database.leases.acquire("s")
    with pytest.raises(StaleFence):
        database.asks.load("s", [ask().id], fence=old.fence)


def test_a_question_about_the_same_call_with_other_arguments_takes_the_old_one_back(fresh: Fresh) -> None:
    """Nobody waits for an answer to the old one; that of another call stays."""
    database = fresh()
    old, other = database.asks.create([ask(), ask(2)])
    (new,) = database.asks.create([ask(fingerprint="f2")])
    assert [found.id for found in database.asks.open("s")] == [other.id, new.id]
    assert database.asks.get(old.id).status == "withdrawn"


def test_questions_that_expired_count_as_asked(fresh: Fresh) -> None:
    """A call that never stays the same is not asked about for ever."""
    clock = StillClock()
    database = fresh(clock)
    database.asks.create([ask(expires_at=1_010)])
    assert database.asks.times_answered(key()) == 0
    clock.time = 1_010
    assert database.asks.times_answered(key()) == 1
    database.asks.load("s", [ask().id])
    assert database.asks.times_answered(key()) == 1


def test_an_answered_ask_is_never_open_again(fresh: Fresh) -> None:
    """Not even when its time has run out since."""
    clock = StillClock()
    database = fresh(clock)
    database.asks.create([ask(expires_at=1_010)])
    answered = database.asks.answer(ask().id, decision="reject", by="ann", note="no")
    database.asks.withdraw("s", [ask().id])
    clock.time = 1_010
    assert database.asks.create([ask()]) == (answered,)


def test_only_the_holder_opens_a_withdrawn_ask_and_only_for_the_same_call(fresh: Fresh) -> None:
    """A run that was taken over, and a call whose id collides, leave it withdrawn."""
    clock = StillClock()
    database = fresh(clock)
    old = database.leases.acquire("s")
    database.asks.create([ask()], fence=old.fence)
    database.asks.withdraw("s", [ask().id], fence=old.fence)
    clock.time += 31
    new = database.leases.acquire("s")
    with pytest.raises(StaleFence):
        database.asks.create([ask()], fence=old.fence)
    with pytest.raises(CheckpointError, match="Another call"):
        database.asks.create([replace(ask(2), id=ask().id)], fence=new.fence)
    assert database.asks.get(ask().id).status == "withdrawn"
    assert database.asks.create([ask()], fence=new.fence)[0].status == "open"


@pytest.mark.parametrize("do", [pay, pay_sync])
def test_a_session_whose_ask_was_withdrawn_but_not_left_asks_again(drive: Callable[..., Driven], do: Any) -> None:
    """Where a crash came between the withdrawal and the commit, going on opens the question, and its answer counts."""
    shop = Shop()
    driven = drive(compiled(do, box=shop.box, policy=policy("approve_refunds")))
    (first,) = driven.start({"text": "A"}).asks
    asks = driven.session.database.asks
    assert asks.withdraw("s1", [first]) == (first,)
    assert driven.resume().asks == (first,)
    assert [found.id for found in asks.open("s1")] == [first]
    assert driven.answer(first).values["log"] == ["ok"]
    assert shop.effects == [("refund", "A")]


def test_an_unknown_ask_is_an_error_and_can_be_looked_for(fresh: Fresh) -> None:
    """`find` returns none, `get` and `answer` raise."""
    database = fresh()
    assert database.asks.find("ask_0") is None
    with pytest.raises(UnknownAsk):
        database.asks.get("ask_0")
    with pytest.raises(UnknownAsk):
        database.asks.answer("ask_0", decision="approve", by="ann")


def test_the_inbox_is_in_order_and_can_be_narrowed_to_a_session(fresh: Fresh) -> None:
    """The oldest ask comes first."""
    clock = StillClock()
    database = fresh(clock)
    for call, session in ((1, "s"), (2, "t"), (3, "s")):
        clock.time += 1
        database.asks.create([ask(key=key(call, session=session))])
    assert [found.call for found in database.asks.open()] == [1, 2, 3]
    assert [found.call for found in database.asks.open("s")] == [1, 3]


def test_all_asks_of_a_session_are_told_in_order(fresh: Fresh) -> None:
    """Whatever became of them; what was answered can be looked at as the question that it was."""
    database = fresh()
    first, second = database.asks.create([ask(1), ask(2)])
    answered = database.asks.answer(first.id, decision="approve", by="ann", note="fine")
    assert database.asks.of(first.session) == (answered, second)
    assert answered.unanswered() == first
    assert database.asks.of("another") == ()


def test_a_stale_run_cannot_ask_but_a_person_can_answer_a_held_session(fresh: Fresh) -> None:
    """Answers need no lease."""
    clock = StillClock()
    database = fresh(clock)
    old = database.leases.acquire("s")
    database.asks.create([ask()], fence=old.fence)
    clock.time += 31
    database.leases.acquire("s")
    with pytest.raises(StaleFence):
        database.asks.create([ask(2)], fence=old.fence)
    assert database.asks.answer(ask().id, decision="approve", by="ann").status == "answered"


def test_the_envelope_is_langchains_form_with_what_stateward_adds() -> None:
    """Plain JSON, with session, state path, expiry and allowed answers."""
    shown = envelope(ask(expires_at=1_000))
    assert shown["action_request"] == {"action": "refund", "args": {"eur": 12.5}}
    assert set(shown["config"]) == {"allow_accept", "allow_edit", "allow_respond", "allow_ignore"}
    assert (shown["session"], shown["path"], shown["id"]) == ("s", "WORKING.ACT", ask().id)
    assert shown["expires_at"] == "1970-01-01T00:16:40+00:00"
    assert shown["allowed"] == ["approve", "reject", "edit", "respond"]


def test_asking_and_answering_are_audited(fresh: Fresh) -> None:
    """Both rows name the ask."""
    database = fresh()
    database.asks.create([ask()])
    database.asks.answer(ask().id, decision="approve", by="ann")
    events = [(row.record["event"], row.record["ask"]) for row in database.audit.rows("s")]
    assert events == [("asked", ask().id), ("answered", ask().id)]


@pytest.mark.slow
def test_of_racing_processes_exactly_one_answers(tmp_path: Path) -> None:
    """Three answer at the same moment, one is taken."""
    with open_database(url(tmp_path)) as database:
        database.asks.create([ask()])
    with workers(3, name="answer", url=url(tmp_path), argument=ask().id) as started:
        for worker in started:
            go(worker)
        assert sorted(line(worker) for worker in started) == ["AskClosed", "AskClosed", "won ann"]
