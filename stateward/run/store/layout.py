"""The tables of LangGraph's SQLite saver, for who keeps house among checkpoints.

`checkpoints` holds each checkpoint with its values, `writes` what belongs to it. `split_layout.py` has those of the
PostgreSQL saver.

Source: `langgraph.checkpoint.sqlite` 3.1, its `setup`, `put` and `put_writes`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

from langgraph.checkpoint.base import writes_sort_key

from stateward.run.store.cursor import Cursor
from stateward.run.store.opaque import OpaqueSerializer
from stateward.run.store.stored import StoredCheckpoint, StoredWrite

_CHUNK = 400
"""Ids named in one statement: far below the parameters a database takes."""

Named = tuple[str, str, str]
"""A namespace, a channel, and a version of its value."""


class Layout:
    """The tables of the SQLite saver."""

    _WRITES = "writes"
    _VALUE = "value"

    def __init__(self) -> None:
        self._serde = OpaqueSerializer()

    def checkpoints(self, cur: Cursor, session: str) -> Iterator[StoredCheckpoint]:
        """Read the checkpoints of a session, the oldest of each namespace first.

        Args:
            cur: A cursor.
            session: The session's id.

        Yields:
            Checkpoints; the cursor is in use until the last one.
        """
        cur.execute(
            "SELECT checkpoint_ns, checkpoint_id, parent_checkpoint_id, CAST(metadata AS TEXT), type, checkpoint"
            " FROM checkpoints WHERE thread_id = ? ORDER BY checkpoint_ns, checkpoint_id",
            (session,),
        )
        for namespace, name, parent, metadata, kind, packed in cur:
            yield StoredCheckpoint(
                namespace=namespace,
                id=name,
                parent=parent,
                content=self._serde.loads_typed((kind, bytes(packed))),
                metadata=json.loads(metadata or "{}"),
                size=len(packed) + len(metadata or ""),
            )

    def writes(self, cur: Cursor, session: str) -> Iterator[StoredWrite]:
        """Read the writes of a session.

        Args:
            cur: A cursor.
            session: The session's id.

        Yields:
            Writes in no certain order; the cursor is in use until the last one.
        """
        cur.execute(
            f"SELECT checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, {self._VALUE}"
            f" FROM {self._WRITES} WHERE thread_id = ?",
            (session,),
        )
        for row in cur:
            yield _write(row)

    def weights(self, cur: Cursor, session: str) -> dict[tuple[str, str], int]:
        """Weigh the writes of a session.

        Args:
            cur: A cursor.
            session: The session's id.

        Returns:
            Bytes by namespace and checkpoint.
        """
        cur.execute(
            f"SELECT checkpoint_ns, checkpoint_id, SUM(LENGTH({self._VALUE})) FROM {self._WRITES}"
            " WHERE thread_id = ? GROUP BY checkpoint_ns, checkpoint_id",
            (session,),
        )
        return {(row[0], row[1]): int(row[2] or 0) for row in cur.fetchall()}

    def put(self, cur: Cursor, session: str, stored: StoredCheckpoint) -> None:
        """Store a checkpoint that is not there yet.

        Args:
            cur: A cursor in a transaction.
            session: The session's id.
            stored: The checkpoint.
        """
        kind, packed = self._serde.dumps_typed(stored.content)
        metadata = json.dumps(stored.metadata, ensure_ascii=False).encode("utf-8", "ignore")
        cur.execute(
            "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint,"
            " metadata) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (session, stored.namespace, stored.id, stored.parent, kind, packed, metadata),
        )

    def put_writes(self, cur: Cursor, session: str, writes: Iterable[StoredWrite]) -> None:
        """Store writes that are not there yet.

        Args:
            cur: A cursor in a transaction.
            session: The session's id.
            writes: The writes.
        """
        cur.executemany(
            f"INSERT INTO {self._WRITES} (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel,"
            f" type, {self._VALUE}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(session, w.namespace, w.checkpoint, w.task, w.path, w.no, w.channel, w.kind, w.data) for w in writes],
        )

    def writes_of(
        self, cur: Cursor, session: str, *, namespace: str, checkpoints: Sequence[str]
    ) -> tuple[StoredWrite, ...]:
        """Read the writes of some checkpoints.

        Args:
            cur: A cursor.
            session: The session's id.
            namespace: The checkpoints' namespace.
            checkpoints: Their ids.

        Returns:
            The writes, checkpoint by checkpoint, in LangGraph's order.
        """
        found: dict[str, list[StoredWrite]] = {}
        for some in _chunks(checkpoints):
            cur.execute(
                f"SELECT checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, {self._VALUE}"
                f" FROM {self._WRITES} WHERE thread_id = ? AND checkpoint_ns = ?"
                f" AND checkpoint_id IN ({_marks(some)})",
                (session, namespace, *some),
            )
            for write in map(_write, cur.fetchall()):
                found.setdefault(write.checkpoint, []).append(write)
        return tuple(write for name in checkpoints for write in sorted(found.get(name, ()), key=_order))

    def set_parent(self, cur: Cursor, session: str, *, namespace: str, checkpoint: str, parent: str | None) -> None:
        """Hang a checkpoint below another one.

        Args:
            cur: A cursor in a transaction.
            session: The session's id.
            namespace: The checkpoint's namespace.
            checkpoint: Its id.
            parent: The new parent; None for none.
        """
        cur.execute(
            "UPDATE checkpoints SET parent_checkpoint_id = ?"
            " WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
            (parent, session, namespace, checkpoint),
        )

    def set_metadata(self, cur: Cursor, session: str, stored: StoredCheckpoint, metadata: Mapping[str, Any]) -> None:
        """Replace the metadata of a checkpoint.

        Args:
            cur: A cursor in a transaction.
            session: The session's id.
            stored: The checkpoint.
            metadata: The new metadata, as a whole.
        """
        text = json.dumps(metadata, ensure_ascii=False).encode("utf-8", "ignore")
        self._update_metadata(cur, text, (session, stored.namespace, stored.id))

    def drop(self, cur: Cursor, session: str, *, namespace: str, checkpoints: Sequence[str]) -> None:
        """Delete checkpoints and their writes.

        Args:
            cur: A cursor in a transaction.
            session: The session's id.
            namespace: Their namespace.
            checkpoints: Their ids.
        """
        for some in _chunks(checkpoints):
            for table in ("checkpoints", self._WRITES):
                cur.execute(
                    f"DELETE FROM {table} WHERE thread_id = ? AND checkpoint_ns = ?"
                    f" AND checkpoint_id IN ({_marks(some)})",
                    (session, namespace, *some),
                )

    def sweep(self, cur: Cursor, session: str, *, named: Set[Named], dry_run: bool) -> int:
        """Delete the values that no checkpoint names any more.

        Args:
            cur: A cursor in a transaction.
            session: The session's id.
            named: What the checkpoints that are left name.
            dry_run: Whether to weigh them only.

        Returns:
            Bytes of those values; 0 where values are kept inside their checkpoints.
        """
        del cur, session, named, dry_run
        return 0

    def _update_metadata(self, cur: Cursor, text: bytes, key: tuple[str, str, str]) -> None:
        cur.execute(
            "UPDATE checkpoints SET metadata = ? WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
            (text, *key),
        )


def _write(row: Sequence[Any]) -> StoredWrite:
    return StoredWrite(
        namespace=row[0],
        checkpoint=row[1],
        task=str(row[2]),
        path=row[3],
        no=row[4],
        channel=row[5],
        kind=row[6],
        data=bytes(row[7]),
    )


def _order(write: StoredWrite) -> tuple[str, str, int]:
    return writes_sort_key(write.path, write.task, write.no)


def _chunks(names: Sequence[str]) -> Iterator[Sequence[str]]:
    return (names[start : start + _CHUNK] for start in range(0, len(names), _CHUNK))


def _marks(names: Sequence[str]) -> str:
    return ", ".join("?" * len(names))
