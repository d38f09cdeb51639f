"""One connection to a SQLite file: interrupts, files that go away, and forks."""

from __future__ import annotations

import _thread
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from stateward.errors import CheckpointError
from stateward.run.store.database import open_database
from stateward.run.store.sqlite import SqliteConnection, connect
from tests.run.store.desk import StillClock, url
from tests.run.store.forking import in_child
from tests.run.store.interrupting import interrupted


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ward.db"


@pytest.fixture
def connection(path: Path) -> Iterator[SqliteConnection]:
    """A file with a table of one column."""
    opened = connect(path, clock=StillClock(), label="ward")
    with opened.transaction() as cur:
        cur.execute("CREATE TABLE kept (n)")
    yield opened
    opened.close()


def kept(connection: SqliteConnection) -> list[int]:
    with connection.read() as cur:
        return [n for (n,) in cur.execute("SELECT n FROM kept ORDER BY n")]


def keep(connection: SqliteConnection, n: int) -> None:
    with connection.transaction() as cur:
        cur.execute("INSERT INTO kept VALUES (?)", (n,))


def test_interrupt_while_a_transaction_begins_leaves_it_to_nobody(connection: SqliteConnection, path: Path) -> None:
    """Ctrl-C while another process writes: both go on afterwards."""
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        begins = threading.Event()
        connection.raw.set_trace_callback(lambda _: begins.set())

        def interrupt() -> None:
            begins.wait()
            _thread.interrupt_main()
            other.execute("ROLLBACK")

        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            keep(connection, 1)
        other.execute("BEGIN IMMEDIATE")
        other.execute("ROLLBACK")
    keep(connection, 2)
    assert kept(connection) == [2]


def test_interrupt_after_any_call_leaves_nothing_open(connection: SqliteConnection) -> None:
    """Wherever it comes, what is next begins and commits, and another thread is let in."""
    for at in range(12):
        with suppress(KeyboardInterrupt), interrupted(at, module="store/sqlite.py"):
            keep(connection, 0)
        thread = threading.Thread(target=keep, args=(connection, at + 1), daemon=True)
        thread.start()
        thread.join(60)
    assert [n for n in kept(connection) if n] == list(range(1, 13))


def test_transaction_left_open_is_rolled_back_by_the_next(connection: SqliteConnection) -> None:
    """What tore its block off had no time to."""
    connection.raw.execute("BEGIN IMMEDIATE")
    connection.raw.execute("INSERT INTO kept VALUES (1)")
    keep(connection, 2)
    assert kept(connection) == [2]


class Handed:
    """A lock that another thread takes as soon as it is given back: it begins a transaction of its own."""

    def __init__(self, connection: SqliteConnection) -> None:
        self.opened = connection._opened.get()  # pyright: ignore[reportPrivateUsage]  # what all threads share
        self.lock = self.opened.lock

    def __enter__(self) -> None:
        self.lock.__enter__()

    def __exit__(self, *raised: object) -> None:
        self.lock.__exit__(None, None, None)
        self.opened.doomed = False


def test_transaction_that_was_rolled_back_is_told_whoever_comes_next(connection: SqliteConnection) -> None:
    """Whether a block inside failed is asked while nobody else can begin."""
    opened = connection._opened.get()  # pyright: ignore[reportPrivateUsage]
    opened.lock = Handed(connection)  # pyright: ignore[reportAttributeAccessIssue]
    with (
        pytest.raises(CheckpointError, match="rolled back"),
        connection.transaction(),
        suppress(ValueError),
        connection.transaction(),
    ):
        raise ValueError
    assert kept(connection) == []


@pytest.mark.parametrize("replaced", [False, True])
def test_file_that_is_gone_takes_no_writes(connection: SqliteConnection, path: Path, replaced: bool) -> None:
    """A second process would run the same sessions in the file that has its path now."""
    path.rename(path.with_name("moved"))
    if replaced:
        path.write_bytes(b"")
    for refused in (lambda: keep(connection, 1), lambda: kept(connection)):
        with pytest.raises(CheckpointError, match="deleted or replaced"):
            refused()
    path.unlink(missing_ok=True)
    path.with_name("moved").rename(path)
    assert kept(connection) == []


def test_file_that_goes_while_a_transaction_runs_keeps_nothing_of_it(connection: SqliteConnection, path: Path) -> None:
    """It is looked for just before the commit."""

    def keep_and_move() -> None:
        with connection.transaction() as cur:
            cur.execute("INSERT INTO kept VALUES (1)")
            path.rename(path.with_name("moved"))

    with pytest.raises(CheckpointError, match="deleted or replaced"):
        keep_and_move()
    path.with_name("moved").rename(path)
    assert kept(connection) == []


def test_relative_path_outlives_a_change_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It meant the folder it was opened in."""
    monkeypatch.chdir(tmp_path)
    with closing(connect(Path("a.db"), clock=StillClock(), label="a")) as connection:
        monkeypatch.chdir(os.path.sep)
        assert connection.tables() == frozenset()


def test_child_has_a_connection_of_its_own(connection: SqliteConnection) -> None:
    """Even when a thread of its parent had the lock, which does not come along to give it back."""
    begun, over = threading.Event(), threading.Event()

    def hold() -> None:
        with connection.transaction():
            begun.set()
            over.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    begun.wait()
    child = in_child(lambda: str(kept(connection)))
    over.set()
    thread.join()
    assert (child, kept(connection)) == ("[]", [])


def test_child_that_closes_what_it_never_used_leaves_it_to_its_parent(connection: SqliteConnection) -> None:
    """A worker may end with all that it inherited."""
    assert in_child(lambda: str(connection.close())) == "None"
    keep(connection, 1)


def test_memory_of_the_parent_is_refused_in_a_child() -> None:
    """It would be a copy, in which nothing of the parent's is seen."""
    with open_database("memory:") as database:
        assert "after the fork" in in_child(lambda: str(database.sessions.list()))


def test_store_of_a_file_is_there_in_a_child(tmp_path: Path) -> None:
    """With the functions that its search needs."""
    with open_database(url(tmp_path)) as database:
        database.store.put(("a",), "k", {"v": 1})
        assert in_child(lambda: str(len(database.store.search(("a",))))) == "1"
