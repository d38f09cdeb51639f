"""What a database says about its keys: looked at before anything in it is read or written."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from stateward.errors import CodecError
from stateward.run.store.cipher import Keys
from stateward.run.store.database import Database, open_database
from tests.postgres import Server

KEYS = {"k1": b"1" * 32}
WRONG = [None, {"k1": b"x" * 32}, {"k2": b"1" * 32}, {"k2": b"2" * 32, "k1": b"x" * 32}]
"""No key, another one by the same id, the right one by another id, and another beside a new one."""

Opened = Callable[..., Database]


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A fresh database that outlives its opening, of both kinds."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'canary.db'}"
    server: Server = request.getfixturevalue("postgres")
    return server.url()


def run(url: str, *statements: str) -> list[Any]:
    """Run statements past Stateward; return the rows of the last one."""
    if url.startswith("sqlite"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as raw:
            found = [raw.execute(statement).fetchall() for statement in statements]
        raw.close()
        return found[-1]
    with psycopg.connect(url, autocommit=True) as server:
        cursors = [server.execute(statement.encode()) for statement in statements]
        return cursors[-1].fetchall() if cursors[-1].description else []


def as_before(url: str) -> None:
    """Make of a database what one of an earlier release is: it says nothing of its keys."""
    run(url, "DELETE FROM stateward_keys")


def put(database: Database, what: str) -> None:
    """Store one thing of the user's."""
    if what == "audit":
        database.audit.append({"session": "s", "said": "so"})
    elif what == "store":
        database.store.put(("notes", "ann"), "k", {"text": "so"})
    else:
        saved: Any = {
            "v": 4, "id": "c1", "ts": "2026-01-01T00:00:00+00:00", "channel_values": {"a": "so"},
            "channel_versions": {"a": "1"}, "versions_seen": {}, "updated_channels": None,
        }  # fmt: skip
        database.saver.put({"configurable": {"thread_id": "s", "checkpoint_ns": ""}}, saved, {"step": 1}, {"a": "1"})


THINGS = ["audit", "store", "checkpoint"]


@pytest.mark.parametrize("keys", WRONG)
def test_an_encrypted_database_is_not_opened_without_its_keys(url: str, keys: Keys | None) -> None:
    """Even an empty one: what came in would be in clear, or under another key."""
    open_database(url, keys=KEYS).close()
    with pytest.raises(CodecError, match="is encrypted"):
        open_database(url, keys=keys)


@pytest.mark.parametrize("keys", [KEYS, {"k2": b"2" * 16, **KEYS}, {**KEYS, "k2": b"2" * 16}])
def test_it_is_opened_with_them(url: str, keys: Keys) -> None:
    """Alone, before another one, and behind it."""
    open_database(url, keys=KEYS).close()
    open_database(url, keys=keys).close()
    open_database(url, keys=KEYS).close()


def test_a_key_that_was_taken_into_use_opens_alone(url: str) -> None:
    """The old one is forgotten when nothing is left of what it sealed."""
    open_database(url, keys=KEYS).close()
    open_database(url, keys={"k2": b"2" * 16, **KEYS}).close()
    open_database(url, keys={"k2": b"2" * 16}).close()
    with pytest.raises(CodecError, match="`k2`"):
        open_database(url, keys={"k2": b"x" * 16})


def test_a_database_in_clear_stays_so(url: str) -> None:
    """Who opened it first has it open perhaps, and writes in clear."""
    open_database(url).close()
    with pytest.raises(CodecError, match="is not encrypted"):
        open_database(url, keys=KEYS)
    open_database(url).close()


def test_a_refused_opening_changes_nothing(tmp_path: Path) -> None:
    """Neither the layout nor the keys."""
    with sqlite3.connect(tmp_path / "old.db") as raw:
        raw.executescript((Path(__file__).parent / "layout_1.sql").read_text())
        raw.execute("INSERT INTO stateward_audit VALUES (1, 's', '{}', 'genesis', 'h')")
    raw.close()
    with pytest.raises(CodecError, match="not encrypted"):
        open_database(f"sqlite:///{tmp_path / 'old.db'}", keys=KEYS)
    assert run(f"sqlite:///{tmp_path / 'old.db'}", "SELECT version FROM stateward_schema") == [(1,)]


@pytest.mark.parametrize("what", THINGS)
@pytest.mark.parametrize("keys", WRONG[:3])
def test_an_older_database_is_judged_by_what_it_holds(url: str, what: str, keys: Keys | None) -> None:
    """It has no word of its keys yet: a row that is there must open."""
    with open_database(url, keys=KEYS) as database:
        put(database, what)
    as_before(url)
    with pytest.raises(CodecError):
        open_database(url, keys=keys)
    open_database(url, keys=KEYS).close()
    assert run(url, "SELECT id FROM stateward_keys") == [("k1",)]


@pytest.mark.parametrize("what", THINGS)
def test_an_older_database_in_clear_stays_so(url: str, what: str) -> None:
    """One row in clear is enough."""
    with open_database(url) as database:
        put(database, what)
    as_before(url)
    with pytest.raises(CodecError, match="not encrypted"):
        open_database(url, keys=KEYS)
    open_database(url).close()
    assert run(url, "SELECT id FROM stateward_keys") == [("",)]


def test_an_older_database_that_holds_nothing_takes_keys(url: str) -> None:
    """Nothing was written in clear."""
    open_database(url).close()
    as_before(url)
    open_database(url, keys=KEYS).close()
    assert run(url, "SELECT id FROM stateward_keys") == [("k1",)]
