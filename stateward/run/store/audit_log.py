"""The audit log: an append-only table whose rows are chained by their hashes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from stateward.errors import CheckpointError
from stateward.govern.audit import GENESIS
from stateward.govern.fingerprint import canonical
from stateward.run.store.connection import Connection, persistent
from stateward.run.store.json_text import read_json

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
_FLAT = frozenset({str, int, bool, type(None)})


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """One record of the log, with the hashes that chain it."""

    seq: int
    session: str
    record: Mapping[str, Any]
    previous: str
    hash: str


class AuditLog:
    """The audit log of one database.

    Args:
        connection: The database.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @persistent
    def append(self, record: Mapping[str, Any]) -> str:
        """Add a record, inside the caller's transaction when there is one; `at`, an ISO 8601 time, is set
        when it has none.

        Args:
            record: Plain JSON with string keys; its `session` files it under a session.

        Returns:
            The hash of the new row.

        Raises:
            CodecError: The record is no JSON.
        """
        with self._connection.transaction(str(record.get("session", ""))) as cur:
            self._connection.alone(cur, name="audit")
            at = datetime.fromtimestamp(self._connection.now(), UTC).isoformat()
            # The hash is over what is stored, so that the log can be verified without the key.
            session = str(record.get("session", ""))
            text = self._connection.cipher.seal_text(_canonical_text({"at": at, **record}), "audit", session)
            last = cur.execute("SELECT hash FROM stateward_audit ORDER BY seq DESC LIMIT 1").fetchone()
            previous = GENESIS if last is None else str(last[0])
            digest = _link_text(previous, text=text)
            cur.execute(
                "INSERT INTO stateward_audit (session, record, previous, hash) VALUES (?, ?, ?, ?)",
                (session, text, previous, digest),
            )
        return digest

    @persistent
    def rows(self, session: str | None = None) -> tuple[AuditRow, ...]:
        """Read the log.

        Args:
            session: Only the records of this session; None for all.

        Returns:
            The rows in the order in which they were written.
        """
        where, values = ("", ()) if session is None else ("WHERE session = ? ", (session,))
        with self._connection.read() as cur:
            cur.execute(
                f"SELECT seq, session, record, previous, hash FROM stateward_audit {where}ORDER BY seq",
                values,
            )
            return tuple(
                AuditRow(seq=r[0], session=r[1], record=self._read(r[1], r[2]), previous=r[3], hash=r[4])
                for r in cur.fetchall()
            )

    def _read(self, session: str, text: str) -> Mapping[str, Any]:
        return read_json(self._connection.cipher.open_text(text, "audit", session))

    @persistent
    def verify(self) -> int:
        """Check that no row was changed, removed or put in between.

        Returns:
            The number of rows checked.

        Raises:
            CheckpointError: A row does not fit the one before it.
        """
        previous, checked = GENESIS, 0
        with self._connection.read() as cur:
            cur.execute("SELECT seq, record, previous, hash FROM stateward_audit ORDER BY seq")
            for seq, text, before, digest in cur:
                if before != previous or digest != _link_text(previous, text=text):
                    raise CheckpointError(
                        f"Row {seq} of the audit log does not fit the row before it",
                        where=f"`{self._connection.label}`",
                        fix="Compare the log with a backup: a row was changed, removed or put in between.",
                    )
                previous, checked = digest, checked + 1
        return checked


def _canonical_text(record: Mapping[str, Any]) -> str:
    # The canonical writer is slow and the door writes a record for every call: where nothing needs it, the C
    # encoder gives the same text. A test compares the two.
    if set(map(type, record)) == {str} and _FLAT.issuperset(map(type, record.values())):
        text = _ENCODER.encode(record)
        if text.isascii() and '"$' not in text and _are_small(record.values()):
            return text
    return canonical(record).decode()


def _are_small(values: Iterable[object]) -> bool:
    return all(abs(value) < 2**53 for value in values if isinstance(value, int))


def _link_text(previous: str, *, text: str) -> str:
    """Compute what `stateward.govern.audit.link` does, from the canonical text of the record."""
    return hashlib.sha256(f'{{"previous":"{previous}","record":{text}}}'.encode()).hexdigest()
