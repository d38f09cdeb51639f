"""The audit log: an append-only table whose rows are chained by their hashes.

The database refuses to change, delete or truncate it; nothing of it is ever pruned. `govern/audit.py` has the chain,
and what a key adds to it. Who has no key may read a log that is chained with one, and can neither add to it nor verify
it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from stateward.errors import CheckpointError
from stateward.govern.audit import GENESIS, Head, KeyRing, fits, key_id, link_text
from stateward.govern.fingerprint import as_number, canonical
from stateward.govern.kinds.redaction import BY_DEFAULT
from stateward.govern.redact import redact
from stateward.run.store.connection import Connection, persistent
from stateward.run.store.cursor import Cursor
from stateward.run.store.json_text import read_json

_COLUMNS = "seq, session, record, previous, hash"
_INSERT = "INSERT INTO stateward_audit (session, record, previous, hash) VALUES (?, ?, ?, ?)"
_BATCH = 500
"""Rows that are read at once: a log may be larger than the memory."""
_Stored = tuple[int, str, str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """One record of the log, with the hashes that chain it."""

    seq: int
    session: str
    record: Mapping[str, Any]
    previous: str
    hash: str
    text: str = ""
    """What is stored of the record: canonical JSON, or what it is encrypted to. The hash is over this."""


class AuditLog:
    """The audit log of one database.

    Args:
        connection: The database.
        keys: What it is chained with, by id; the first one makes new rows. None chains it without a key.
    """

    def __init__(self, connection: Connection, *, keys: KeyRing | None = None) -> None:
        self._connection = connection
        self._keys = keys or {}
        self._key = next(iter(self._keys.items()), None)
        self._fits = False

    @persistent
    def append(self, record: Mapping[str, Any]) -> str:
        """Add a record, inside the caller's transaction when there is one; `at`, an ISO 8601 time, is set
        when it has none, and secrets are taken out of it.

        Args:
            record: Plain JSON with string keys; its `session` files it under a session.

        Returns:
            The hash of the new row.

        Raises:
            CodecError: The record is no JSON.
            CheckpointError: The log is chained with a key that is not given.
        """
        with self._connection.transaction(str(record.get("session", ""))) as cur:
            return self.add(cur, record)

    def add(self, cur: Cursor, record: Mapping[str, Any]) -> str:
        """Add a record as `append` does; call it in the transaction of what it records.

        Args:
            cur: A cursor in the transaction.
            record: As for `append`.

        Returns:
            The hash of the new row.
        """
        self._connection.alone(cur, name="audit")
        at = datetime.fromtimestamp(self._connection.now(), UTC).isoformat()
        # The hash is over what is stored, so that the log can be verified without the key it is encrypted with.
        session = str(record.get("session", ""))
        clean = {"at": at, **redact(dict(record), classes=BY_DEFAULT)}
        if session:  # it files the record, and stands in a column of its own as it is
            clean["session"] = session
        text = self._connection.cipher.seal_text(canonical(clean).decode(), "audit", session)
        previous = self._last(cur)
        digest = link_text(previous, text=text, key=self._key)
        cur.execute(_INSERT, (session, text, previous, digest))
        return digest

    def _last(self, cur: Cursor) -> str:
        """Return the hash of the last row, which the next one is chained to."""
        last = cur.execute("SELECT hash FROM stateward_audit ORDER BY seq DESC LIMIT 1").fetchone()
        if last is None:
            return GENESIS
        previous = str(last[0])
        if key_id(previous) and not self._fits:
            self._refuse_misfit(
                cur.execute(f"SELECT {_COLUMNS} FROM stateward_audit ORDER BY seq DESC LIMIT 1").fetchone()
            )
        return previous

    def _refuse_misfit(self, last: _Stored) -> None:
        """A row without the key, or with another one, would break the chain for good."""
        seq, _, text, before, hash = last
        name = key_id(hash)
        if name not in self._keys or not fits(before, text=text, hash=hash, keys=self._keys):
            why = "and another key of that id is given" if name in self._keys else "which is not given"
            raise CheckpointError(
                f"The audit log is chained with the key `{name}`, {why}",
                where=f"`{self._connection.label}`, row {seq}",
                fix="Set `STATEWARD_AUDIT_KEY=ID:BASE64` to its keys, the newest first, or give `audit_keys=`.",
            )
        self._fits = self._key is not None  # from here on, every row that is added has a key

    def rows(self, session: str | None = None) -> tuple[AuditRow, ...]:
        """Read the log.

        Args:
            session: Only the records of this session; None for all.

        Returns:
            The rows in the order in which they were written.
        """
        return tuple(self.read(session))

    def read(
        self,
        session: str | None = None,
        *,
        events: Collection[str] = (),
        since: float | None = None,
        until: float | None = None,
    ) -> Iterator[AuditRow]:
        """Read the log row by row.

        Args:
            session: Only the records of this session; None for all.
            events: Only those of these kinds; none for all.
            since: Only those from then on, in seconds since the epoch.
            until: Only those before then.

        Yields:
            The rows in the order in which they were written.
        """
        for seq, owner, text, previous, hash in self._stored(session):
            stored: dict[str, Any] = read_json(self._connection.cipher.open_text(text, "audit", owner))
            record = {key: as_number(value) for key, value in stored.items()}
            if (not events or record.get("event") in events) and _is_between(record.get("at"), since, until):
                yield AuditRow(seq=seq, session=owner, record=record, previous=previous, hash=hash, text=text)

    def _stored(self, session: str | None = None) -> Iterator[_Stored]:
        last = 0
        while batch := self._batch(session, last):
            yield from batch
            last = batch[-1][0]

    @persistent
    def _batch(self, session: str | None, after: int) -> list[_Stored]:
        where, values = ("", ()) if session is None else ("AND session = ? ", (session,))
        with self._connection.read() as cur:
            cur.execute(
                f"SELECT {_COLUMNS} FROM stateward_audit WHERE seq > ? {where}ORDER BY seq LIMIT {_BATCH}",
                (after, *values),
            )
            return [(row[0], row[1], row[2], row[3], row[4]) for row in cur.fetchall()]

    @persistent
    def count(self, session: str | None = None) -> int:
        """Count the rows.

        Args:
            session: Only those of this session; None for all.
        """
        where, values = ("", ()) if session is None else (" WHERE session = ?", (session,))
        with self._connection.read() as cur:
            return int(cur.execute(f"SELECT COUNT(*) FROM stateward_audit{where}", values).fetchone()[0])

    @persistent
    def head(self) -> Head:
        """Return the end of the log, to be kept where who can write this database cannot write."""
        with self._connection.read() as cur:
            row = cur.execute("SELECT seq, hash FROM stateward_audit ORDER BY seq DESC LIMIT 1").fetchone()
        return Head(seq=0) if row is None else Head(seq=int(row[0]), hash=str(row[1]))

    def verify(self, *, head: Head | None = None) -> int:
        """Check that no row was changed, removed, moved or put in between.

        Args:
            head: An end of the log that was kept elsewhere: the log must still hold it. Without it, rows that were
                cut off at the end are not missed.

        Returns:
            The number of rows checked.

        Raises:
            CheckpointError: A row does not fit the one before it, the log does not hold `head`, or no row has a key
                although one is given.
            GovernanceError: A row has a key that is not given.
        """
        previous, checked, held = GENESIS, 0, head is None or head == Head(seq=0)
        for seq, _, text, before, hash in self._stored():
            if before != previous or not fits(previous, text=text, hash=hash, keys=self._keys):
                raise self._broken(
                    f"Row {seq} of the audit log does not fit the row before it",
                    fix="Compare the log with a backup: a row was changed, removed, moved or put in between.",
                )
            held = held or head == Head(seq=seq, hash=hash)
            previous, checked = hash, checked + 1
        if head is not None and not held:
            raise self._broken(
                f"The audit log does not hold row {head.seq} as it was: it was cut, or written anew",
                fix="Compare the log with a backup, and ask who could write the database.",
            )
        if self._keys and checked and not key_id(previous):
            raise self._broken(
                "No row of the audit log is chained with a key, though one is given",
                fix="If the key is new, nothing was recorded under it yet: verify without it, or after the next call. "
                "If it is not, the log was written anew.",
            )
        return checked

    def _broken(self, what: str, *, fix: str) -> CheckpointError:
        return CheckpointError(what, where=f"`{self._connection.label}`", fix=fix)


def _is_between(at: object, since: float | None, until: float | None) -> bool:
    if since is None and until is None:
        return True
    try:
        time = datetime.fromisoformat(str(at)).timestamp()
    except ValueError:
        return False  # a record may bring a time of its own, in whatever words
    return (since is None or time >= since) and (until is None or time < until)
