"""A session leaves a database in a file, and comes into another one, of whatever kind.

What comes in is the whole session: checkpoints of all branches and nested graphs, journal, ledger, limits, asks,
letters, ends of runs, its part of the audit log, and the policies that its runs are pinned to. What is encrypted stays
so, and comes in where the same key is given. So a run goes on as if nothing had happened, and an effect that was
completed there is not run again here. A session keeps its id, because the keys of its effects are made of it, unless it
is restored under another one: `renaming.py` says what that takes.

The lease does not travel. The audit log of a database is one chain: the records join it at its end, with hashes of
their own, and the record `restored` after them says where they came from.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence, Set
from copy import copy
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from stateward.errors import CheckpointError
from stateward.run.checkpoint import Json
from stateward.run.store.archive import Manifest, read_archive, write_archive
from stateward.run.store.cursor import Cursor
from stateward.run.store.database import Database
from stateward.run.store.json_text import read_json
from stateward.run.store.layout import Layout
from stateward.run.store.lease import check_fence
from stateward.run.store.opaque import OpaqueSerializer
from stateward.run.store.renaming import renamed
from stateward.run.store.schema import VERSION
from stateward.run.store.stored import StoredCheckpoint, StoredWrite
from stateward.run.text import checked_session

TABLES = {
    "stateward_sessions": (
        "id graph tenant status path run run_no branch mode chart_hash policy_hash schema_hash reason created_at"
        " updated_at holder fence lease_until wakes_at mail"
    ),
    "stateward_terminals": "session run status path branch reason checkpoint ended_at",
    "stateward_journal": (
        "session run branch path activation call kind name fingerprint arguments effect status result error charges"
        " overrun tokens_in tokens_out usd tries started_at ended_at"
    ),
    "stateward_ledger": "session run scope unit spent reserved",
    "stateward_limits": "session run scope unit value by reason at",
    "stateward_asks": (
        "id session run branch path activation call kind tool arguments fingerprint reason approvers status created_at"
        " expires_at decision note answered_by answered_at approvals barred answers"
    ),
    "stateward_mailbox": "session no event data posted_at by status at note",
    "stateward_orders": "session fence kind by reason at",
    "stateward_blobs": "session digest data",
    "stateward_revocations": "session kind name by reason at",
}
"""The tables with rows of a session, and their columns. The audit log is told apart; who waits for the lease stays."""

_LEASE: Json = {"holder": None, "lease_until": 0.0}
_PINS = ("chart_hash", "policy_hash", "schema_hash")
"""Where a checkpoint's metadata names what its run is pinned to: by first digits, or as earlier releases did whole."""
_DEFINED = "SELECT hash, kind, text FROM stateward_definitions WHERE substr(hash, 1, ?) = ? ORDER BY hash, kind"


def archive_session(database: Database, session: str, *, path: Path) -> Manifest:
    """Write a session into a file.

    Args:
        database: Where the session is; nothing in it is changed.
        session: The session's id.
        path: The file; it must not be there.

    Returns:
        What the file says about itself.

    Raises:
        UnknownSession: There is no such session.
        SessionBusy: Somebody runs it.
        CheckpointError: The file is there, or cannot be written.
    """
    database.sessions.get(session)
    with database.transaction(session) as cur:
        check_fence(cur, session=session, fence=None, now=database.clock.now())
        lines = [*_lines(cur, session, layout=database.layout), *_revocations(database, session)]
    return write_archive(path, lines, session=session, layout=VERSION)


def restore_session(database: Database, path: Path, *, session: str | None = None) -> Manifest:
    """Bring a session in from a file, whole or not at all.

    Args:
        database: Where it shall be.
        path: A file written by `archive_session`.
        session: The id that it gets; None for its own. Under another one it is a session of its own: what was
            completed stays so, open questions get new ids, and each of the two makes the calls that come.

    Returns:
        What the file says about itself, with the id that the session got.

    Raises:
        CheckpointError: The file is damaged, the database has a session of that id, or it is to get another id and a
            call of it was begun and never settled.
        CodecError: A newer release wrote the file, or it is encrypted otherwise than the database.
        InputRefused: The id is empty, no text, or cannot be kept.
    """
    origin, lines = read_archive(path, layout=VERSION)
    manifest = origin if session is None else replace(origin, session=checked_session(session))
    layout = database.layout
    with database.transaction(manifest.session) as cur:
        _refuse_known(cur, manifest.session, where=database.url)
        try:
            if manifest.session != origin.session:
                lines = renamed(lines, old=origin.session, new=manifest.session, cipher=database.cipher)
            _restore(database, cur, manifest, lines, layout=layout, origin=origin.session)
            _read_back(database, manifest.session)
        except (KeyError, TypeError, ValueError) as broken:
            raise CheckpointError(
                f"The file holds something that is no part of a session: {broken!r}",
                where=f"`{path}`",
                fix="Make it again with `stateward archive`.",
            ) from broken
    return manifest


