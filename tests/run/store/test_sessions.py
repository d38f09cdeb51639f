"""Sessions: the row and the terminal record follow the checkpoint, in its transaction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from stateward.errors import UnknownSession
from stateward.run.store.database import Database
from tests.run.store.desk import Fresh, StillClock, bound, control, entry, key


def _project(database: Database, value: dict[str, Any], *, checkpoint: str = "c1") -> None:
    with database.transaction() as cur:
        database.sessions.project(cur, session="s", control=value, checkpoint=checkpoint)


def test_an_unknown_session_is_an_error(fresh: Fresh) -> None:
    """The message names it."""
    with pytest.raises(UnknownSession, match="`nobody`"):
        fresh().sessions.get("nobody")


def test_the_row_tells_what_the_control_channel_says(fresh: Fresh) -> None:
    """A session that nobody leased before gets its row."""
    database = fresh()
    _project(database, control("waiting", reason={"why": "ask"}))
    row = database.sessions.get("s")
    assert (row.status, row.path, row.run, row.run_no, row.branch) == ("waiting", ("WORKING.ACT",), "r1", 1, "main")
    assert (row.mode, row.chart_hash, row.policy_hash, row.schema_hash) == ("strict", "c1", "p1", "s1")
    assert (row.reason, row.created_at) == ({"why": "ask"}, 1_000)


def test_a_control_channel_without_a_status_is_left_alone(fresh: Fresh) -> None:
    """Nothing is made up."""
    database = fresh()
    _project(database, {})
    assert database.sessions.list() == ()


def _follow(database: Database, value: dict[str, Any], *, fence: int | None) -> bool:
    with database.transaction() as cur:
        followed = database.sessions.follow(cur, session="s", control=value, fence=fence)
        if followed:
            database.sessions.end(cur, session="s", control=value, checkpoint="c2")
        return followed


OTHER_RUN = {"id": "r2", "no": 2, "mode": "open", "hashes": {"chart": "c2", "policy": "p2", "schema": "s2"}}


@pytest.mark.parametrize(
    "change",
    [
        {"status": "waiting"},
        {"status": "completed"},
        {"branch": "fork"},
        {"reason": {"why": 1}},
        {"run": OTHER_RUN},
        {"run": OTHER_RUN, "status": "failed", "reason": {"why": 1}},
    ],
)
def test_the_holder_s_row_follows_as_it_is_projected(change: dict[str, Any], fresh: Fresh) -> None:
    """Row, record of the end and audit log are the same, whichever way they were written."""
    seen: list[Any] = []
    for way in ("follow", "project"):
        database, value = fresh(), {**control(), **change}
        fence = database.leases.acquire("s").fence
        _project(database, control())
        if way == "project":
            _project(database, value, checkpoint="c2")
        else:
            assert _follow(database, value, fence=fence)
        log = [row.record for row in database.audit.rows("s")]
        seen.append((replace(database.sessions.get("s"), holder=None), database.sessions.terminals("s"), log))
    assert seen[0] == seen[1]


def test_a_step_in_the_middle_of_a_run_is_followed_by_its_holder(fresh: Fresh) -> None:
    """The row is as `project` would leave it."""
    clock = StillClock()
    database = fresh(clock)
    lease = database.leases.acquire("s")
    _project(database, control())
    clock.time += 5
    step = {**control(), "at": ["WORKING.PLAN"], "timers": {"1": {"due": 9.0}}}
    assert _follow(database, step, fence=lease.fence)
    followed = database.sessions.get("s")
    _project(database, step)
    assert database.sessions.get("s") == followed
    assert (followed.path, followed.wakes_at, followed.updated_at) == (("WORKING.PLAN",), 9.0, clock.time)


@pytest.mark.parametrize(
    ("change", "fence", "before"),
    [
        ({}, 9, "running"),
        ({}, None, "running"),
        ({"mail": 3}, 1, "running"),
        ({}, 1, "halted"),
        ({"status": "halted"}, 1, "halted"),
        ({"status": "completed"}, 1, "halted"),
    ],
)
def test_anything_more_than_a_step_is_not_followed(
    change: dict[str, Any], fence: int | None, before: str, fresh: Fresh
) -> None:
    """Another writer, a letter that is taken, a run that had ended: `project` has to look."""
    database = fresh()
    database.leases.acquire("s")
    _project(database, control(before))
    row = database.sessions.get("s")
    assert not _follow(database, {**control(), "at": ["WORKING.PLAN"], **change}, fence=fence)
    assert database.sessions.get("s") == row


def test_a_run_whose_end_is_recorded_is_not_followed_on_another_branch(fresh: Fresh) -> None:
    """Its record has to go: the row names another run by then."""
    database = fresh()
    fence = database.leases.acquire("s").fence
    _project(database, control("completed"))
    _project(database, control(run="r2"))
    assert not _follow(database, control(), fence=fence)


@pytest.mark.parametrize("status", ["completed", "halted", "failed", "cancelled"])
def test_the_end_of_a_run_is_recorded_once(status: str, fresh: Fresh) -> None:
    """Later checkpoints of the ended run change nothing."""
    clock = StillClock()
    database = fresh(clock)
    _project(database, control())
    assert database.sessions.terminal("s", "r1") is None
    _project(database, control(status, reason={"why": 1}), checkpoint="c2")
    clock.time += 5
    _project(database, control(status), checkpoint="c3")
    (record,) = database.sessions.terminals("s")
    assert (record.status, record.checkpoint, record.ended_at, record.reason) == (status, "c2", 1_000, {"why": 1})
    assert [row.record["event"] for row in database.audit.rows("s")] == ["ended"]


def test_a_run_that_goes_on_after_its_end_has_not_ended(fresh: Fresh) -> None:
    """A halted run that a person lets go on loses its record; the audit log keeps the story."""
    database = fresh()
    for number, status in enumerate(("halted", "running", "completed")):
        _project(database, control(status), checkpoint=f"c{number}")
        record = database.sessions.terminal("s", "r1")
        assert (record.status if record else None) == (None if status == "running" else status)
    assert [row.record["status"] for row in database.audit.rows("s")] == ["halted", "running", "completed"]


def test_each_run_of_a_session_has_its_own_end(fresh: Fresh) -> None:
    """The session's row tells of the latest."""
    database = fresh()
    _project(database, control("failed", run="r1"))
    _project(database, control("completed", run="r2"))
    assert [(r.run, r.status) for r in database.sessions.terminals("s")] == [("r1", "failed"), ("r2", "completed")]
    assert database.sessions.get("s").run == "r2"


