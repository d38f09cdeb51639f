"""Asks: answered exactly once, by who may."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stateward.errors import AskClosed, CheckpointError, GovernanceError, StaleFence, UnknownAsk
from stateward.run.ask import ask_id, envelope
from stateward.run.database import open_database
from tests.run.processes import go, line, workers
from tests.run.store import StillClock, ask, key, memory, url


def test_the_same_call_with_the_same_arguments_is_the_same_ask() -> None:
    """Asking again after a crash finds the ask, even when it was answered in between."""
    database = memory()
    (first,) = database.asks.create([ask()])
    assert first.id == ask_id(key(), "f1")
    assert first.id != ask_id(key(), "f2")
    assert database.asks.create([ask()]) == (first,)
    answered = database.asks.answer(first.id, decision="approve", by="ann", note="fine")
    assert database.asks.create([ask()]) == (answered,)
    assert database.asks.get(first.id) == answered


def test_an_id_that_belongs_to_another_call_is_an_error() -> None:
    """Twelve digits can collide; an approval is never lent to another call."""
    database = memory()
    database.asks.create([ask()])
    with pytest.raises(CheckpointError, match="Another call"):
        database.asks.create([replace(ask(2), id=ask().id)])


def test_only_the_first_answer_counts_and_the_second_is_told_who_gave_it() -> None:
    """The message names the person and the time."""
    database = memory()
    database.asks.create([ask()])
    database.asks.answer(ask().id, decision="reject", by="ann")
    with pytest.raises(AskClosed, match=r"`reject` by `ann` at 1970-01-01T00:16:40"):
        database.asks.answer(ask().id, decision="approve", by="bob")
    assert database.asks.get(ask().id).decision == "reject"


def test_only_an_approver_may_answer_and_nobody_may_be_nameless() -> None:
    """A refused person leaves the ask open."""
    database = memory()
    database.asks.create([ask(approvers=("ann",))])
    with pytest.raises(GovernanceError, match="`ann`"):
        database.asks.answer(ask().id, decision="approve", by="bob")
    with pytest.raises(GovernanceError, match="named person"):
        database.asks.answer(ask().id, decision="approve", by="")
    assert database.asks.answer(ask().id, decision="approve", by="ann").by == "ann"


def test_a_word_that_is_no_decision_is_refused() -> None:
    """A typing slip never approves."""
    database = memory()
    database.asks.create([ask()])
    word: Any = "aprove"
    with pytest.raises(GovernanceError, match="aprove"):
        database.asks.answer(ask().id, decision=word, by="ann")


def test_an_expired_ask_is_closed() -> None:
    """It leaves the inbox and cannot be answered."""
    clock = StillClock()
    database = memory(clock)
    database.asks.create([ask(expires_at=1_010)])
    assert len(database.asks.open()) == 1
    clock.time = 1_010
    assert database.asks.open() == ()
    assert database.asks.get(ask().id).status == "expired"
    with pytest.raises(AskClosed, match="expired"):
        database.asks.answer(ask().id, decision="approve", by="ann")


def test_a_withdrawn_ask_is_closed_and_an_answered_one_stays() -> None:
    """Withdrawing touches only open asks of the session."""
    database = memory()
    one, two = database.asks.create([ask(1), ask(2)])
    database.asks.answer(one.id, decision="approve", by="ann")
    assert database.asks.withdraw("other", [two.id]) == ()
    assert database.asks.withdraw("s", [one.id, two.id]) == (two.id,)
    with pytest.raises(AskClosed, match="withdrawn"):
        database.asks.answer(two.id, decision="approve", by="ann")


def test_an_unknown_ask_is_an_error_and_can_be_looked_for() -> None:
    """`find` returns none, `get` and `answer` raise."""
    database = memory()
    assert database.asks.find("ask_0") is None
    with pytest.raises(UnknownAsk):
        database.asks.get("ask_0")
    with pytest.raises(UnknownAsk):
        database.asks.answer("ask_0", decision="approve", by="ann")


def test_the_inbox_is_in_order_and_can_be_narrowed_to_a_session() -> None:
    """The oldest ask comes first."""
    clock = StillClock()
    database = memory(clock)
    for call, session in ((1, "s"), (2, "t"), (3, "s")):
        clock.time += 1
        database.asks.create([ask(key=key(call, session=session))])
    assert [found.call for found in database.asks.open()] == [1, 2, 3]
    assert [found.call for found in database.asks.open("s")] == [1, 3]


def test_a_stale_run_cannot_ask_but_a_person_can_answer_a_held_session() -> None:
    """Answers need no lease."""
    clock = StillClock()
    database = memory(clock)
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
    assert shown["allowed"] == ["approve", "reject"]


def test_asking_and_answering_are_audited() -> None:
    """Both rows name the ask."""
    database = memory()
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
