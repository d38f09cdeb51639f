"""PostgreSQL: sessions do not wait for one another, a lost connection is outlived, and set-up may race."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from stateward.errors import CheckpointError, ConnectionLost
from stateward.run.store.database import Database, open_database
from stateward.run.store.postgres_words import advice, worded
from tests.postgres import Server
from tests.run.store.desk import entry, key


@pytest.fixture
def url(postgres: Server) -> str:
    return postgres.url()


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    with open_database(url) as opened:
        yield opened


def hang_up(server: Server) -> None:
    """End every connection to the server but one's own."""
    with psycopg.connect(server.uri, autocommit=True) as raw:
        raw.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")


def test_a_connection_that_died_while_it_was_idle_is_replaced(database: Database, postgres: Server) -> None:
    """Whoever comes next does not notice."""
    database.leases.acquire("s")
    hang_up(postgres)
    assert database.sessions.get("s").id == "s"
    hang_up(postgres)
    database.audit.append({"event": "x"})
    assert len(database.audit.rows()) == 1


def test_work_that_lost_its_connection_is_done_again(database: Database, postgres: Server) -> None:
    """From its beginning, and once."""
    tries: list[int] = []

    def work() -> None:
        with database.transaction("s") as cur:
            tries.append(len(tries))
            database.audit.append({"event": "x"})
            if len(tries) == 1:
                hang_up(postgres)
                cur.execute("SELECT 1")

    database.persist(work)
    assert (len(tries), len(database.audit.rows())) == (2, 1)


def test_an_outer_transaction_is_not_half_repeated(database: Database, postgres: Server) -> None:
    """Inside a transaction a persistent method is done once: what was before it is lost with it."""

    def outer() -> None:
        with database.transaction("s"):
            database.audit.append({"event": "first"})
            hang_up(postgres)
            database.audit.append({"event": "second"})

    with pytest.raises(ConnectionLost):
        outer()
    assert database.audit.rows() == ()


@pytest.mark.parametrize("commits", [True, False])
def test_a_call_whose_commit_was_not_confirmed_is_begun_once(commits: bool, database: Database) -> None:
    """The second try knows by its time what the first one wrote, and makes the call."""
    tries: list[int] = []

    def begin() -> object:
        tries.append(1)
        if len(tries) > 1:
            return database.journal.begin(entry())
        with database.transaction("s"):
            begun = database.journal.begin(entry())
            if not commits:
                raise ConnectionLost("lost")
        raise ConnectionLost(f"lost after {begun}")

    begun = database.persist(begin)
    assert type(begun).__name__ == "Begun"
    assert len(database.journal.entries("s")) == 1


def test_a_call_that_another_one_began_is_known(database: Database) -> None:
    """A further try does not take it for its own."""
    database.journal.begin(entry())
    tries: list[int] = []

    def begin() -> object:
        tries.append(1)
        if len(tries) == 1:
            raise ConnectionLost("lost")
        return database.journal.begin(entry())

    assert type(database.persist(begin)).__name__ == "Known"


def test_a_lease_whose_commit_was_not_confirmed_is_held(database: Database) -> None:
    """Its taker is not kept out by itself."""
    tries: list[int] = []

    def acquire() -> int:
        tries.append(1)
        lease = database.leases.acquire("s")
        if len(tries) == 1:
            raise ConnectionLost("lost")
        return lease.fence

    assert database.persist(acquire) == 1


def test_sessions_do_not_wait_for_one_another(database: Database) -> None:
    """While one session's transaction is open, another one's is done."""
    with database.transaction("a"), ThreadPoolExecutor(1) as pool:
        pool.submit(database.leases.acquire, "b").result(timeout=10)
    assert database.sessions.get("b").id == "b"


def test_transactions_of_one_session_come_one_after_the_other(database: Database) -> None:
    """The second sees what the first one wrote."""
    inside, seen = threading.Event(), threading.Event()

    def second() -> object:
        inside.wait(10)
        seen.set()
        return database.journal.begin(entry())

    with ThreadPoolExecutor(1) as pool:
        later = pool.submit(second)
        with database.transaction("s"):
            inside.set()
            seen.wait(10)
            database.journal.begin(entry())
        assert type(later.result(timeout=10)).__name__ == "Known"


