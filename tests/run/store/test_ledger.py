"""The ledger: exact sums, limits that hold under any interleaving, limits that people raise."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stateward.errors import GovernanceError
from stateward.run.store.charges import Charge, Tripped, added, first_trip, overrun, settled, to_billionths
from stateward.run.store.journal import Begun
from tests.run.store.desk import Fresh, bound, entry, key


def test_amounts_add_up_exactly(fresh: Fresh) -> None:
    """Ten times 0.1 fits under a limit of 1, and the eleventh does not."""
    database = fresh()
    for call in range(10):
        begun = database.journal.begin(entry(call), [bound(0.1, unit="usd", limit=1)])
        assert isinstance(begun, Begun)
    tripped = database.journal.begin(entry(11), [bound(0.1, unit="usd", limit=1)])
    assert tripped == Tripped(scope="WORKING", unit="usd", limit=1, spent=1, asked=0.1)
    assert database.ledger.spent("s", "r1") == {("WORKING", "usd"): 1}


def test_spending_is_counted_in_every_scope_and_once_in_the_totals(fresh: Fresh) -> None:
    """Two scopes count one call, the session counts it once."""
    database = fresh()
    database.journal.begin(entry(), [bound(unit="usd", scope=scope, limit=None) for scope in ("", "WORKING")])
    database.journal.settle(key(), status="completed", spent={"usd": 0.25}, tokens_in=7, tokens_out=3)
    assert database.ledger.spent("s", "r1") == {("", "usd"): 0.25, ("WORKING", "usd"): 0.25}
    totals = database.ledger.totals("s")
    assert (totals.calls, totals.turns, totals.tokens_in, totals.tokens_out, totals.usd) == (1, 0, 7, 3, 0.25)


def test_runs_have_ledgers_of_their_own_and_branches_share_one(fresh: Fresh) -> None:
    """A fork inherits what was spent, a new run starts afresh."""
    database = fresh()
    database.journal.begin(entry(), [bound(limit=1)])
    assert isinstance(database.journal.begin(entry(branch="fork"), [bound(limit=1)]), Tripped)
    assert isinstance(database.journal.begin(entry(run="r2"), [bound(limit=1)]), Begun)


def test_a_person_can_raise_a_limit_and_the_run_goes_on(fresh: Fresh) -> None:
    """The raised limit takes the place of the policy's, for this run only, and is audited."""
    database = fresh()
    database.journal.begin(entry(1), [bound(limit=1)])
    assert isinstance(database.journal.begin(entry(2), [bound(limit=1)]), Tripped)
    database.ledger.raise_limit("s", "r1", scope="WORKING", unit="calls", value=2, by="ann", reason="ok")
    assert isinstance(database.journal.begin(entry(2), [bound(limit=1)]), Begun)
    assert database.ledger.raised("s", "r1") == {("WORKING", "calls"): 2}
    assert database.ledger.limit_for("s", "r2", scope="WORKING", unit="calls") is None
    assert database.audit.rows("s")[-1].record["by"] == "ann"


def test_a_limit_needs_a_name(fresh: Fresh) -> None:
    """Nobody raises a limit anonymously."""
    with pytest.raises(GovernanceError, match="named person"):
        fresh().ledger.raise_limit("s", "r1", scope="", unit="usd", value=2, by="", reason="")


@pytest.mark.parametrize("amount", [-0.1, float("nan"), float("inf"), 1e12])
def test_an_amount_that_is_no_amount_is_refused_and_writes_nothing(amount: float, fresh: Fresh) -> None:
    """Not-a-number would pass every limit."""
    database = fresh()
    with pytest.raises(GovernanceError):
        database.journal.begin(entry(), [bound(amount)])
    assert database.journal.get(key()) is None


def test_two_reservations_of_one_scope_are_added_up(fresh: Fresh) -> None:
    """A limit cannot be passed in two halves."""
    assert isinstance(fresh().journal.begin(entry(), [bound(2), bound(2)]), Tripped)


@given(asked=st.integers(0, 10), used=st.integers(0, 10), limit=st.integers(0, 10))
def test_a_reservation_trips_exactly_when_it_would_pass_the_limit(asked: int, used: int, limit: int) -> None:
    """Reaching the limit is allowed, passing it is not."""
    place = ("", "calls")
    tripped = first_trip({place: asked}, used={place: used}, limits={place: limit})
    assert (tripped is not None) == (used + asked > limit)


_STEPS = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from(["begin", "settle", "unknown", "restart"]), st.floats(0, 1)),
    max_size=25,
)


@pytest.mark.parametrize("backend", ["memory"], indirect=True)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=_STEPS, limit=st.floats(0, 3))
def test_the_cap_holds_under_any_interleaving(steps: list[tuple[int, str, float]], limit: float, fresh: Fresh) -> None:
    """Whatever begins, ends, fails or is tried again, spent and reserved together stay at or below the cap."""
    with fresh() as database:
        for call, step, amount in steps:
            known = database.journal.get(key(call))
            if step == "begin":
                database.journal.begin(entry(call, effect="pure"), [bound(amount, unit="usd", limit=limit)])
            elif known is not None and known.status in ("started", "unknown"):
                reserved = sum(charge.billionths for charge in known.charges) / 1e9
                if step == "restart":
                    database.journal.restart(key(call))
                elif step == "settle":
                    database.journal.settle(key(call), status="completed", spent={"usd": reserved * amount})
                else:
                    database.journal.mark_unknown(key(call))
            used = database.ledger.spent("s", "r1").get(("WORKING", "usd"), 0)
            assert to_billionths(used) <= to_billionths(limit)


def test_what_had_no_bound_has_no_overrun() -> None:
    """Nothing was promised: only what was reserved can be overrun."""
    before = (Charge(scope="", unit="tokens", billionths=0), Charge(scope="", unit="usd", billionths=5))
    assert overrun(before, now=settled(before, spent={"tokens": 15, "usd": 7e-9})) == {"usd": pytest.approx(2e-9)}


def test_charges_of_a_further_attempt_are_put_onto_the_first() -> None:
    """One for each scope and unit."""
    one, more = Charge(scope="A", unit="usd", billionths=5), Charge(scope="A", unit="tokens", billionths=3)
    assert added((one,), more=(one, more)) == (replace(one, billionths=10), more)
