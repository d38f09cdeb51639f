"""The journal: a completed effect is never run again."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from stateward.errors import CheckpointError, CodecError, GovernanceError, SessionBusy, StaleFence
from stateward.govern.fingerprint import effect_key
from stateward.run.store.charges import BILLION, Tripped
from stateward.run.store.database import Database
from stateward.run.store.journal import Begun, Entry, Known
from stateward.run.store.standing import Standing
from tests.run.store.desk import Fresh, StillClock, bound, entry, key


def test_a_call_is_begun_once_and_known_afterwards(fresh: Fresh) -> None:
    """The second begin returns the entry and writes nothing."""
    database = fresh()
    assert isinstance(database.journal.begin(entry(), [bound()]), Begun)
    known = database.journal.begin(entry(), [bound()])
    assert isinstance(known, Known)
    assert known.entry == database.journal.get(key())
    assert database.ledger.spent("s", "r1") == {("WORKING", "calls"): 1}


def test_a_settled_call_keeps_its_result_arguments_and_cost(fresh: Fresh) -> None:
    """What is read back is what was settled."""
    clock = StillClock()
    database = fresh(clock)
    database.journal.begin(entry(), [bound(unit="usd")])
    clock.time += 2
    settled = database.journal.settle(
        key(), status="completed", result={"ok": [1, None]}, spent={"usd": 0.5}, tokens_in=3, tokens_out=4
    )
    assert settled == database.journal.get(key())
    assert (settled.result, settled.arguments["eur"], settled.usd) == ({"ok": [1, None]}, 12.5, 0.5)
    assert (settled.started_at, settled.ended_at) == (1_000, 1_002)


@pytest.mark.parametrize("status", ["completed", "failed"])
def test_a_closed_entry_is_never_opened_again(status: str, fresh: Fresh) -> None:
    """Neither settling, marking unknown, restarting nor beginning changes it."""
    database = fresh()
    database.journal.begin(entry(effect="idempotent"))
    closed = database.journal.settle(key(), status=status, result=1)  # pyright: ignore[reportArgumentType]
    for again in (
        lambda: database.journal.settle(key(), status="completed", result=2),
        lambda: database.journal.mark_unknown(key()),
        lambda: database.journal.restart(key(), confirmed_safe=True),
    ):
        with pytest.raises(CheckpointError, match="never opened again"):
            again()
    assert database.journal.begin(entry()) == Known(entry=closed)
    assert database.journal.get(key()) == closed


def test_what_was_never_begun_cannot_end(fresh: Fresh) -> None:
    """Settling and restarting need an entry."""
    database = fresh()
    with pytest.raises(CheckpointError, match="never begun"):
        database.journal.settle(key(), status="completed")
    with pytest.raises(CheckpointError, match="never begun"):
        database.journal.restart(key())


def test_a_tripped_limit_writes_nothing(fresh: Fresh) -> None:
    """Neither entry nor reservation nor audit row is left, in any scope."""
    database = fresh()
    tripped = database.journal.begin(entry(), [bound(scope=""), bound(2, scope="WORKING", limit=1)])
    assert tripped == Tripped(scope="WORKING", unit="calls", limit=1, spent=0, asked=2)
    assert database.journal.get(key()) is None
    assert database.ledger.spent("s", "r1") == {}
    assert database.audit.rows() == ()


def test_settling_replaces_the_reservation_by_what_was_spent(fresh: Fresh) -> None:
    """A unit that is not named is charged as reserved, one that was never reserved goes to the chart."""
    database = fresh()
    database.journal.begin(entry(), [bound(1), bound(0.5, unit="usd")])
    database.journal.settle(key(), status="completed", spent={"usd": 0.2, "tokens": 9})
    assert database.ledger.spent("s", "r1") == {
        ("WORKING", "calls"): 1,
        ("WORKING", "usd"): 0.2,
        ("", "tokens"): 9,
    }


def test_an_overrun_is_recorded_and_counts_against_the_next_call(fresh: Fresh) -> None:
    """Who spends more than reserved is told on, and the next call trips."""
    database = fresh()
    database.journal.begin(entry(1), [bound(0.1, unit="usd", limit=0.5)])
    settled = database.journal.settle(key(1), status="completed", spent={"usd": 0.6})
    assert settled.overrun == {"usd": 0.5}
    assert database.audit.rows("s")[-1].record["overrun"] == {"usd": "0.500000000"}
    assert isinstance(database.journal.begin(entry(2), [bound(0.1, unit="usd", limit=0.5)]), Tripped)


def test_an_unknown_call_keeps_its_bound_as_spent_until_somebody_knows(fresh: Fresh) -> None:
    """The outcome may still be told once, and then the true cost replaces the bound."""
    database = fresh()
    database.journal.begin(entry(), [bound(0.5, unit="usd")])
    unknown = database.journal.mark_unknown(key())
    assert (unknown.status, unknown.usd) == ("unknown", 0.5)
    assert database.journal.mark_unknown(key()) == unknown
    assert database.journal.unfinished("s") == (unknown,)
    database.journal.settle(key(), status="completed", result="done", spent={"usd": 0.1})
    assert database.ledger.spent("s", "r1") == {("WORKING", "usd"): 0.1}
    assert database.journal.unfinished("s") == ()


def test_an_idempotent_call_is_taken_up_again_and_reserves_nothing_more(fresh: Fresh) -> None:
    """The tries are counted, the key stays."""
    database = fresh()
    database.journal.begin(entry(effect="idempotent"), [bound()])
    database.journal.mark_unknown(key())
    again = database.journal.restart(key())
    assert (again.tries, again.status, again.key) == (2, "started", key())
    assert database.ledger.spent("s", "r1") == {("WORKING", "calls"): 1}
    database.journal.settle(key(), status="completed", spent={"calls": 1})
    assert database.ledger.spent("s", "r1") == {("WORKING", "calls"): 1}


def test_an_effect_that_may_happen_once_is_only_restarted_when_somebody_says_it_did_not(fresh: Fresh) -> None:
    """A look-up or a person must say so."""
    database = fresh()
    database.journal.begin(entry(effect="once"))
    with pytest.raises(GovernanceError, match="only once"):
        database.journal.restart(key())
    assert database.journal.restart(key(), confirmed_safe=True).tries == 2


def test_a_stale_writer_neither_begins_nor_ends(fresh: Fresh) -> None:
    """The fence is checked in the transaction of every write."""
    clock = StillClock()
    database = fresh(clock)
    old = database.leases.acquire("s")
    database.journal.begin(entry(effect="pure"), fence=old.fence)
    clock.time += 31
    new = database.leases.acquire("s")
    for write in (
        lambda: database.journal.begin(entry(2), fence=old.fence),
        lambda: database.journal.settle(key(), status="completed", fence=old.fence),
        lambda: database.journal.restart(key(), fence=old.fence),
    ):
        with pytest.raises(StaleFence):
            write()
    with pytest.raises(SessionBusy):
        database.journal.begin(entry(2))
    assert [e.status for e in database.journal.entries("s")] == ["started"]
    assert database.journal.restart(key(), fence=new.fence).tries == 2


def test_arguments_and_results_that_are_no_json_are_refused(fresh: Fresh) -> None:
    """The entry stays as it was."""
    database = fresh()
    with pytest.raises(CodecError):
        database.journal.begin(replace(entry(), arguments={"x": object()}))
    database.journal.begin(entry())
    with pytest.raises(CodecError):
        database.journal.settle(key(), status="completed", result={1, 2})
    assert [e.status for e in database.journal.entries("s")] == ["started"]


def test_entries_come_in_the_order_in_which_they_began(fresh: Fresh) -> None:
    """They can be narrowed to a run."""
    database = fresh()
    for call, run in ((2, "r1"), (1, "r1"), (1, "r2")):
        database.journal.begin(entry(call, run=run))
    assert [(e.key.call, e.key.run) for e in database.journal.entries("s")] == [(2, "r1"), (1, "r1"), (1, "r2")]
    assert len(database.journal.entries("s", run="r2")) == 1


def test_the_idempotency_key_is_the_effect_key() -> None:
    """Tools receive the key that govern names."""
    expected = effect_key("s", run="r1", branch="main", path="WORKING.ACT", activation=1, call=1)
    assert key().idempotency_key == expected
    assert key(2).idempotency_key != expected


def test_concurrent_calls_never_pass_the_ceiling(fresh: Fresh) -> None:
    """Of sixteen threads that ask for one each, as many pass as the limit says."""
    database = fresh()
    start, outcomes = threading.Barrier(16), list[object]()

    def call(number: int) -> None:
        start.wait()
        outcomes.append(database.journal.begin(entry(number), [bound(limit=5)]))

    threads = [threading.Thread(target=call, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(isinstance(outcome, Begun) for outcome in outcomes) == 5


# -- a call of several attempts ---------------------------------------------------------------------------


def test_further_attempt_reserves_more(fresh: Fresh) -> None:
    """The entry stays started, knows how far it is, and is settled for all attempts at once."""
    database = fresh()
    database.journal.begin(entry(), [bound(unit="usd", amount=2, limit=10)])
    extended = database.journal.extend(
        key(), progress={"attempts": [1]}, reservations=[bound(unit="usd", amount=3, limit=10)]
    )
    assert extended == database.journal.get(key())
    assert database.ledger.spent("s", "r1") == {("WORKING", "usd"): 5}
    settled = database.journal.settle(key(), status="completed", result=1, spent={"usd": 4.5})
    assert (settled.overrun, database.ledger.spent("s", "r1")) == ({}, {("WORKING", "usd"): 4.5})


def test_further_attempt_past_a_limit_writes_nothing(fresh: Fresh) -> None:
    """Neither the reservation nor how far it was."""
    database = fresh()
    database.journal.begin(entry(), [bound(unit="usd", amount=2, limit=4)])
    tripped = database.journal.extend(key(), progress=1, reservations=[bound(unit="usd", amount=3, limit=4)])
    assert isinstance(tripped, Tripped)
    assert database.journal.get(key()).result is None  # pyright: ignore[reportOptionalMemberAccess]
    assert database.ledger.spent("s", "r1") == {("WORKING", "usd"): 2}


def test_closed_call_has_no_further_attempt(fresh: Fresh) -> None:
    """As it has no other end."""
    database = fresh()
    database.journal.begin(entry())
    database.journal.settle(key(), status="completed", result=1)
    with pytest.raises(CheckpointError, match="never opened again"):
        database.journal.extend(key(), progress=2)


# -- what is not looked at a second time ------------------------------------------------------------------


def begun(database: Database, call: int = 1, **settings: Any) -> Entry:
    """Begin a call that reserves one."""
    found = database.journal.begin(entry(call, **settings), [bound()])
    assert isinstance(found, Begun)
    return found.entry


def test_a_call_is_judged_by_what_its_own_transaction_finds(fresh: Fresh) -> None:
    """What was spent, whose limit was raised and whether anything was revoked is read where the call is begun."""
    database = fresh()
    begun(database)
    database.ledger.raise_limit("s", "r1", "WORKING", "calls", 9, by="ann", reason="more")
    database.revocations.add("refund", kind="tool", by="ann")
    seen: list[Standing] = []
    assert database.journal.admit(entry(2), lambda standing: seen.append(standing)) is None
    place = ("WORKING", "calls")
    assert seen == [Standing({place: BILLION}, {place: 9 * BILLION}, True)]


def test_a_call_that_is_judged_unfit_leaves_nothing_behind(fresh: Fresh) -> None:
    """Neither an entry nor a reservation."""
    database = fresh()
    assert database.journal.admit(entry(), lambda _: None) is None
    assert database.journal.entries("s") == ()
    assert database.ledger.spent("s", "r1") == {}


def test_a_stale_writer_judges_nothing(fresh: Fresh) -> None:
    """Its fence is looked at before the call is."""
    clock = StillClock()
    database = fresh(clock)
    old = database.leases.acquire("s")
    clock.time += 31
    database.leases.acquire("s")
    with pytest.raises(StaleFence):
        database.journal.admit(entry(), lambda _: pytest.fail("judged"), fence=old.fence)


def test_a_call_is_settled_by_what_its_maker_knows_of_it(fresh: Fresh) -> None:
    """The result is the same as when the entry is read again."""
    database = fresh()
    settled = database.journal.settle(key(), status="completed", result=1, spent={"calls": 2}, before=begun(database))
    assert settled == database.journal.get(key())
    assert database.ledger.spent("s", "r1") == {("WORKING", "calls"): 2}
    assert settled.overrun == {"calls": 1}


def test_what_a_call_reserved_meanwhile_is_settled_too(fresh: Fresh) -> None:
    """Its maker knows of an older entry than the journal has: then the journal's counts."""
    database = fresh()
    before = begun(database)
    database.journal.extend(key(), progress={"n": 1}, reservations=[bound(unit="usd")])
    database.journal.settle(key(), status="completed", spent={"usd": 0.5}, before=before)
    assert database.ledger.spent("s", "r1") == {("WORKING", "calls"): 1, ("WORKING", "usd"): 0.5}


