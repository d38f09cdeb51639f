"""Encryption of a whole database: nothing of the user's is found in it, and nothing foreign is read from it."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import psycopg
import pytest
from langchain_core.messages import HumanMessage
from psycopg.sql import SQL, Identifier
from typing_extensions import TypedDict

import stateward as sw
from stateward.errors import CodecError
from stateward.run.graph import ChartGraph
from stateward.run.store import sealing
from stateward.run.store.cipher import Cipher
from stateward.run.store.database import Database, open_database
from stateward.run.travel import Timeline
from tests.postgres import Server

KEYS = {"k1": b"1" * 32}
SECRETS = [f"planted-secret-{number:02d}" for number in range(20)]


class Case(TypedDict, total=False):
    question: str
    notes: list[str]
    found: str
    messages: sw.Messages


@sw.tool(effect="once")
def look_up(query: str, ctx: sw.ToolContext) -> str:
    """Look something up."""
    return f"result {SECRETS[3]}"


@sw.tool(effect="once")
def refuse(query: str) -> str:
    """Fail with a secret."""
    raise ValueError(SECRETS[4])


async def work(state: Case, run: sw.Run) -> Case:
    found = await run.tool("look_up", query=SECRETS[2])
    failed = await run.tool("refuse", query=SECRETS[5])
    return {"notes": [SECRETS[7], failed.text], "found": found.text, "messages": [HumanMessage(SECRETS[8])]}


async def ask(state: Case, run: sw.Run) -> Case:
    await run.tool("look_up", query=SECRETS[9])
    return {"notes": [*state.get("notes", []), SECRETS[10]]}


def chart() -> sw.Chart[Case]:
    return sw.Chart(
        "sealed",
        Case,
        sw.State("WORK", do=work, tools=["look_up", "refuse"], to="WAIT"),
        sw.State("WAIT", on=[sw.on("go", "AGAIN")]),
        sw.State("AGAIN", do=ask, tools=["look_up"], to="END"),
        sw.Final("END"),
    )


def url_of(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    if kind == "sqlite":
        return f"sqlite:///{tmp_path / 'sealed.db'}"
    server: Server = request.getfixturevalue("postgres")
    return server.url()


def run_through(database: Database) -> sw.Session:
    graph: ChartGraph = chart().compile(tools=[look_up, refuse]).attach(database)
    session = sw.Session("s", graph, database)
    given = {"question": SECRETS[0], "messages": [("user", SECRETS[1])]}
    config: Any = {"configurable": {"thread_id": "s", "mine": SECRETS[11]}, "metadata": {"note": SECRETS[12]}}
    graph.invoke(given, config)
    database.mailbox.post("s", "go", {"note": SECRETS[13]}, by="ann")
    database.mailbox.refuse("s", 1, at="WAIT", note=SECRETS[14])
    database.ledger.raise_limit("s", "r", "", "usd", 1, "ann", SECRETS[15])
    database.store.put(("notes", "s"), "k", {"text": SECRETS[16]})
    session.resume("go", data={"note": SECRETS[17]})
    return session


def dump(url: str, tmp_path: Path) -> bytes:
    """Everything in the database, as bytes."""
    if url.startswith("sqlite"):
        return b"".join(file.read_bytes() for file in tmp_path.glob("sealed.db*"))
    found = b""
    with psycopg.connect(url, autocommit=True) as raw:
        tables = raw.execute("SELECT tablename FROM pg_tables WHERE schemaname = ANY (current_schemas(false))")
        for (table,) in tables.fetchall():
            with raw.cursor() as cur, cur.copy(SQL("COPY {} TO STDOUT").format(Identifier(table))) as copy:
                found += b"".join(bytes(part) for part in copy)
    return found


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_no_planted_secret_is_found(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """State, messages, arguments, results, errors, metadata, mail, notes and the store are all sealed."""
    url = url_of(kind, tmp_path, request)
    with open_database(url, keys=KEYS) as database:
        run_through(database)
    raw = dump(url, tmp_path)
    assert [secret for secret in SECRETS if secret.encode() in raw] == []


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_an_encrypted_session_reads_as_it_was(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """In another process' database object, under the same keys and a new one."""
    url = url_of(kind, tmp_path, request)
    with open_database(url, keys=KEYS) as database:
        run_through(database)
    with open_database(url, keys={"k2": b"2" * 16, **KEYS}) as database:
        session = sw.Session("s", chart().compile(tools=[look_up, refuse]).attach(database), database)
        outcome = session.outcome()
        assert outcome.status == "completed"
        assert outcome.values["notes"][-1] == SECRETS[10]
        assert [str(message.content) for message in outcome.values["messages"]] == [SECRETS[1], SECRETS[8]]
        assert database.journal.entries("s")[0].arguments == {"query": SECRETS[2]}
        assert database.audit.verify() > 0
        item = database.store.get(("notes", "s"), "k")
        assert item is not None
        assert item.value == {"text": SECRETS[16]}


