"""A session moves between databases of every kind, and goes on as if nothing had happened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import stateward as sw
from stateward.errors import CheckpointError, CodecError, SessionBusy, UnknownSession
from stateward.migration import keep
from stateward.run.store.archive import read_archive, write_archive
from stateward.run.store.database import Database, open_database
from stateward.run.store.schema import VERSION
from stateward.run.store.transfer import TABLES, archive_session, restore_session
from tests.charts.migrated import desk
from tests.charts.refunds import asking, two_refunds_sync
from tests.charts.tools import Shop
from tests.postgres import Server

KEYS = {"k1": b"1" * 32}
Open = Callable[..., Database]


@pytest.fixture
def opening(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Open a fresh database of a kind."""

    def make(kind: str, *, keys: Any = None) -> Database:
        server: Server | None = request.getfixturevalue("postgres") if kind == "postgresql" else None
        url = server.url() if server else "memory:" if kind == "memory" else f"sqlite:///{tmp_path / kind}.db"
        database = open_database(url, keys=keys)
        request.addfinalizer(database.close)
        return database

    return make


def waiting(shop: Shop, database: Database) -> sw.Session:
    """A session that looked something up and asks about two refunds."""
    session = sw.Session("s1", asking(shop, two_refunds_sync).attach(database), database)
    session.start({"text": "go"})
    return session


def went_on(shop: Shop, database: Database) -> list[Any]:
    session = sw.Session("s1", asking(shop, two_refunds_sync).attach(database), database)
    for ask in session.outcome().asks:
        session.claim(ask, "approve", by="ann")
    return session.resume().values["log"]


@pytest.mark.parametrize(("first", "second"), [("sqlite", "memory"), ("memory", "sqlite"), ("sqlite", "postgresql")])
def test_a_moved_session_goes_on(opening: Open, tmp_path: Path, first: str, second: str) -> None:
    """And back; calls that were made before are not made again."""
    shop, there, here = Shop(), opening(first), opening(second)
    waiting(shop, there)
    manifest = archive_session(there, "s1", path=tmp_path / "a.zip")
    assert restore_session(here, tmp_path / "a.zip") == manifest
    assert went_on(shop, here) == ["ok"] * 3
    assert sorted(name for name, _ in shop.effects) == ["lookup", "refund", "refund"]
    archive_session(here, "s1", path=tmp_path / "b.zip")
    restore_session(last := opening("sqlite-back"), tmp_path / "b.zip")
    assert (last.sessions.get("s1").status, len(last.journal.entries("s1"))) == ("completed", 3)


def test_everything_of_the_session_arrives(opening: Open, tmp_path: Path) -> None:
    """A second file from there has the same checkpoints, writes and rows."""
    there, here = opening("sqlite"), opening("memory")
    waiting(Shop(), there)
    archive_session(there, "s1", path=tmp_path / "a.zip")
    restore_session(here, tmp_path / "a.zip")
    archive_session(here, "s1", path=tmp_path / "b.zip")
    before, after = (read_archive(tmp_path / name, layout=VERSION)[1] for name in ("a.zip", "b.zip"))
    assert sorted(map(str, after[:-1])) == sorted(map(str, before))


def test_the_audit_log_stays_one_chain(opening: Open, tmp_path: Path) -> None:
    """The records join it, and one says where they came from."""
    there, here = opening("sqlite"), opening("memory")
    waiting(Shop(), there)
    manifest = archive_session(there, "s1", path=tmp_path / "a.zip")
    here.audit.append({"event": "before"})
    restore_session(here, tmp_path / "a.zip")
    records = [row.record for row in here.audit.rows("s1")]
    assert here.audit.verify() == len(records) + 1
    assert records[:-1] == [row.record for row in there.audit.rows("s1")]
    assert (records[-1]["event"], records[-1]["digest"]) == ("restored", manifest.digest)


def test_nothing_is_overwritten(opening: Open, tmp_path: Path) -> None:
    """A session of that id is left as it is."""
    there = opening("sqlite")
    waiting(Shop(), there)
    archive_session(there, "s1", path=tmp_path / "a.zip")
    with pytest.raises(CheckpointError, match="There is a session `s1` already"):
        restore_session(there, tmp_path / "a.zip")


