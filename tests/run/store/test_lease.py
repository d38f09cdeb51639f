"""Leases: one run per session, and a fence that stops who was overtaken."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from time import time
from typing import Any

import pytest

from stateward.errors import SessionBusy, StaleFence, UnknownSession
from stateward.run.store.database import open_database
from stateward.run.store.holder import is_dead, new_holder
from stateward.run.store.lease import Lease, Leases, check_fence
from stateward.run.store.once import Once
from tests.postgres import Server
from tests.run.store.desk import Fresh, StillClock, control, raw, url
from tests.run.store.forking import in_child
from tests.run.store.processes import go, line, workers


def test_a_held_session_is_busy_and_says_who_holds_it(fresh: Fresh) -> None:
    """Even the same process cannot take it twice."""
    database = fresh()
    lease = database.leases.acquire("s")
    with pytest.raises(SessionBusy, match=str(os.getpid())) as busy:
        database.leases.acquire("s")
    assert busy.value.facts["until"] == lease.until


def test_a_released_session_can_be_taken_and_counts_the_fence_up(fresh: Fresh) -> None:
    """Every holder writes under a new fence."""
    database = fresh()
    fences: list[int] = []
    for _ in range(3):
        lease = database.leases.acquire("s")
        fences.append(lease.fence)
        database.leases.release(lease)
    assert fences == [1, 2, 3]
    assert database.leases.held("s") is None


@pytest.mark.parametrize("before", ["new", "given back"])
def test_a_free_session_is_taken_in_one_statement(tmp_path: Path, before: str) -> None:
    """And given back in another: each is a transaction of its own."""
    with open_database(url(tmp_path)) as database:
        if before == "given back":
            database.leases.release(database.leases.acquire("s"))
        said: list[str] = []
        raw(database).set_trace_callback(said.append)
        database.leases.release(database.leases.acquire("s"))
        raw(database).set_trace_callback(None)
    assert [each.split()[0] for each in said] == ["INSERT", "UPDATE"]


@pytest.mark.parametrize("before", ["new", "given back"])
def test_a_lease_that_was_interrupted_when_it_was_taken_is_given_back(
    fresh: Fresh, before: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C came before its fence was told."""
    database, row = fresh(), Once.row
    if before == "given back":
        database.leases.release(database.leases.acquire("s"))

    def torn(*given: Any) -> None:
        row(*given)
        raise KeyboardInterrupt

    monkeypatch.setattr(Once, "row", torn)
    with pytest.raises(KeyboardInterrupt):
        database.leases.acquire("s")
    monkeypatch.undo()
    assert database.leases.acquire("s").fence == 2 + (before == "given back")


def test_who_waited_for_a_session_that_was_taken_meanwhile_is_refused(postgres: Server) -> None:
    """The statement began while the session was free, and waited behind the one that took it."""
    place = postgres.url()
    with open_database(place) as database, open_database(place) as other, ThreadPoolExecutor(1) as pool:
        database.leases.release(database.leases.acquire("s"))
        with other.transaction("s") as cur:
            late = pool.submit(database.leases.acquire, "s")
            waits = "SELECT 1 FROM pg_locks WHERE NOT granted"
            assert _wait_for(lambda: cur.execute(waits).fetchone() is not None)
            cur.execute(
                "UPDATE stateward_sessions SET holder = 'elsewhere', fence = 2, lease_until = ?", (time() + 60,)
            )
        with pytest.raises(SessionBusy):
            late.result(timeout=60)


def test_a_session_whose_lease_is_withdrawn_was_never_there(fresh: Fresh) -> None:
    """Nothing was done under it; the id is free, for any tenant."""
    database = fresh()
    database.leases.withdraw(database.leases.acquire("s", tenant="acme"))
    assert (database.sessions.list(), database.leases.held("s")) == ((), None)
    assert database.leases.acquire("s", tenant="other").fence == 1


@pytest.mark.parametrize("what", ["a run", "an earlier lease", "a letter"])
def test_a_session_that_was_there_stays_when_a_lease_is_withdrawn(fresh: Fresh, what: str) -> None:
    """Its lease is given back, and no fence is given a second time."""
    database = fresh()
    if what == "an earlier lease":
        database.leases.release(database.leases.acquire("s"))
    lease = database.leases.acquire("s")
    if what == "a run":
        with database.transaction("s") as cur:
            database.sessions.project(cur, session="s", control=control(), checkpoint="c1")
    if what == "a letter":
        database.mailbox.post("s", "go", None)
    database.leases.withdraw(lease)
    assert (database.leases.held("s"), database.leases.acquire("s").fence) == (None, lease.fence + 1)


