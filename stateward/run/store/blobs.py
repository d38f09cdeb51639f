"""Large results by reference: a text above a limit is stored once for each session, under its digest.

The journal's row keeps the reference, so that what lists calls does not carry what they returned, and a call that
returns the same again costs nothing more.
"""

from __future__ import annotations

import hashlib
from typing import Any, cast

from stateward.errors import CheckpointError
from stateward.run.store.connection import Connection
from stateward.run.store.cursor import Cursor
from stateward.run.store.json_text import read_json, write_json

BLOB_BYTES = 64 * 1024
"""Results of more bytes than this are stored by reference, unless who opens the database says otherwise."""
_KEYS = ("$blob", "bytes")
_INSERT = (
    "INSERT INTO stateward_blobs (session, digest, data) VALUES (?, ?, ?) ON CONFLICT (session, digest) DO NOTHING"
)


class Blobs:
    """The large results of one database.

    Args:
        connection: The database.
        blob_bytes: Results of more bytes of JSON than this, at least 1, are stored by reference.
    """

    def __init__(self, connection: Connection, *, blob_bytes: int = BLOB_BYTES) -> None:
        self._connection = connection
        self.blob_bytes = blob_bytes

    def kept(self, cur: Cursor, session: str, result: Any, *, where: object, text: str | None = None) -> Any:
        """Put a result away when it is large.

        Args:
            cur: A cursor in the transaction of the row that holds it.
            session: The session's id.
            result: JSON.
            where: Whose result it is, for messages.
            text: The result as `write_json` has it, where that is at hand.

        Returns:
            What the row is to hold: the result itself, or a reference to it.

        Raises:
            CodecError: The result is no JSON.
        """
        if type(result) not in (str, list, dict):
            return result
        text = write_json(result, where=where) if text is None else text
        size = len(text) if text.isascii() else len(text.encode())
        if size <= self.blob_bytes and not _is_reference(result):  # what looks like one is no result to be confused
            return result
        return {"$blob": self.put(cur, session, text), "bytes": size}

    def put(self, cur: Cursor, session: str, text: str) -> str:
        """Store a text, unless the session has it already.

        Args:
            cur: A cursor in the transaction of what names it.
            session: The session's id.
            text: JSON.

        Returns:
            Its digest, as `digest_of` gives it.
        """
        digest = digest_of(text)
        data = self._connection.cipher.seal_text(text, "blob", session, digest)
        cur.execute(_INSERT, (session, digest, data))
        return digest

    def whole(self, cur: Cursor, session: str, kept: Any) -> Any:
        """Return a result from what its row holds.

        Args:
            cur: A cursor.
            session: The session's id.
            kept: From `kept`.

        Raises:
            CheckpointError: The result is gone.
        """
        if not _is_reference(kept):
            return kept
        return self.get(cur, session, str(kept["$blob"]))

    def get(self, cur: Cursor, session: str, digest: str) -> Any:
        """Return what a stored text says.

        Args:
            cur: A cursor.
            session: The session's id.
            digest: From `put`.

        Raises:
            CheckpointError: It is gone.
        """
        cur.execute("SELECT data FROM stateward_blobs WHERE session = ? AND digest = ?", (session, digest))
        row = cur.fetchone()
        if row is None:
            raise CheckpointError(
                f"The large result `{digest[:12]}…` of session `{session}` is gone",
                where=self._connection.label,
                fix="Restore `stateward_blobs` from a backup.",
            )
        return read_json(self._connection.cipher.open_text(row[0], "blob", session, digest))


def digest_of(text: str) -> str:
    """Return the digest under which a text is stored.

    Args:
        text: JSON.
    """
    return hashlib.sha256(text.encode()).hexdigest()


def checked_blob_bytes(given: object) -> int:
    """Check the size above which results are stored by reference.

    Args:
        given: Bytes.

    Returns:
        The bytes.

    Raises:
        CheckpointError: It is no whole number from 1.
    """
    if type(given) is not int or given < 1:
        raise CheckpointError(
            f"`blob_bytes` is {given!r}", where="`stateward.open`", fix="Give a whole number of bytes, at least 1."
        )
    return given


def _is_reference(result: object) -> bool:
    if not isinstance(result, dict):
        return False
    form = cast("dict[str, object]", result)
    return len(form) == len(_KEYS) and all(key in form for key in _KEYS)
