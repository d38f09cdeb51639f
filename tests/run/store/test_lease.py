"""Leases: one run per session, and a fence that stops who was overtaken."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from stateward.errors import SessionBusy, StaleFence, UnknownSession
from stateward.run.store.database import open_database
from stateward.run.store.holder import is_dead, new_holder
from stateward.run.store.lease import Lease, check_fence
from tests.run.store.desk import Fresh, StillClock, url
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
    old = database.leases.acquire("s")
    clock.time += 31
    new = database.leases.acquire("s")
    assert new.fence == old.fence + 1
    with pytest.raises(StaleFence):
        database.leases.renew(old)
    database.leases.release(old)
    assert database.leases.held("s") == new
    with pytest.raises(StaleFence), database.transaction() as cur:
        check_fence(cur, session="s", fence=old.fence, now=clock.now())


def test_a_late_holder_that_nobody_overtook_goes_on(fresh: Fresh) -> None:
    """Time alone stops nobody."""
    clock = StillClock()
    database = fresh(clock)
    lease = database.leases.acquire("s")
    clock.time += 31
    assert database.leases.renew(lease).until == clock.time + 30
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
    return any(bool(condition()) or pause.wait(0.01) for _ in range(500))