def _lines(cur: Cursor, session: str, *, layout: Layout) -> Iterator[Json]:
    serde, pins = OpaqueSerializer(), set[str]()
    for stored in layout.checkpoints(cur, session):
        pins |= {str(value) for key, value in stored.metadata.items() if key in _PINS}
        yield {
            "line": "checkpoint",
            "namespace": stored.namespace,
            "id": stored.id,
            "parent": stored.parent,
            "metadata": stored.metadata,
            "data": b64encode(serde.dumps_typed(stored.content)[1]).decode(),
        }
    for write in layout.writes(cur, session):
        yield {"line": "write", **asdict(write), "data": b64encode(write.data).decode()}
    for table, columns in TABLES.items():
        names = columns.split()
        cur.execute(f"SELECT {', '.join(names)} FROM {table} WHERE {_key(names)} = ?", (session,))
        for row in cur.fetchall():
            values = dict(zip(names, row, strict=True))
            yield {"line": "row", "table": table, "values": values | (_LEASE if "holder" in values else {})}
    yield from _definitions(cur, pins)
    cur.execute("SELECT record FROM stateward_audit WHERE session = ? ORDER BY seq", (session,))
    for (record,) in cur.fetchall():
        yield {"line": "audit", "record": record}


def _definitions(cur: Cursor, pins: Set[str]) -> Iterator[Json]:
    """What the hashes stand for that the checkpoints are pinned to, as far as it is stored."""
    for pin in sorted(pins):
        cur.execute(_DEFINED, (len(pin), pin))
        for row in cur.fetchall():
            yield {"line": "definition", **dict(zip(("hash", "kind", "text"), row, strict=True))}


def _revocations(database: Database, session: str) -> Iterator[Json]:
    """What was taken back from all sessions stays so for this one, wherever it goes."""
    columns = TABLES["stateward_revocations"].split()
    for row in database.revocations.inherited(session):
        yield {"line": "row", "table": "stateward_revocations", "values": dict(zip(columns, row, strict=True))}


def _key(names: Sequence[str]) -> str:
    return "session" if "session" in names else "id"


def _refuse_known(cur: Cursor, session: str, *, where: str) -> None:
    for table, key in (("stateward_sessions", "id"), ("checkpoints", "thread_id")):
        if cur.execute(f"SELECT 1 FROM {table} WHERE {key} = ? LIMIT 1", (session,)).fetchone() is not None:
            raise CheckpointError(
                f"There is a session `{session}` already",
                where=f"`{where}`",
                fix="Restore it under another id (`--as NEWID`), or into another database: nothing is overwritten.",
            )


def _restore(
    database: Database, cur: Cursor, manifest: Manifest, lines: Sequence[Json], *, layout: Layout, origin: str
) -> None:
    serde, session = OpaqueSerializer(), manifest.session
    kinds: dict[str, list[Json]] = {"checkpoint": [], "write": [], "row": [], "audit": [], "definition": []}
    for line in lines:
        kinds[line["line"]].append(line)
    for line in kinds["checkpoint"]:
        content: Any = serde.loads_typed(("msgpack", b64decode(line["data"])))
        layout.put(
            cur,
            session,
            StoredCheckpoint(
                namespace=line["namespace"],
                id=line["id"],
                parent=line["parent"],
                content=content,
                metadata=line["metadata"],
                size=0,
            ),
        )
    layout.put_writes(cur, session, [_write(line) for line in kinds["write"]])
    for line in kinds["row"]:
        _insert(cur, line["table"], line["values"], session=session)
    for line in kinds["definition"]:
        database.definitions.bring(cur, line["hash"], kind=line["kind"], sealed=line["text"])
    cipher = database.cipher
    for line in kinds["audit"]:
        database.audit.append({**read_json(cipher.open_text(line["record"], "audit", session)), "session": session})
    told: Json = {"event": "restored", "session": session, "digest": manifest.digest, "records": len(kinds["audit"])}
    database.audit.append(told if origin == session else {**told, "was": origin})


def _read_back(database: Database, session: str) -> None:
    """Read what came in: it must be encrypted as this database is, under a key that it has."""
    saver = copy(database.saver)
    saver.serde = OpaqueSerializer()
    database.sessions.get(session)
    database.journal.entries(session)
    saver.get_tuple({"configurable": {"thread_id": session, "checkpoint_ns": ""}})


def _write(line: Json) -> StoredWrite:
    given: Json = {field.name: line[field.name] for field in fields(StoredWrite)}
    given["data"] = b64decode(line["data"])
    return StoredWrite(**given)


def _insert(cur: Cursor, table: str, values: Json, *, session: str) -> None:
    known = TABLES[table].split()
    if unknown := values.keys() - set(known):
        raise KeyError(*sorted(unknown))
    if values[_key(known)] != session:
        raise ValueError(f"a row of session {values[_key(known)]!r}")
    cur.execute(
        f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})", tuple(values.values())
    )