def test_the_whole_database_waits_for_a_session(database: Database) -> None:
    """A transaction that names no session is alone."""
    with ThreadPoolExecutor(1) as pool:
        with database.transaction("s"):
            later = pool.submit(_count, database)
            database.audit.append({"event": "x"})
            assert not later.done()
        assert later.result(timeout=10) == 1


def _count(database: Database) -> int:
    with database.transaction() as cur:
        return int(cur.execute("SELECT COUNT(*) FROM stateward_audit").fetchone()[0])


def test_the_audit_log_is_one_chain_whoever_writes(database: Database) -> None:
    """Concurrent sessions never take the same predecessor."""
    with ThreadPoolExecutor(8) as pool:
        for number in range(40):
            pool.submit(database.audit.append, {"event": "x", "session": f"s{number % 5}"})
    assert database.audit.verify() == 40


def test_calls_are_listed_in_the_order_in_which_they_were_begun(database: Database) -> None:
    """Not in the order of their numbers."""
    for call in (3, 1, 2):
        database.journal.begin(entry(call))
    assert [found.key for found in database.journal.entries("s")] == [key(3), key(1), key(2)]


def test_any_number_may_set_a_database_up(url: str) -> None:
    """LangGraph's own set-up fails when it races."""
    with ThreadPoolExecutor(8) as pool:
        opened = [pool.submit(open_database, url) for _ in range(8)]
        for one in opened:
            one.result(timeout=60).close()
    with open_database(url) as database:
        assert database.sessions.list() == ()


def test_look_alike_tenants_do_not_meet_in_the_store(database: Database) -> None:
    """A search below `acme` does not find what is `acme-corp`'s."""
    database.store.put(("acme", "facts"), "k", {"whose": "acme"})
    database.store.put(("acme-corp", "facts"), "k", {"whose": "acme-corp"})
    assert [item.value["whose"] for item in database.store.search(("acme",))] == ["acme"]


@pytest.mark.parametrize(
    ("part", "told"),
    [("/postgres?", "nosuchdatabase"), ("/postgres?", "postgres?port=1&")],
)
def test_a_server_that_cannot_be_used_is_an_error_without_the_password(part: str, told: str, postgres: Server) -> None:
    """The error names the place, and never the password."""
    bad = postgres.uri.replace("postgres:@", "postgres:hunter2@").replace(part, f"/{told}{'?' * (told[-1] != '&')}")
    with pytest.raises(CheckpointError) as refused:
        open_database(bad)
    assert "hunter2" not in str(refused.value)
    assert "postgresql://postgres@" in str(refused.value)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("CREATE TABLE t (a INTEGER, b REAL)", "(rowid BIGINT GENERATED ALWAYS AS IDENTITY, a BIGINT, b DOUBLE"),
        ("CREATE TABLE t (a INTEGER) WITHOUT ROWID", "CREATE TABLE t (a BIGINT)"),
        ("CREATE TABLE t (seq INTEGER PRIMARY KEY)", "(seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY)"),
        ("CREATE INDEX i ON t (a)", "CREATE INDEX i ON t (a)"),
    ],
)
def test_tables_are_told_in_postgresqls_words(ours: str, theirs: str) -> None:
    """With a column that tells the order of the rows where SQLite has one."""
    assert theirs in worded(ours)


@pytest.mark.parametrize(
    ("error", "lost"),
    [
        (psycopg.errors.AdminShutdown(), True),
        (psycopg.errors.SerializationFailure(), True),
        (psycopg.InterfaceError(), True),
        (psycopg.errors.DiskFull(), False),
        (psycopg.errors.UniqueViolation(), False),
        (psycopg.errors.InvalidPassword(), False),
    ],
)
def test_an_error_says_whether_the_work_may_be_done_again(error: psycopg.Error, lost: bool) -> None:
    """A broken connection, yes; a full disk, no."""
    assert advice(error)[1] is lost