@pytest.mark.parametrize(
    "line",
    [
        {"line": "odd"},
        {"line": "row", "table": "stateward_journal", "values": {"session": "other"}},
        {"line": "row", "table": "stateward_ledger", "values": {"session": "s1", "x; DROP": 1}},
        {"line": "row", "table": "stateward_asks", "values": {"session": "s1"}},
        {"line": "checkpoint", "namespace": ""},
        {"line": "audit", "record": "{"},
    ],
)
def test_a_wrong_line_leaves_nothing_behind(opening: Open, tmp_path: Path, line: dict[str, Any]) -> None:
    """Whatever stood before it."""
    there, here = opening("sqlite"), opening("memory")
    waiting(Shop(), there)
    archive_session(there, "s1", path=tmp_path / "a.zip")
    lines = read_archive(tmp_path / "a.zip", layout=VERSION)[1]
    write_archive(tmp_path / "b.zip", [*lines, line], session="s1", layout=VERSION)
    with pytest.raises((CheckpointError, CodecError)):
        restore_session(here, tmp_path / "b.zip")
    assert (here.sessions.list(), here.audit.rows(), list(here.saver.list(None))) == ((), (), [])


def test_a_running_session_stays(opening: Open, tmp_path: Path) -> None:
    """So does one that is not there."""
    database = opening("memory")
    database.leases.acquire("s1")
    with pytest.raises(SessionBusy):
        archive_session(database, "s1", path=tmp_path / "a.zip")
    with pytest.raises(UnknownSession):
        archive_session(database, "s2", path=tmp_path / "a.zip")


def test_what_is_encrypted_stays_so(opening: Open, tmp_path: Path) -> None:
    """Nothing can be read in the file, and it comes in under the same key only."""
    shop, there = Shop(), opening("sqlite", keys=KEYS)
    waiting(shop, there)
    archive_session(there, "s1", path=tmp_path / "a.zip")
    assert "lookup" not in str(
        [line for line in read_archive(tmp_path / "a.zip", layout=VERSION)[1] if line["line"] != "row"]
    )
    for keys in (None, {"k1": b"2" * 32}):
        with pytest.raises(CodecError):
            restore_session(opening("memory", keys=keys), tmp_path / "a.zip")
    restore_session(here := opening("memory", keys=KEYS), tmp_path / "a.zip")
    assert went_on(shop, here) == ["ok"] * 3


def test_the_policies_a_run_began_under_travel(opening: Open, tmp_path: Path) -> None:
    """So that it may keep them there, although another one is deployed."""
    shop, there = Shop(), opening("sqlite", keys=KEYS)
    session = sw.Session("s1", desk(shop).attach(there), there)
    (ask,) = session.start({"log": []}).asks
    archive_session(there, "s1", path=tmp_path / "a.zip")
    restore_session(here := opening("memory", keys=KEYS), tmp_path / "a.zip")
    deployed = sw.Session("s1", desk(shop, rules="forbids_refunds").attach(here), here)
    assert keep(deployed).answer(ask, "approve", by="ann").values["log"][0] == "ok"


def test_a_file_without_policies_is_restored(opening: Open, tmp_path: Path) -> None:
    """An earlier release wrote none."""
    there, here = opening("sqlite"), opening("memory")
    waiting(shop := Shop(), there)
    archive_session(there, "s1", path=tmp_path / "a.zip")
    lines = [one for one in read_archive(tmp_path / "a.zip", layout=VERSION)[1] if one["line"] != "definition"]
    write_archive(tmp_path / "b.zip", lines, session="s1", layout=VERSION)
    restore_session(here, tmp_path / "b.zip")
    assert went_on(shop, here) == ["ok"] * 3


NOT_OF_A_SESSION = {
    *("stateward_schema", "stateward_keys", "stateward_audit", "stateward_turns", "stateward_definitions")
}
"""Of the whole database, told apart, over when a session travels, or named by what a run is pinned to."""


def test_every_table_and_column_travels(opening: Open) -> None:
    """One that is added and not named here would be left behind."""
    with opening("memory").read() as cur:
        cur.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'stateward%'")
        tables = {row[0] for row in cur.fetchall()} - NOT_OF_A_SESSION
        found = {t: {row[1] for row in cur.execute(f"PRAGMA table_info({t})").fetchall()} for t in tables}
    assert found == {table: set(columns.split()) for table, columns in TABLES.items()}
