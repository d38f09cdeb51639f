"""Definitions by their hash: what a hash that a run is pinned to stands for, stored once however many runs have it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stateward.run.store.connection import Connection, persistent
from stateward.run.store.cursor import Cursor

_SELECT = "SELECT text FROM stateward_definitions WHERE hash = ? AND kind = ?"
_INSERT = "INSERT INTO stateward_definitions (hash, kind, text) VALUES (?, ?, ?) ON CONFLICT (hash, kind) DO NOTHING"


class Definitions:
    """The definitions that one database knows.

    Args:
        connection: The database.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._known: set[tuple[str, str]] = set()
        """What is stored for certain, so that only the first run of a process writes."""

    @persistent
    def keep(self, hash: str, *, kind: str, text: Callable[[], str], session: str) -> None:
        """Store what a hash stands for, unless it is stored.

        Args:
            hash: The hash.
            kind: What is hashed, such as `policy`.
            text: Writes it down.
            session: The session whose run begins; its transactions come one after the other.
        """
        if (hash, kind) in self._known:
            return
        sealed = self._connection.cipher.seal_text(text(), "definitions", hash, kind)
        with self._connection.transaction(session) as cur:
            cur.execute(_INSERT, (hash, kind, sealed))
        self._known.add((hash, kind))

    def bring(self, cur: Cursor, hash: str, *, kind: str, sealed: str) -> None:
        """Store what another database knew a hash to stand for, unless it is stored.

        Args:
            cur: A cursor in a transaction.
            hash: The hash.
            kind: What is hashed.
            sealed: The text as it was stored there.

        Raises:
            CodecError: It is encrypted otherwise than this database.
        """
        self._connection.cipher.open_text(sealed, "definitions", hash, kind)
        cur.execute(_INSERT, (hash, kind, sealed))

    @persistent
    def find(self, hash: str, *, kind: str) -> str | None:
        """Read what a hash stands for.

        Args:
            hash: The hash.
            kind: What is hashed.

        Returns:
            What was written down; None when this database does not know it.
        """
        with self._connection.read() as cur:
            row = cur.execute(_SELECT, (hash, kind)).fetchone()
        return None if row is None else self._connection.cipher.open_text(row[0], "definitions", hash, kind)

    @persistent
    def all(self, *, kind: str, beginning: str = "") -> Mapping[str, str]:
        """Read several definitions.

        Args:
            kind: What is hashed.
            beginning: How their hashes begin, in lower-case hexadecimal; empty for all.

        Returns:
            Hash to what was written down.
        """
        with self._connection.read() as cur:
            cur.execute("SELECT hash, text FROM stateward_definitions WHERE kind = ? ORDER BY hash", (kind,))
            rows = [(str(row[0]), str(row[1])) for row in cur.fetchall() if str(row[0]).startswith(beginning.lower())]
        return {hash: self._connection.cipher.open_text(text, "definitions", hash, kind) for hash, text in rows}