def test_nobody_closes_a_call_that_was_closed_meanwhile(fresh: Fresh) -> None:
    """What its maker knew of it does not open it again, and nothing is charged twice."""
    database = fresh()
    before = begun(database)
    database.journal.settle(key(), status="failed", result="cut")
    with pytest.raises(CheckpointError, match="never opened again"):
        database.journal.settle(key(), status="completed", result=1, before=before)
    assert database.ledger.spent("s", "r1") == {("WORKING", "calls"): 1}
    assert database.audit.count("s") == 1


def test_a_stale_writer_settles_nothing_that_it_began(fresh: Fresh) -> None:
    """That it knows the entry as it is does not spare it the fence."""
    clock = StillClock()
    database = fresh(clock)
    old = database.leases.acquire("s")
    found = database.journal.begin(entry(), fence=old.fence)
    assert isinstance(found, Begun)
    clock.time += 31
    database.leases.acquire("s")
    with pytest.raises(StaleFence):
        database.journal.settle(key(), status="completed", fence=old.fence, before=found.entry)
    assert database.journal.get(key()) == found.entry


def test_what_was_settled_in_a_transaction_that_failed_was_not(fresh: Fresh) -> None:
    """Entry, ledger and audit log are as they were, and it can be settled again."""
    database = fresh()
    before = begun(database)

    def settle_and_fail() -> None:
        with database.transaction("s"):
            database.journal.settle(key(), status="failed", spent={"calls": 3}, before=before)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        settle_and_fail()
    assert (database.journal.get(key()), database.audit.count("s")) == (before, 0)
    assert database.journal.settle(key(), status="completed", before=before).charges == before.charges