def test_a_lease_that_was_taken_over_is_not_withdrawn(fresh: Fresh) -> None:
    """The new holder keeps it."""
    clock = StillClock()
    database, other = fresh(clock), fresh(clock)
    lease = database.leases.acquire("s")
    clock.time += 1_000
    taken = other.leases.acquire("s")
    database.leases.withdraw(lease)
    assert other.leases.held("s") == taken


def test_a_session_that_was_held_since_the_look_is_refused(fresh: Fresh) -> None:
    """Who decides by what it saw must not act on what another has changed by then."""
    database = fresh()
    seen = database.leases.acquire("s", after=0)
    database.leases.release(seen)
    database.leases.release(database.leases.acquire("s"))
    with pytest.raises(SessionBusy, match="went on"):
        database.leases.acquire("s", after=seen.fence)
    assert database.leases.acquire("s", after=seen.fence + 1).fence == seen.fence + 2


def test_an_expired_lease_is_taken_over_and_the_old_holder_is_stale(fresh: Fresh) -> None:
    """Who stalled past its lease can neither renew nor release, nor write."""
    clock = StillClock()
    database = fresh(clock)
    stalled = Leases(database.leases._connection)  # pyright: ignore[reportPrivateUsage]
    old = stalled.acquire("s")
    clock.time += 31
    new = database.leases.acquire("s")
    assert new.fence == old.fence + 1
    assert stalled.keep()
    stalled.release(old)
    stalled.close()
    assert database.leases.held("s") == new
    with pytest.raises(StaleFence), database.transaction() as cur:
        check_fence(cur, session="s", fence=old.fence, now=clock.now())


def test_a_late_holder_that_nobody_overtook_goes_on(fresh: Fresh) -> None:
    """Time alone stops nobody."""
    clock = StillClock()
    database = fresh(clock)
    lease = database.leases.acquire("s")
    clock.time += 31
    assert database.leases.keep()
    assert database.leases.held("s") == replace(lease, until=clock.time + 30)
    with database.transaction() as cur:
        check_fence(cur, session="s", fence=lease.fence, now=clock.now())


def test_a_writer_without_a_fence_is_refused_only_while_someone_holds(fresh: Fresh) -> None:
    """Foreign writers may write to sessions that nobody runs."""
    database = fresh()
    with database.transaction() as cur:
        check_fence(cur, session="s", fence=None, now=1_000)
    lease = database.leases.acquire("s")
    with pytest.raises(SessionBusy), database.transaction() as cur:
        check_fence(cur, session="s", fence=None, now=1_000)
    database.leases.release(lease)
    with database.transaction() as cur:
        check_fence(cur, session="s", fence=None, now=1_000)


def test_another_tenants_session_is_unknown(fresh: Fresh) -> None:
    """Its existence is not told."""
    database = fresh()
    database.leases.release(database.leases.acquire("s", tenant="acme"))
    with pytest.raises(UnknownSession):
        database.leases.acquire("s", tenant="acme-corp")
    assert database.sessions.get("s").tenant == "acme"


def test_the_heartbeat_renews_what_is_held_and_ends_when_nothing_is(tmp_path: Path) -> None:
    """A held lease outlives its time to live, and no thread is left behind."""
    clock, others = StillClock(), _hearts()
    with open_database(url(tmp_path), clock=clock, lease_ttl_s=0.03) as database:
        lease = database.leases.acquire("s")
        clock.time += 0.02
        renewed = _wait_for(lambda: (database.leases.held("s") or lease).until > lease.until)
        database.leases.release(lease)
        ended = _wait_for(lambda: _hearts() == others)
    assert renewed
    assert ended


def test_held_leases_are_renewed_together(fresh: Fresh) -> None:
    """One that was taken over meanwhile is not."""
    clock = StillClock()
    database = fresh(clock)
    kept, lost = database.leases.acquire("kept"), database.leases.acquire("lost")
    clock.time += 20
    with database.transaction("lost") as cur:
        cur.execute("UPDATE stateward_sessions SET holder = ?, fence = 2 WHERE id = ?", ("other", "lost"))
    assert database.leases.keep()
    found = [database.leases.held(lease.session) for lease in (kept, lost)]
    assert [(lease.fence, lease.until) for lease in found if lease] == [(1, clock.time + 30), (2, lost.until)]


