"""How a run stands: used amounts, raised limits and revocations in one statement."""

from __future__ import annotations

from stateward.run.store.charges import BILLION
from stateward.run.store.database import Database
from stateward.run.store.standing import Standing, read
from tests.run.store.desk import Fresh, bound, entry

PLACE = ("WORKING", "calls")


def standing(database: Database, *, session: str = "s", run: str = "r1") -> Standing:
    with database.read() as cur:
        return read(cur, session=session, run=run, revoked=True)


def test_a_run_that_has_done_nothing_stands_at_nothing(fresh: Fresh) -> None:
    """Nothing used, no limit raised, nothing revoked."""
    assert standing(fresh()) == Standing({}, {}, False)


def test_reservations_and_what_was_spent_are_one_sum(fresh: Fresh) -> None:
    """Whatever may be spent is used up."""
    database = fresh()
    database.journal.begin(entry(), [bound(2)])
    database.ledger.spend("s", "r1", {PLACE: 1})
    assert standing(database).used == {PLACE: 3 * BILLION}


def test_another_run_stands_by_itself(fresh: Fresh) -> None:
    """Neither its amounts nor its limits are this one's."""
    database = fresh()
    database.ledger.spend("s", "r2", {PLACE: 1})
    database.ledger.raise_limit("s", "r2", *PLACE, 9, by="ann", reason="more")
    assert standing(database) == Standing({}, {}, False)


def test_what_is_taken_from_all_sessions_is_taken_from_each(fresh: Fresh) -> None:
    """A revocation that names no session is every session's."""
    database = fresh()
    database.revocations.add("refund", kind="tool", by="ann")
    assert standing(database, session="another").is_revoked
