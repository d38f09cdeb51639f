"""The mailbox: letters in their order, each shown until it was taken or refused, and watches that are woken."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stateward.errors import CodecError, RunError, SessionBusy, StaleFence, UnknownSession
from stateward.run.store.database import Database, open_database
from stateward.run.store.watch import Watch
from tests.run.store.desk import Fresh, StillClock, control, url


@pytest.fixture
def opened(fresh: Fresh) -> Fresh:
    """Open a database with one session."""

    def make(clock: StillClock | None = None) -> Database:
        database = fresh(clock)
        database.leases.release(database.leases.acquire("s"))
        return database

    return make


def commit(database: Database, *, mail: int, status: str = "waiting") -> None:
    """Bring the session's row up to a checkpoint."""
    with database.transaction() as cur:
        database.sessions.project(cur, session="s", control=control(status, mail=mail), checkpoint="c1")


def test_letters_are_numbered_in_the_order_in_which_they_were_posted(opened: Fresh) -> None:
    """Each session counts its own, from 1, and a letter tells who sent what when."""
    database = opened(StillClock())
    database.leases.acquire("other")
    database.mailbox.post("other", "x")
    for event in ("a", "b"):
        database.mailbox.post("s", event, {"n": [1, None]}, by="ann")
    first, second = database.mailbox.list("s")
    assert [(letter.no, letter.event) for letter in (first, second)] == [(1, "a"), (2, "b")]
    assert (first.data, first.by, first.posted_at, first.status) == ({"n": [1, None]}, "ann", 1_000, "posted")
    assert database.mailbox.get("s", 2) == second


def test_a_letter_is_shown_until_a_checkpoint_took_it(opened: Fresh) -> None:
    """The number in the checkpoint decides, and what the row says follows it in the same transaction."""
    database = opened()
    for event in "abc":
        database.mailbox.post("s", event)
    assert [letter.event for letter in database.mailbox.after("s", 0)] == ["a", "b", "c"]
    assert [letter.event for letter in database.mailbox.after("s", 1, upto=2)] == ["b"]
    commit(database, mail=2)
    assert [letter.event for letter in database.mailbox.after("s", 2)] == ["c"]
    assert [(one.status, one.at) for one in database.mailbox.list("s")] == [
        ("taken", "WORKING.ACT"),
        ("taken", "WORKING.ACT"),
        ("posted", ""),
    ]


def test_a_checkpoint_from_before_does_not_show_a_taken_letter_again(opened: Fresh) -> None:
    """Time travel goes back in the chart, and not in what others sent."""
    database = opened()
    database.mailbox.post("s", "a")
    commit(database, mail=1)
    commit(database, mail=0)
    assert database.mailbox.after("s", 0) == ()
    assert database.sessions.get("s").mail == 1


def test_a_refused_letter_tells_why_and_is_not_shown_again(opened: Fresh) -> None:
    """What was taken or refused before stays so."""
    database = opened()
    database.mailbox.post("s", "a")
    database.mailbox.refuse("s", 1, at="OPEN", note="nobody reacts")
    database.mailbox.refuse("s", 1, at="LATER", note="again")
    letter = database.mailbox.get("s", 1)
    assert (letter.status, letter.at, letter.note) == ("refused", "OPEN", "nobody reacts")
    assert database.mailbox.after("s", 0) == ()


def test_only_who_runs_the_session_may_refuse(opened: Fresh) -> None:
    """The fence is checked in the transaction of the write."""
    database = opened()
    lease = database.leases.acquire("s")
    database.mailbox.post("s", "a")
    for fence, error in ((None, SessionBusy), (lease.fence - 1, StaleFence)):
        with pytest.raises(error):
            database.mailbox.refuse("s", 1, at="", note="", fence=fence)
    database.mailbox.refuse("s", 1, at="", note="", fence=lease.fence)