@pytest.mark.parametrize("locks", [False, True])
def test_session_that_somebody_blocks_costs_no_other_its_lease(postgres: Server, locks: bool) -> None:
    """A process that stands still inside a transaction keeps its locks until the server ends it."""
    clock, place = StillClock(), postgres.url()
    with open_database(place, clock=clock) as database, open_database(place) as other:
        for session in ("busy", "free"):
            database.leases.acquire(session)
        clock.time += 20
        with other.transaction("busy") as cur:
            if locks:
                cur.execute("SELECT 1 FROM stateward_sessions WHERE id = ? FOR UPDATE", ("busy",))
            renewed = database.leases.keep()
            found = [database.leases.held(session) for session in ("busy", "free")]
        assert [lease.until for lease in found if lease] == [1_030.0 if locks else 1_050.0, 1_050.0]
        assert (renewed, database.leases.keep()) == (not locks, True)


def test_leases_are_renewed_although_all_connections_are_taken(
    postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By threads that wait for a session, for instance."""
    monkeypatch.setattr("stateward.run.store.postgres_pool.POOL", 1)
    clock = StillClock()
    with open_database(postgres.url(), clock=clock) as database:
        database.leases.acquire("s")
        clock.time += 20
        with database.transaction("other"):
            thread = threading.Thread(target=database.leases.keep)
            thread.start()
            thread.join()
        lease = database.leases.held("s")
        assert lease is not None
        assert lease.until == 1_050


def test_child_holds_in_its_own_name(tmp_path: Path) -> None:
    """Its parent lives on when it dies, and renews nothing of its."""
    with open_database(url(tmp_path)) as database:
        parent = database.leases.acquire("parent")
        child = in_child(lambda: database.leases.acquire("child").holder)
        assert (child == parent.holder, is_dead(child), database.leases.held("child")) == (False, True, None)


def test_heart_of_a_child_beats(tmp_path: Path) -> None:
    """Although its parent's was beating when it was forked off."""

    def renewed() -> str:
        lease = database.leases.acquire("child")
        return str(_wait_for(lambda: (database.leases.held("child") or lease).until > lease.until))

    with open_database(url(tmp_path), lease_ttl_s=0.3) as database:
        database.leases.acquire("parent")
        assert in_child(renewed) == "True"


def test_closing_releases_what_is_held(tmp_path: Path) -> None:
    """The next process need not wait."""
    first = open_database(url(tmp_path))
    first.leases.acquire("s")
    first.close()
    with open_database(url(tmp_path)) as second:
        assert second.leases.acquire("s").fence == 2


def test_this_process_is_alive_and_an_earlier_one_with_its_pid_is_dead() -> None:
    """The start time tells two processes with one pid apart; other machines cannot be judged."""
    boot, namespace, pid, start, nonce = new_holder().split(":")
    assert not is_dead(":".join((boot, namespace, pid, start, nonce)))
    assert is_dead(":".join((boot, namespace, pid, "1", nonce)))
    assert is_dead(":".join((boot, namespace, "999999999", start, nonce)))
    assert not is_dead(":".join(("elsewhere", namespace, "999999999", start, nonce)))
    assert not is_dead("someone")


def test_threads_that_race_for_one_session_get_it_once(fresh: Fresh) -> None:
    """Of eight threads one holds the session, seven are told."""
    database = fresh()
    outcomes: list[Lease | SessionBusy] = []
    start = threading.Barrier(8)

    def take() -> None:
        start.wait()
        try:
            outcomes.append(database.leases.acquire("s"))
        except SessionBusy as busy:
            outcomes.append(busy)

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(isinstance(outcome, Lease) for outcome in outcomes) == 1


@pytest.mark.slow
def test_processes_that_race_for_one_session_get_it_once(tmp_path: Path) -> None:
    """Of three processes one holds the session, two are told."""
    with workers(3, name="acquire", url=url(tmp_path)) as started:
        for worker in started:
            go(worker)
        assert sorted(line(worker) for worker in started) == ["SessionBusy", "SessionBusy", "fence 1"]


@pytest.mark.slow
@pytest.mark.parametrize("reaped", [True, False])
def test_a_killed_holder_is_overtaken_at_once(tmp_path: Path, reaped: bool) -> None:
    """Nobody waits for the time to live, even when the dead process is still a zombie."""
    with workers(1, name="hold", url=url(tmp_path)) as (worker,), open_database(url(tmp_path)) as database:
        go(worker)
        assert line(worker) == "1"
        with pytest.raises(SessionBusy):
            database.leases.acquire("s")
        worker.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, worker.pid, os.WEXITED | os.WNOWAIT)
        if reaped:
            worker.wait()
        assert database.sessions.get("s").stalled
        assert database.leases.acquire("s").fence == 2
        assert [entry.status for entry in database.journal.unfinished("s")] == ["started"]


def _hearts() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "stateward-heartbeat"]


def _wait_for(condition: Callable[[], object]) -> bool:
    pause = threading.Event()
    return any(bool(condition()) or pause.wait(0.01) for _ in range(6_000))
