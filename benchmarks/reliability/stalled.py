"""Proof 3: a process is stopped past its lease, another takes over, and the first one wakes.

SIGSTOP freezes a process with all its threads, its heartbeat included, at a boundary of its run. When its lease has
ended, another process brings the session to its end. Then SIGCONT wakes the first one, which goes on where it stood
and finds its fence stale. Whatever it could still write would be a difference between the rows of before and after.

On PostgreSQL one stop falls inside a transaction: the server ends what idles there, so that the other process gets on.
SQLite has one writer, and a process that stops while one of its threads is inside a transaction keeps everybody out:
nobody can take over, and it is woken to go on to its end.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

import stateward as sw
from benchmarks.reliability.figure import Figure, Tick, at_least, exactly, told
from benchmarks.reliability.place import Kind, Place
from benchmarks.reliability.verdict import is_wrong
from benchmarks.reliability.victim import AWAY, REFUSED, WORK, Moment, look
from stateward.run.store.database import Database

LEASE_S = 0.5
EVERY, SMALL_EVERY = 5, 70
INSIDE = "transaction:before#2"
"""Inside the transaction of a checkpoint."""
PATIENCE_S = 60.0
TABLES = {
    "checkpoints": "thread_id",
    "stateward_sessions": "id",
    **{f"stateward_{name}": "session" for name in ("terminals", "journal", "ledger", "asks", "mailbox", "audit")},
}
"""Where a session has its rows, and the column that names it."""
SQLITE = {"writes": "thread_id"}
POSTGRES = {"checkpoint_writes": "thread_id", "checkpoint_blobs": "thread_id"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """One stop."""

    end: Moment
    """Where the session ended."""
    stale: int
    """Rows that were written, changed or taken away by the process that woke."""
    status: int
    """How that process ended."""
    shut: bool = False
    """Whether it had stopped inside a transaction, and nobody could take over."""


class Bench:
    """What all stops share.

    Args:
        place: Has the zygotes.
        database: Where the sessions are.
        url: How the processes reach it.
        how: `sync` or `async`.
    """

    def __init__(self, place: Place, *, database: Database, url: str, how: str) -> None:
        self.folder = place.room()
        self._sleeper, self._other = place.zygotes
        self._database = database
        self._given = {"url": url, "folder": str(self.folder), "how": how}

    def points(self) -> list[str]:
        """Return the boundaries of a run that nobody stops."""
        assert self._other.live(WORK, case="whole", **self._given) == 0, "a run that nobody disturbs ends well"
        return (self.folder / "whole.points").read_text().splitlines()

    def stop(self, case: str, *, at: str) -> Stall | None:
        """Stop a process, let another take over, and wake the first.

        Args:
            case: The session's id.
            at: Where it stops.

        Returns:
            What came of it; None when this run did not come by that boundary.
        """
        pid = self._sleeper.begin(WORK, case=case, at=at, stops=True, lease_s=LEASE_S, **self._given)
        if self._sleeper.wait() is not None:
            return None
        before = frozenset[str]()
        try:
            overtaken = not is_locked(str(self._given["url"])) and self._is_overtaken(case)
            before = rows(self._database, case=case)
        finally:
            os.kill(pid, signal.SIGCONT)
            woken = self._sleeper.wait()
        if overtaken is None:
            return None
        end, after = look(self._database, case=case, folder=self.folder), rows(self._database, case=case)
        return Stall(end=end, stale=len(before ^ after) if overtaken else 0, status=woken or 0, shut=not overtaken)

    def _is_overtaken(self, case: str) -> bool | None:
        """Bring the session to its end in the other process, when the lease has ended.

        A run that had ended before its process was stopped leaves nothing to take over: whoever wakes still holds it.
        """
        self._await_end_of_lease(case)
        held = self._fence(case)
        status = self._other.live(WORK, case=case, **self._given)
        assert status in (0, AWAY), f"{case}: who took over ended with {status}"
        return None if status == 0 and self._fence(case) == held else status == 0

    def _fence(self, case: str) -> int:
        return max((row.fence for row in self._database.sessions.list() if row.id == case), default=0)

    def _await_end_of_lease(self, case: str) -> None:
        until = time.monotonic() + PATIENCE_S
        while self._database.leases.held(case) is not None and time.monotonic() < until:
            time.sleep(LEASE_S / 10)


def is_locked(url: str) -> bool:
    """Say whether somebody keeps all writers out of an SQLite database.

    Args:
        url: The database; one of another kind is never locked.
    """
    if not url.startswith("sqlite:///"):
        return False
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"), timeout=LEASE_S, isolation_level=None)) as db:
        try:
            db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
        db.execute("ROLLBACK")
        return False


def rows(database: Database, *, case: str) -> frozenset[str]:
    """Return every row a session has anywhere.

    Args:
        database: Where it is.
        case: The session's id.
    """
    found: set[str] = set()
    tables = TABLES | (POSTGRES if database.url.startswith("postgres") else SQLITE)
    with database.read() as cur:
        for table, column in tables.items():
            cur.execute(f"SELECT * FROM {table} WHERE {column} = ?", (case,))
            found |= {f"{table} {row!r}" for row in cur.fetchall()}
    return frozenset(found)


def prove(place: Place, *, how: str, small: bool, tick: Tick) -> list[Figure]:
    """Stop at many boundaries.

    Args:
        place: Where databases and files go.
        how: `sync` or `async`.
        small: Stop at few.
        tick: Told how far it is.

    Returns:
        The figures.
    """
    url = place.url()
    stalls: list[Stall] = []
    with sw.open(url) as database:
        bench = Bench(place, database=database, url=url, how=how)
        points = bench.points()[2 : -2 : SMALL_EVERY if small else EVERY]
        if place.kind == "postgresql" and not small:
            points.append(INSIDE)
        for number, point in enumerate(points, start=1):
            stall = bench.stop(f"s{number}", at=point)
            stalls += [stall] if stall else []
            tick(number / len(points))
    return judge(stalls, kind=place.kind, small=small)


def judge(stalls: Sequence[Stall], *, kind: Kind, small: bool) -> list[Figure]:
    """Count what went wrong.

    Args:
        stalls: The stops.
        kind: The database; on PostgreSQL none may keep the others out.
        small: Whether they are few.

    Returns:
        The figures.
    """
    overtaken = [stall for stall in stalls if not stall.shut]
    shut = len(stalls) - len(overtaken)
    name = "stopped inside a transaction, so that nobody could take over (limited on PostgreSQL)"
    return [
        at_least("processes stopped past their lease, and overtaken", len(overtaken), limit=1 if small else 10),
        told(name, shut) if kind == "sqlite" else exactly(name, shut),
        exactly("stale writes accepted", sum(stall.stale for stall in stalls)),
        exactly("wrong final states", sum(is_wrong(stall.end) for stall in stalls)),
        told("woken processes that were told that their fence is stale", sum(s.status == REFUSED for s in stalls)),
        exactly("woken processes that ended otherwise", sum(s.status not in (0, REFUSED) for s in stalls)),
    ]
