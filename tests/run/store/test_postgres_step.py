"""A step of a session is one statement, and its guard sees the session's row as it is when the step is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest
from langgraph.checkpoint.base import empty_checkpoint

from stateward.errors import CodecError, StaleFence
from stateward.run.checkpoint import CHANNEL, FENCE
from stateward.run.store.database import Database, open_database
from stateward.run.store.postgres import PostgresConnection
from stateward.run.store.postgres_saver import PostgresFencedSaver
from stateward.run.store.postgres_step import MOST, Guard, Listed
from stateward.run.store.serializer import StrictSerializer
from tests.postgres import Server
from tests.run.store.desk import control

KEYS = {"k1": b"1" * 32}
TAKEN = "UPDATE stateward_sessions SET fence = fence + 1 WHERE id = 's'"


@pytest.fixture
def url(postgres: Server) -> str:
    return postgres.url()


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    with open_database(url) as opened:
        yield opened


@pytest.fixture(params=[None, KEYS], ids=["clear", "encrypted"])
def either(url: str, request: pytest.FixtureRequest) -> Iterator[Database]:
    """A database, in clear and encrypted."""
    with open_database(url, keys=request.param) as opened:
        yield opened


def named(fence: int | None, checkpoint: str = "") -> Any:
    """A config of session `s`; LangGraph's type does not know our key."""
    given: dict[str, Any] = {"thread_id": "s", "checkpoint_ns": "", FENCE: fence}
    return {"configurable": given | ({"checkpoint_id": checkpoint} if checkpoint else {})}


def connection(database: Database) -> PostgresConnection:
    saver = database.saver
    assert isinstance(saver, PostgresFencedSaver)
    return saver._postgres  # pyright: ignore[reportPrivateUsage]


def step(database: Database, fence: int, number: int) -> None:
    """Store a task's writes and the checkpoint of a step."""
    checkpoint = empty_checkpoint()
    database.saver.put_writes(named(fence, checkpoint["id"]), [("notes", [number]), ("n", number)], "task")
    checkpoint["channel_values"] = {CHANNEL: control(), "notes": [number], "n": number}
    checkpoint["channel_versions"] = {"notes": str(number)}
    database.saver.put(named(fence), checkpoint, {}, {"notes": str(number)})


def said(database: Database, work: Callable[[], object], *, to: Path) -> list[str]:
    """Return the kinds of the messages that work sends to the server; nothing else uses the database meanwhile."""
    with to.open("wb") as file:
        with connection(database).lend() as raw:
            raw.pgconn.trace(file.fileno())
        work()
        raw.pgconn.untrace()
    lines = (line.split("\t") for line in to.read_text().splitlines())
    return [line[3].strip() for line in lines if len(line) > 3 and line[1] == "F"]


