"""Reserving and settling, under any interleaving and any crash: never below nothing, never above what there is."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

import stateward as sw
from stateward.errors import CheckpointError
from stateward.run.store.charges import Reservation, Tripped
from stateward.run.store.database import Database
from stateward.run.store.entry import CallKey, Entry
from stateward.run.store.journal import Begun
from stateward.testing import ManualClock

CAPS = {("", "calls"): 5.0, ("", "usd"): 1.0, ("A", "usd"): 0.6}
AMOUNTS = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.55, 1.0])
PARTS = st.sampled_from([0.0, 0.25, 1.0])
SESSION, RUN = "s1", "r1"


def reserved(usd: float) -> list[Reservation]:
    """The bounds of a call in each scope that counts it."""
    return [
        Reservation(scope=scope, unit=unit, amount=1 if unit == "calls" else usd, limit=cap)
        for (scope, unit), cap in CAPS.items()
    ]


class Calls(RuleBasedStateMachine):
    """Calls that begin, go on, end, and are cut off by a crash at any time."""

    begun = Bundle("begun")
    open_again: Callable[[], Database]

    def __init__(self) -> None:
        super().__init__()
        self.number = 0
        self.bounds: dict[CallKey, float] = {}
        self.ended: dict[CallKey, float] = {}
        self.lost: set[CallKey] = set()

    @rule(target=begun, usd=AMOUNTS)
    def begin(self, usd: float) -> Any:
        """One that fits is let in, and one that does not leaves nothing behind."""
        self.number += 1
        key = CallKey(session=SESSION, run=RUN, branch="main", path="A", activation=1, call=self.number)
        entry = Entry(key=key, kind="tool", name="pay", fingerprint="f", arguments={}, effect="idempotent")
        came = self.database.journal.begin(entry, reservations=reserved(usd))
        if not isinstance(came, Begun):
            assert isinstance(came, Tripped)
            return cast(Any, multiple())
        self.bounds[key] = usd
        return key

    @rule(key=begun, usd=AMOUNTS)
    def extend(self, key: CallKey, usd: float) -> None:
        """A further attempt reserves its own bound."""
        if key in self.lost:
            with pytest.raises(CheckpointError, match="only a call that was begun can go on"):
                self.database.journal.extend(key, progress={"tries": 1}, reservations=reserved(usd)[1:])
        elif key not in self.ended:
            came = self.database.journal.extend(key, progress={"tries": 1}, reservations=reserved(usd)[1:])
            self.bounds[key] += 0.0 if isinstance(came, Tripped) else usd

    @rule(key=begun, part=PARTS, status=st.sampled_from(["completed", "failed"]))
    def settle(self, key: CallKey, part: float, status: Any) -> None:
        """It cost no more than its bound."""
        if key not in self.ended:
            self.ended[key] = self.bounds[key] * part
            self.lost.discard(key)
            self.database.journal.settle(key, status=status, spent={"usd": self.ended[key]})

    @rule(key=begun)
    def lose(self, key: CallKey) -> None:
        """Nobody knows what became of it: it counts as reserved."""
        if key not in self.ended:
            self.database.journal.mark_unknown(key)
            self.lost.add(key)

    @rule(key=begun)
    def restart(self, key: CallKey) -> None:
        """It is taken up again, and costs nothing more for that."""
        if key not in self.ended:
            self.database.journal.restart(key)
            self.lost.discard(key)

    @rule(key=begun)
    def begin_again(self, key: CallKey) -> None:
        """The same call again, as after a crash: the journal knows it, and nothing more is reserved."""
        entry = Entry(key=key, kind="tool", name="pay", fingerprint="f", arguments={}, effect="idempotent")
        before = self.spent()
        assert type(self.database.journal.begin(entry, reservations=reserved(0.1))).__name__ == "Known"
        assert self.spent() == before

    @rule()
    def crash(self) -> None:
        """Everything in memory is gone; the file is opened anew."""
        self.database = self.open_again()

    def spent(self) -> dict[tuple[str, str], float]:
        """What the ledger says."""
        return dict(self.database.ledger.spent(SESSION, RUN))

    @invariant()
    def keeps_to_its_limits(self) -> None:
        """From nothing to the cap, in every scope; spent and reserved each as well."""
        for place, cap in CAPS.items():
            assert 0 <= self.spent().get(place, 0.0) <= cap + 1e-9
        with self.database.transaction(SESSION) as cur:
            cur.execute("SELECT spent, reserved FROM stateward_ledger")
            assert all(spent >= 0 and held >= 0 for spent, held in cur.fetchall())

    @invariant()
    def counts_what_was_bounded_or_spent(self) -> None:
        """Each call once: its bound while it is open, what it cost when it has ended."""
        wanted = sum(self.ended.get(key, bound) for key, bound in self.bounds.items())
        assert abs(self.spent().get(("", "usd"), 0.0) - wanted) < 1e-6

    database: Database


class InMemory(Calls):
    """Without a file nothing survives: a crash leaves everything as it was."""

    @initialize()
    def opened(self) -> None:
        """A database of its own."""
        self.database = sw.open("memory:", clock=ManualClock())
        self.open_again = lambda: self.database

    def teardown(self) -> None:
        self.database.close()


class InAFile(Calls):
    """Over SQLite, where a crash leaves what was committed."""

    @initialize()
    def opened(self) -> None:
        """A file of its own; what is left open stays behind, as after a kill."""
        self.folder = tempfile.TemporaryDirectory()
        self.left: list[Database] = []
        url = f"sqlite:///{Path(self.folder.name) / 'ledger.db'}"

        def again() -> Database:
            self.left.append(sw.open(url, clock=ManualClock()))
            return self.left[-1]

        self.open_again = again
        self.database = again()

    def teardown(self) -> None:
        for each in self.left:
            each.close()
        self.folder.cleanup()


SOME = settings(
    max_examples=25,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
InMemory.TestCase.settings = SOME
InAFile.TestCase.settings = settings(SOME, max_examples=8)


class TestInMemory(InMemory.TestCase):
    """In memory."""


class TestInAFile(InAFile.TestCase):
    """In a file that is opened again after each crash."""