def test_a_row_in_clear_is_refused(tmp_path: Path) -> None:
    """Someone wrote past the cipher, in a database that is encrypted."""
    path = tmp_path / "sealed.db"
    with open_database(f"sqlite:///{path}") as database:
        run_through(database)
    with sqlite3.connect(path) as raw:
        raw.execute("DELETE FROM stateward_keys")
        raw.execute(
            "INSERT INTO stateward_keys (id, sealed) VALUES ('k1', ?)", (Cipher(KEYS).seal_text("canary", "canary"),)
        )
    raw.close()
    with open_database(f"sqlite:///{path}", keys=KEYS) as database:
        with pytest.raises(CodecError, match="is not encrypted"):
            database.journal.entries("s")
        with pytest.raises(CodecError, match="is not encrypted"):
            sw.Session("s", chart().compile(tools=[look_up, refuse]).attach(database), database).outcome()


def test_swapped_writes_are_refused(tmp_path: Path) -> None:
    """A value belongs to its channel: moved to another one it does not open."""
    path = tmp_path / "sealed.db"
    with open_database(f"sqlite:///{path}", keys=KEYS) as database:
        run_through(database)
    with sqlite3.connect(path) as raw:
        raw.execute("UPDATE writes SET channel = 'found' WHERE channel = 'notes'")
    raw.close()
    with open_database(f"sqlite:///{path}", keys=KEYS) as database, pytest.raises(CodecError, match="another place"):
        list(database.saver.list({"configurable": {"thread_id": "s"}}))


def raw_run(url: str, statement: str) -> None:
    """Run a statement past Stateward."""
    if url.startswith("sqlite"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as raw:
            raw.execute(statement)
        raw.close()
    else:
        with psycopg.connect(url, autocommit=True) as server:
            server.execute(statement.encode())


def exchanged(url: str, *columns: str) -> None:
    """Put columns of an older checkpoint into the newest one; it takes no key."""
    newest = "(SELECT MAX(checkpoint_id) FROM checkpoints WHERE checkpoint_ns = '')"
    older = f"(SELECT MAX(checkpoint_id) FROM checkpoints WHERE checkpoint_ns = '' AND checkpoint_id < {newest})"
    for column in columns:
        value = f"(SELECT {column} FROM checkpoints WHERE checkpoint_id = {older})"
        raw_run(url, f"UPDATE checkpoints SET {column} = {value} WHERE checkpoint_id = {newest}")


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.parametrize("columns", [["checkpoint", "metadata"], ["checkpoint"], ["metadata"]])
def test_a_checkpoint_does_not_stand_in_for_a_later_one(
    columns: list[str], kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Who cannot read the rows of a session cannot set it back either by exchanging them."""
    url = url_of(kind, tmp_path, request)
    with open_database(url, keys=KEYS) as database:
        run_through(database)
    exchanged(url, *columns)
    with open_database(url, keys=KEYS) as database:
        session = sw.Session("s", chart().compile(tools=[look_up, refuse]).attach(database), database)
        with pytest.raises(CodecError):
            session.outcome()


@pytest.mark.parametrize("name", ["channel_versions", "versions_seen"])
def test_what_stays_clear_of_a_checkpoint_cannot_be_changed(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The versions of its values say which they are, and what has run."""
    url = url_of("postgresql", tmp_path, request)
    with open_database(url, keys=KEYS) as database:
        run_through(database)
    older = "(SELECT checkpoint FROM checkpoints ORDER BY checkpoint_id DESC OFFSET 1 LIMIT 1)"
    raw_run(
        url,
        f"UPDATE checkpoints SET checkpoint = jsonb_set(checkpoint, '{{{name}}}', {older} -> '{name}')"
        " WHERE checkpoint_id = (SELECT MAX(checkpoint_id) FROM checkpoints)",
    )
    with open_database(url, keys=KEYS) as database, pytest.raises(CodecError, match="was changed"):
        database.saver.get_tuple({"configurable": {"thread_id": "s", "checkpoint_ns": ""}})


def test_checkpoints_of_an_earlier_release_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing vouches for their versions."""

    def unvouched(checkpoint: object) -> dict[str, str]:
        return {}

    monkeypatch.setattr(sealing, "_versions", unvouched)
    with open_database(f"sqlite:///{tmp_path / 'sealed.db'}", keys=KEYS) as database:
        run_through(database)
    monkeypatch.undo()
    with open_database(f"sqlite:///{tmp_path / 'sealed.db'}", keys=KEYS) as database:
        assert len(list(database.saver.list({"configurable": {"thread_id": "s"}}))) > 1


def test_a_fork_of_an_encrypted_session_knows_its_calls(tmp_path: Path) -> None:
    """What was called before the fork is taken over, and opens."""
    with open_database(f"sqlite:///{tmp_path / 'sealed.db'}", keys=KEYS) as database:
        session = run_through(database)
        line = Timeline(session.graph, database=database, session="s")
        line.fork(next(row.checkpoint for row in line.rows if row.status == "waiting"))
        assert line.resume(event="go").status == "completed"
        assert all(entry.arguments["query"].startswith("planted") for entry in database.journal.entries("s"))


def test_a_letter_that_was_passed_over_is_read_under_its_new_number(tmp_path: Path) -> None:
    """What it says is sealed for its place, and its place is another one."""
    with open_database(f"sqlite:///{tmp_path / 'sealed.db'}", keys=KEYS) as database:
        database.leases.release(database.leases.acquire("s"))
        for note in SECRETS[:2]:
            database.mailbox.post("s", "go", {"note": note})
        database.mailbox.put_behind("s", [1], upto=2)
        assert database.mailbox.get("s", 1).data == {"note": SECRETS[0]}