@pytest.mark.parametrize("keys", [None, KEYS], ids=["clear", "encrypted"])
def test_a_step_is_two_statements_in_two_round_trips(
    keys: dict[str, bytes] | None, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One for the writes and one for the checkpoint, encrypted or not; they had been prepared."""
    monkeypatch.setattr("stateward.run.store.postgres_pool.POOL", 1)
    with open_database(url, keys=keys) as database:
        fence = database.leases.acquire("s", tenant="acme").fence
        for number in range(3):
            step(database, fence, number)
        sent = said(database, lambda: step(database, fence, 3), to=tmp_path / "said")
    assert [sent.count(kind) for kind in ("Parse", "Execute", "Sync", "Query")] == [0, 2, 2, 0]


@pytest.mark.parametrize(("status", "statements"), [("running", 1), ("waiting", 1), ("completed", 6)])
def test_the_statement_that_stores_a_checkpoint_brings_the_row_up_to_it(
    status: str, statements: int, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when another run begins, waits or ends; an end is a record, and a row of the audit log, besides; COMMIT."""
    monkeypatch.setattr("stateward.run.store.postgres_pool.POOL", 1)

    def another(number: int) -> None:
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = {CHANNEL: control(status, run=f"r{number}")}
        database.saver.put(named(fence), checkpoint, {}, {})

    with open_database(url) as database:
        fence = database.leases.acquire("s").fence
        for number in range(8):
            another(number)
        sent = said(database, lambda: another(8), to=tmp_path / "said")
        assert (database.sessions.get("s").run, database.sessions.get("s").status) == ("r8", status)
    assert sent.count("Execute") == statements


def waiting_behind(url: str, work: Callable[[], None], *, lock: LiteralString) -> Future[None]:
    """Do work behind a transaction that has the lock and takes the session over; return when that is committed."""
    with (
        psycopg.connect(url) as other,
        psycopg.connect(url, autocommit=True) as onlooker,
        ThreadPoolExecutor(1) as pool,
    ):
        other.execute(lock)
        later = pool.submit(work)
        waits = "SELECT 1 FROM pg_locks WHERE NOT granted AND %s = ANY (pg_blocking_pids(pid))"
        while onlooker.execute(waits, (other.info.backend_pid,)).fetchone() is None:
            assert not later.done(), later.exception()
        other.execute(TAKEN)
        other.commit()
        return later


@pytest.mark.parametrize("lock", [TAKEN.replace("+ 1", "+ 0"), "SELECT pg_advisory_xact_lock(21335, 0)"])
@pytest.mark.parametrize("what", ["put", "put_writes"])
def test_a_step_that_waited_for_a_takeover_is_refused(
    what: str, lock: LiteralString, database: Database, url: str
) -> None:
    """The statement began while its writer still held the session, and waited behind the one that took it over."""
    fence, checkpoint = database.leases.acquire("s").fence, empty_checkpoint()
    step(database, fence, 1)

    def stale() -> None:
        if what == "put":
            database.saver.put(named(fence), checkpoint | {"channel_values": {CHANNEL: control()}}, {}, {})  # pyright: ignore[reportArgumentType]
        else:
            database.saver.put_writes(named(fence, checkpoint["id"]), [("notes", [1])], "late")

    with pytest.raises(StaleFence):
        waiting_behind(url, stale, lock=lock).result(timeout=60)
    with database.read() as cur:
        cur.execute("SELECT checkpoint_id FROM checkpoints UNION ALL SELECT checkpoint_id FROM checkpoint_writes")
        assert (checkpoint["id"],) not in cur.fetchall()


def guard(fence: int) -> Guard:
    return Guard(
        statement="SELECT 1 FROM stateward_sessions WHERE id = ? AND fence = ?",
        parameters=("s", fence),
        ending="FOR SHARE",
    )


@pytest.mark.parametrize("of", [0, 1])
def test_a_guard_that_is_not_met_leaves_nothing(of: int, database: Database) -> None:
    """And one that is met leaves everything."""
    fence, listed = database.leases.acquire("s").fence, Listed(StrictSerializer())
    listed.put_writes(named(fence, "c1"), [("notes", [1]), ("n", 2)], "task")
    met = connection(database).at_once("s", guard=guard(fence + 1 - of), listed=listed)
    with database.read() as cur:
        assert (met, cur.execute("SELECT COUNT(*) FROM checkpoint_writes").fetchone()[0]) == (of == 1, 2 * of)


@pytest.mark.parametrize("count", [0, 1, MOST, MOST + 1])
def test_any_number_of_writes_is_stored(count: int, either: Database) -> None:
    """In one statement, or as in any transaction when they are many."""
    fence, checkpoint = either.leases.acquire("s").fence, empty_checkpoint()
    either.saver.put(named(fence), checkpoint, {}, {})
    writes = [(f"c{number}", number) for number in range(count)]
    either.saver.put_writes(named(fence, checkpoint["id"]), writes, "task")
    found = either.saver.get_tuple(named(fence))
    assert found is not None
    assert [write[1:] for write in found.pending_writes or ()] == writes


def test_the_last_of_two_writes_to_a_special_channel_stands(database: Database) -> None:
    """One statement cannot change a row twice."""
    fence, checkpoint = database.leases.acquire("s").fence, empty_checkpoint()
    database.saver.put(named(fence), checkpoint, {}, {})
    database.saver.put_writes(named(fence, checkpoint["id"]), [("__error__", "a"), ("__error__", "b")], "task")
    found = database.saver.get_tuple(named(fence))
    assert found is not None
    assert found.pending_writes == [("task", "__error__", "b")]


def test_a_step_is_sealed_for_the_tenant_that_the_row_names(url: str) -> None:
    """Not for the one the session had when this process last looked."""
    with open_database(url, keys=KEYS) as database, open_database(url, keys=KEYS) as reader:
        fence = database.leases.acquire("s").fence
        step(database, fence, 1)
        step(database, fence, 2)
        with database.transaction("s") as cur:
            cur.execute("UPDATE stateward_sessions SET tenant = 'acme'")
        step(database, fence, 3)
        found = reader.saver.get_tuple(named(None))
        assert found is not None
        assert found.checkpoint["channel_values"]["notes"] == [3]
        with database.transaction("s") as cur:
            cur.execute("UPDATE stateward_sessions SET tenant = 'other'")
        with pytest.raises(CodecError, match="another place"):
            reader.saver.get_tuple(named(None))


def test_who_waited_for_a_lock_sees_what_was_written_meanwhile(postgres: Server) -> None:
    """Also at a server whose transactions would not, of themselves."""
    strict = postgres.url().replace("options=", "options=-cdefault_transaction_isolation%3Dserializable%20")
    with open_database(strict) as database, database.transaction("s") as cur:
        assert cur.execute("SHOW transaction_isolation").fetchone() == ("read committed",)
