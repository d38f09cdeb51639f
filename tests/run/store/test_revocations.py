"""Revocations: added once, never undone, and part of a session wherever it goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from stateward.errors import CheckpointError, GovernanceError, UnknownSession
from stateward.run.store.database import Database, open_database
from stateward.run.store.transfer import archive_session, restore_session
from tests.run.store.desk import Fresh


def begun(database: Database, *sessions: str) -> Database:
    for session in sessions:
        database.leases.release(database.leases.acquire(session, graph="desk"))
    return database


def test_one_session_and_all_sessions_are_told_apart(fresh: Fresh) -> None:
    """What is taken from all is taken from those that come later, too."""
    database = begun(fresh(), "a", "b")
    database.revocations.add("pay", kind="tool", by="ann", reason="fraud", session="a")
    database.revocations.add("WORKING", kind="state", by="bob")
    assert [(one.name, one.session, one.reason) for one in database.revocations.of("a")] == [
        ("WORKING", "", ""), ("pay", "a", "fraud"),
    ]  # fmt: skip
    assert [one.name for one in database.revocations.of("later")] == ["WORKING"]
    assert len(database.revocations.list()) == 2


def test_the_first_of_several_stands_and_is_in_the_audit_log_once(fresh: Fresh) -> None:
    """Who revokes the same again changes nothing."""
    database = begun(fresh(), "a")
    for who in ("ann", "bob"):
        assert database.revocations.add("pay", kind="tool", by=who, session="a").by == "ann"
    told = [row.record for row in database.audit.rows("a") if row.record["event"] == "revoked"]
    assert [(one["kind"], one["name"], one["by"]) for one in told] == [("tool", "pay", "ann")]


@pytest.mark.parametrize(
    "statement", ["DELETE FROM stateward_revocations", "UPDATE stateward_revocations SET name = 'x'"]
)
def test_the_database_itself_undoes_none(statement: str, fresh: Fresh) -> None:
    """Not even for who writes SQL by hand."""
    database = begun(fresh(), "a")
    database.revocations.add("pay", kind="tool", by="ann")
    with pytest.raises(CheckpointError, match="never undone"), database.transaction() as cur:
        cur.execute(statement)


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ({"by": " "}, "named person"),
        ({"name": ""}, "Nothing is named"),
        ({"kind": "tools"}, "`tools` cannot be revoked"),
    ],
)
def test_what_is_not_said_is_refused(said: dict[str, str], error: str, fresh: Fresh) -> None:
    """Who, what and which kind."""
    given = {"name": "pay", "kind": "tool", "by": "ann"} | said
    with pytest.raises(GovernanceError, match=error):
        fresh().revocations.add(given.pop("name"), **given)  # pyright: ignore[reportArgumentType]  # wrong on purpose


def test_an_unknown_session_is_refused(fresh: Fresh) -> None:
    """A slip in the id would leave the session that is meant as it is."""
    with pytest.raises(UnknownSession):
        fresh().revocations.add("pay", kind="tool", by="ann", session="nope")


def test_a_restored_session_keeps_what_was_taken_from_it_and_from_all(tmp_path: Path, fresh: Fresh) -> None:
    """In a database that knows of neither, and under another id."""
    here, there = begun(fresh(), "a"), fresh()
    here.revocations.add("pay", kind="tool", by="ann", reason="fraud", session="a")
    here.revocations.add("mail", kind="tool", by="bob", reason="spam")
    archive_session(here, "a", path=tmp_path / "a.zip")
    restore_session(there, tmp_path / "a.zip", session="z")
    assert [(one.name, one.by, one.reason) for one in there.revocations.of("z")] == [
        ("mail", "bob", "spam"), ("pay", "ann", "fraud"),
    ]  # fmt: skip
    assert there.revocations.of("other") == ()


def test_reasons_are_encrypted_where_the_database_is(tmp_path: Path) -> None:
    """They are the operator's words."""
    path = tmp_path / "sealed.db"
    with open_database(f"sqlite:///{path}", keys={"k": b"1" * 32}) as database:
        begun(database, "a").revocations.add("pay", kind="tool", by="ann", reason="in confidence")
        assert database.revocations.of("a")[0].reason == "in confidence"
    assert not any(b"in confidence" in file.read_bytes() for file in tmp_path.iterdir())


@pytest.mark.parametrize(
    ("revoked", "after"),
    [("WORK", ["JOB", "WORK"]), ("WORK.ACT", ["JOB.DO", "WORK.ACT"]), ("REST", ["REST"]), ("WORK.OLD", ["WORK.OLD"])],
)
def test_a_revoked_state_stays_revoked_under_its_new_name(revoked: str, after: list[str], fresh: Fresh) -> None:
    """A migration is no way out."""
    database, new = begun(fresh(), "a"), {"WORK": "JOB", "WORK.ACT": "JOB.DO", "WORK.OLD": None}
    database.revocations.add(revoked, kind="state", by="ann")
    with database.transaction("a") as cur:
        database.revocations.follow(cur, "a", renamed=lambda path: new.get(path, path), named=["WORK"])
    assert sorted(one.name for one in database.revocations.of("a")) == after
