"""What calls reserve and spend: what fits under the limits, and what a settled call is charged."""

from __future__ import annotations

from stateward.run.store.charges import BILLION, Charge, Tripped, fitting, settled
from stateward.run.store.standing import Standing
from tests.run.store.desk import bound

PLACE = ("WORKING", "calls")


def test_what_fits_is_charged_as_it_was_reserved() -> None:
    """Reservations of one place are one charge."""
    found = fitting([bound(1), bound(1)], standing=Standing({PLACE: BILLION}, {}))
    assert found == (Charge(scope="WORKING", unit="calls", billionths=2 * BILLION),)


def test_what_does_not_fit_says_where() -> None:
    """With what was used before, and what was asked."""
    found = fitting([bound(2)], standing=Standing({PLACE: 2 * BILLION}, {}))
    assert found == Tripped(scope="WORKING", unit="calls", limit=3, spent=2, asked=2)


def test_the_limit_that_a_person_set_takes_the_place_of_the_policys() -> None:
    """Be it higher or lower."""
    assert not isinstance(fitting([bound(5)], standing=Standing({}, {PLACE: 5 * BILLION})), Tripped)
    assert isinstance(fitting([bound(1)], standing=Standing({}, {PLACE: 0})), Tripped)


def test_a_call_that_says_nothing_of_its_cost_is_charged_what_it_reserved() -> None:
    """No unknown cost is counted as none."""
    charges = (Charge(scope="", unit="usd", billionths=5),)
    assert settled(charges, spent={}) == charges