def test_letters_that_wait_are_put_behind_the_one_that_is_taken(opened: Fresh) -> None:
    """In their order, with whoever sent them; each is found under the number it had, and refused under it as well."""
    database = opened()
    for event in "abc":
        database.mailbox.post("s", event, {"n": 1}, by="ann")
    database.mailbox.put_behind("s", [1], upto=2)
    assert [(letter.no, letter.event) for letter in database.mailbox.after("s", 2)] == [(4, "a"), (5, "c")]
    first = database.mailbox.get("s", 1)
    assert (first.no, first.event, first.data, first.by, first.status) == (4, "a", {"n": 1}, "ann", "posted")
    database.mailbox.put_behind("s", [4], upto=5)
    database.mailbox.refuse("s", 1, at="OPEN", note="late")
    assert [(one.event, one.status) for one in database.mailbox.list("s")] == [
        ("b", "posted"),
        ("c", "posted"),
        ("a", "refused"),
    ]


def test_only_who_runs_the_session_may_put_letters_behind(opened: Fresh) -> None:
    """The fence is checked in the transaction of the write."""
    database = opened()
    database.leases.acquire("s")
    database.mailbox.post("s", "a")
    with pytest.raises(SessionBusy):
        database.mailbox.put_behind("s", [1], upto=2)


def test_what_cannot_be_posted_is_refused(opened: Fresh) -> None:
    """A session that is not there, and data that is no JSON."""
    database = opened()
    with pytest.raises(UnknownSession, match="nobody"):
        database.mailbox.post("nobody", "a")
    with pytest.raises(CodecError, match="event `a`"):
        database.mailbox.post("s", "a", {"n": object()})
    with pytest.raises(RunError, match="no letter 1"):
        database.mailbox.get("s", 1)


def test_who_sent_what_is_in_the_audit_log(opened: Fresh) -> None:
    """Posting and refusing are recorded; the log stays whole."""
    database = opened()
    database.mailbox.post("s", "a", by="ann")
    database.mailbox.refuse("s", 1, at="OPEN", note="no")
    records = [row.record for row in database.audit.rows("s")]
    assert [(one["event"], one["no"]) for one in records] == [("posted", 1), ("refused", 1)]
    assert records[0]["by"] == "ann"
    assert database.audit.verify() == 2


# -- watching ---------------------------------------------------------------------------------------------


async def watched(database: Database, then: Callable[[], Any], *, due: float | None = None) -> Watch:
    """Watch the session, do something while the watch waits, and come back when it has noticed."""
    async with database.mailbox.watch("s") as watch:
        await watch.changed()
        waiting = asyncio.create_task(watch.changed(due=due))
        await asyncio.sleep(0)
        assert not waiting.done()
        await asyncio.to_thread(then)
        await asyncio.wait_for(waiting, 60)
    return watch


def test_a_watch_looks_first(opened: Fresh) -> None:
    """What came before it began is found by who looks after the first return."""

    async def first(database: Database) -> None:
        async with database.mailbox.watch("s") as watch:
            await asyncio.wait_for(watch.changed(), 60)

    asyncio.run(first(opened()))


def test_a_letter_of_this_process_wakes_a_watch(opened: Fresh) -> None:
    """From any thread, without waiting for the next look."""
    database = opened()
    asyncio.run(watched(database, lambda: database.mailbox.post("s", "a")))


def test_a_letter_of_another_process_wakes_a_watch(tmp_path: Path) -> None:
    """Through the file: another connection has written."""
    with open_database(url(tmp_path)) as database, open_database(url(tmp_path)) as other:
        database.leases.release(database.leases.acquire("s"))
        asyncio.run(watched(database, lambda: other.mailbox.post("s", "a")))


def test_a_moment_wakes_a_watch(opened: Fresh) -> None:
    """The database's clock says when it has come."""
    clock = StillClock()

    def pass_time() -> None:
        clock.time += 60

    asyncio.run(watched(opened(clock), pass_time, due=1_060))


def test_a_watch_that_is_over_is_forgotten(opened: Fresh) -> None:
    """Nobody is woken, and nothing is kept."""
    database = opened()
    watch = asyncio.run(watched(database, lambda: database.mailbox.ring("s")))
    watch.wake()
    database.mailbox.post("s", "a")
