"""What a process knows of its providers, and how it waits for them."""

from __future__ import annotations

import pytest

from stateward.errors import RunError
from stateward.run.door.providers import Providers
from stateward.run.store.database import Database
from stateward.testing import ManualClock


def test_database_has_the_breakers_of_its_process(database: Database, clock: ManualClock) -> None:
    """On the database's clock; a chance is a number below 1."""
    providers = database.providers
    providers.breakers.failed(providers.breakers.ask("p", after=1, for_s=5.0))  # pyright: ignore[reportArgumentType]
    clock.advance(2.0)
    barred = providers.breakers.ask("p", after=1, for_s=5.0)
    assert getattr(barred, "closes_in_s", None) == 3.0
    assert 0.0 <= providers.chance() < 1.0


def test_wait_in_a_thread_ends_with_its_activity(clock: ManualClock) -> None:
    """Nobody waits for it any more."""

    def over() -> None:
        raise RunError("The activity is over")

    with pytest.raises(RunError):
        Providers(clock=clock).pause(60.0, over)


def test_wait_of_no_time_is_none(clock: ManualClock) -> None:
    """And is not looked after."""
    Providers(clock=clock).pause(0.0, lambda: pytest.fail("asked"))
