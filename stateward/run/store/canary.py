"""Whether a database is encrypted, and under which keys: said in it once, and looked at before anything else is.

A process without the key, or with another one, would write beside what is sealed: in clear, or so that nobody can read
both. What a row says cannot be trusted for that: the first row may come after the first write. So the first opening
says it for all that come, in the table `stateward_keys`:

| `id` | `sealed` | says |
|---|---|---|
| empty | empty | nothing here is encrypted, and never will be |
| the id of a key | a word that opens under it | everything is encrypted, under this key or another one that is named |

A database of an earlier release says nothing; it is judged by the first row that is found in it. A key that is taken
into use gets its row when one that is there opens under the keys that are given: so whoever has one of them goes on,
also while a new one comes into use, and when the old one is gone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from langgraph.checkpoint.base import CheckpointTuple

from stateward.errors import CodecError
from stateward.run.store.cipher import CLEAR_FIX, KEY_VARIABLE, Cipher
from stateward.run.store.connection import Connection
from stateward.run.store.cursor import Cursor
from stateward.run.store.layout import Layout
from stateward.run.store.opaque import OpaqueSerializer
from stateward.run.store.sealed_store import open_value
from stateward.run.store.sealing import Sealing, refuse_sealed

KEYS_TABLE = """
CREATE TABLE stateward_keys (
    id TEXT NOT NULL PRIMARY KEY,
    sealed TEXT NOT NULL
)"""
_IN_CLEAR = ""
_PLACE = "canary"


def is_settled(connection: Connection) -> bool:
    """Check the keys against what the database says; the table is there.

    Args:
        connection: The database, with the cipher of the keys that are given.

    Returns:
        Whether it says all that there is to say of them; False when `settle` has to add to it.

    Raises:
        CodecError: The database is encrypted and the keys are not its keys, or it is not and there are keys.
    """
    with connection.read() as cur:
        return _fits(cur, connection)


def settle(cur: Cursor, connection: Connection, *, layout: Layout) -> None:
    """Check the keys, and let the database say which they are.

    Args:
        cur: A cursor in a transaction that nobody else is beside.
        connection: The database.
        layout: How its checkpoints are laid out.

    Raises:
        CodecError: The keys are not its keys; see `is_settled`.
    """
    if _fits(cur, connection):
        return
    cipher = connection.cipher
    if not _said(cur):
        _judge(cur, connection, layout=layout)
    row = (cipher.current, cipher.seal_text(_PLACE, _PLACE)) if isinstance(cipher, Cipher) else (_IN_CLEAR, "")
    cur.execute("INSERT INTO stateward_keys (id, sealed) VALUES (?, ?)", row)


def _said(cur: Cursor) -> Mapping[str, str]:
    cur.execute("SELECT id, sealed FROM stateward_keys")
    return {str(row[0]): str(row[1]) for row in cur.fetchall()}


def _fits(cur: Cursor, connection: Connection) -> bool:
    said, cipher = _said(cur), connection.cipher
    if not isinstance(cipher, Cipher):
        if said.keys() - {_IN_CLEAR}:
            raise _refusal(
                "The database is encrypted, and no key is given",
                connection,
                fix=f"Set `{KEY_VARIABLE}`, or open it with `keys=`.",
            )
        return _IN_CLEAR in said
    if _IN_CLEAR in said:
        raise _refusal("The database is not encrypted, though encryption is on", connection, fix=CLEAR_FIX)
    given = [_opened(name, sealed, cipher, connection) for name, sealed in said.items() if cipher.has(name)]
    if said and not given:
        names = ", ".join(f"`{name}`" for name in sorted(said))
        raise _refusal(f"The database is encrypted under {names}, which is not given", connection, fix=_KEYS_FIX)
    return cipher.current in said


_KEYS_FIX = "Give the key it was begun with, beside the new one if there is one."


def _opened(name: str, sealed: str, cipher: Cipher, connection: Connection) -> str:
    try:
        return cipher.open_text(sealed, _PLACE)
    except CodecError as error:
        raise _refusal(
            f"The database is encrypted under another key `{name}` than the one given", connection, fix=_KEYS_FIX
        ) from error


def _refusal(what: str, connection: Connection, *, fix: str) -> CodecError:
    return CodecError(what, where=f"`{connection.label}`", fix=fix)


def _judge(cur: Cursor, connection: Connection, *, layout: Layout) -> None:
    """Let the keys open a row that is there; the cipher refuses a wrong one, and what stands for none a sealed row."""
    tables = connection.tables()
    if _has_record(cur, connection) or _has_checkpoint(cur, connection, layout=layout):
        return
    if "store" in tables:
        _has_value(cur, connection)


def _has_record(cur: Cursor, connection: Connection) -> bool:
    row = cur.execute("SELECT session, record FROM stateward_audit ORDER BY seq LIMIT 1").fetchone()
    if row is None:
        return False
    connection.cipher.open_text(row[1], "audit", row[0])
    return True


def _has_checkpoint(cur: Cursor, connection: Connection, *, layout: Layout) -> bool:
    row = cur.execute("SELECT thread_id FROM checkpoints LIMIT 1").fetchone()
    if row is None:
        return False
    session = str(row[0])
    stored = next(layout.checkpoints(cur, session))
    place = {"thread_id": session, "checkpoint_ns": stored.namespace, "checkpoint_id": stored.id}
    found = CheckpointTuple(
        {"configurable": place},
        cast("Any", {**stored.content, "channel_values": {}}),  # LangGraph's, as it was stored
        cast("Any", stored.metadata),
    )
    cipher = connection.cipher
    if not isinstance(cipher, Cipher):
        refuse_sealed(found)
        return True
    owner = cur.execute("SELECT tenant FROM stateward_sessions WHERE id = ?", (session,)).fetchone()
    tenant = "" if owner is None else str(owner[0])
    Sealing(cipher, tenant=lambda _: tenant).opened(found, serde=OpaqueSerializer())
    return True


def _has_value(cur: Cursor, connection: Connection) -> None:
    row = cur.execute("SELECT prefix, key, value FROM store LIMIT 1").fetchone()
    if row is None:
        return
    value: Any = row[2] if isinstance(row[2], dict) else json.loads(row[2])
    open_value(value, connection.cipher, namespace=tuple(str(row[0]).split(".")), key=str(row[1]))