def test_a_running_row_without_a_living_lease_is_stalled(fresh: Fresh) -> None:
    """A crash is visible without reading a checkpoint."""
    clock = StillClock()
    database = fresh(clock)
    lease = database.leases.acquire("s")
    _project(database, control())
    assert not database.sessions.get("s").stalled
    clock.time += 31
    assert database.sessions.get("s").stalled
    database.leases.release(lease)
    _project(database, control("waiting"))
    assert not database.sessions.get("s").stalled


def test_the_row_says_when_its_first_timer_is_due(fresh: Fresh) -> None:
    """Of a run that has ended none is."""
    database = fresh()
    timers = {"1": {"due": 1_060.0}, "2": {"due": 1_030.0}}
    _project(database, control("waiting", timers=timers))
    assert database.sessions.get("s").wakes_at == 1_030
    _project(database, control("completed", timers=timers))
    assert database.sessions.get("s").wakes_at is None


def test_sessions_whose_time_has_come_are_found(fresh: Fresh) -> None:
    """Of one graph, the longest overdue first; then those to which somebody posted an event."""
    database = fresh()
    for session, due in (("late", 10.0), ("later", 5.0), ("early", 90.0), ("mail", None), ("calm", None)):
        database.leases.release(database.leases.acquire(session, graph="g"))
        timers = {} if due is None else {"1": {"due": due}}
        with database.transaction() as cur:
            database.sessions.project(cur, session=session, control=control("waiting", timers=timers), checkpoint="c")
    database.mailbox.post("mail", "go")
    assert database.sessions.waking(graph="g", now=20) == ("later", "late", "mail")
    assert database.sessions.waking(graph="other", now=20) == ()


def test_turns_tokens_and_money_come_from_the_journal(fresh: Fresh) -> None:
    """They cover all runs, and a listing is not multiplied by them."""
    database = fresh()
    _project(database, control())
    for call, run in ((1, "r1"), (2, "r1"), (1, "r2")):
        database.journal.begin(entry(call, run=run), [bound(unit="usd")])
        database.journal.settle(key(call, run=run), status="completed", spent={"usd": 0.1}, tokens_in=2, tokens_out=1)
    (row,) = database.sessions.list(status="running")
    assert (row.turns, row.tokens, round(row.usd, 9)) == (0, 9, 0.3)
    assert database.sessions.list(status="halted") == ()
