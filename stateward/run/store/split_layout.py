"""The tables of LangGraph's PostgreSQL saver.

`checkpoints` holds each checkpoint with its plain values, `checkpoint_blobs` each other value once for each version of
its channel, `checkpoint_writes` what belongs to a checkpoint.

Source: `langgraph.checkpoint.postgres` 3.2, its `MIGRATIONS`, `put` and `put_writes`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Set

from langgraph.checkpoint.serde.types import _DeltaSnapshot  # pyright: ignore[reportPrivateUsage]

from stateward.run.checkpoint import Json
from stateward.run.store.cursor import Cursor
from stateward.run.store.inline import in_json, told
from stateward.run.store.layout import Layout, Named
from stateward.run.store.stored import StoredCheckpoint

_PLAIN = str | int | float | bool | None


class SplitLayout(Layout):
    """The tables of the PostgreSQL saver."""

    _WRITES = "checkpoint_writes"
    _VALUE = "blob"

    def checkpoints(self, cur: Cursor, session: str) -> Iterator[StoredCheckpoint]:
        """Read the checkpoints of a session with their values, as `Layout.checkpoints` does."""
        values = self._values(cur, session)
        cur.execute(
            "SELECT checkpoint_ns, checkpoint_id, parent_checkpoint_id, CAST(metadata AS TEXT),"
            " CAST(checkpoint AS TEXT) FROM checkpoints WHERE thread_id = ? ORDER BY checkpoint_ns, checkpoint_id",
            (session,),
        )
        for namespace, name, parent, metadata, text in cur.fetchall():
            content = json.loads(text)
            inline: Json = content.get("channel_values") or {}
            versions: Json = content.get("channel_versions") or {}
            blobs = {
                channel: self._serde.loads_typed(found)
                for channel, version in versions.items()
                if (found := values.get((namespace, channel, str(version)))) is not None
            }
            # A full copy has the version of its channel, and so is found for the checkpoints after it as well.
            own = {k: v for k, v in blobs.items() if k in inline or not isinstance(v, _DeltaSnapshot)}
            yield StoredCheckpoint(
                namespace=namespace,
                id=name,
                parent=parent,
                content={**content, "channel_values": {**inline, **own}},
                metadata=json.loads(metadata or "{}"),
                size=len(text) + len(metadata or ""),
            )

    def put(self, cur: Cursor, session: str, stored: StoredCheckpoint) -> None:
        """Store a checkpoint, and the values that are not there yet, as `Layout.put` does."""
        values: Json = stored.content.get("channel_values") or {}
        versions: Json = stored.content.get("channel_versions") or {}
        apart = {k: v for k, v in values.items() if not (isinstance(v, _PLAIN) and in_json(v))}
        inline = {k: v for k, v in values.items() if k not in apart}
        inline |= {k: True for k, v in apart.items() if isinstance(v, _DeltaSnapshot)}  # LangGraph's mark for it
        cur.executemany(
            "INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)"
            " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (thread_id, checkpoint_ns, channel, version) DO NOTHING",
            [
                (session, stored.namespace, channel, str(versions[channel]), *self._serde.dumps_typed(value))
                for channel, value in apart.items()
                if channel in versions
            ],
        )
        cur.execute(
            "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint,"
            " metadata) VALUES (?, ?, ?, ?, CAST(? AS JSONB), CAST(? AS JSONB))",
            (
                session,
                stored.namespace,
                stored.id,
                stored.parent,
                json.dumps({**stored.content, "channel_values": inline}),
                json.dumps(told(stored.metadata)),
            ),
        )

    def sweep(self, cur: Cursor, session: str, *, named: Set[Named], dry_run: bool) -> int:
        """Delete the values that no checkpoint names any more, as `Layout.sweep` does."""
        cur.execute(
            "SELECT checkpoint_ns, channel, version, COALESCE(LENGTH(blob), 0) FROM checkpoint_blobs"
            " WHERE thread_id = ?",
            (session,),
        )
        gone = [row for row in cur.fetchall() if (row[0], row[1], row[2]) not in named]
        cur.executemany(
            "DELETE FROM checkpoint_blobs WHERE thread_id = ? AND checkpoint_ns = ? AND channel = ? AND version = ?",
            [] if dry_run else [(session, *row[:3]) for row in gone],
        )
        return sum(row[3] for row in gone)

    def _update_metadata(self, cur: Cursor, text: bytes, key: tuple[str, str, str]) -> None:
        cur.execute(
            "UPDATE checkpoints SET metadata = CAST(? AS JSONB)"
            " WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
            (text.decode(), *key),
        )

    def _values(self, cur: Cursor, session: str) -> dict[Named, tuple[str, bytes]]:
        cur.execute(
            "SELECT checkpoint_ns, channel, version, type, blob FROM checkpoint_blobs"
            " WHERE thread_id = ? AND type <> 'empty'",
            (session,),
        )
        return {(row[0], row[1], row[2]): (row[3], bytes(row[4])) for row in cur.fetchall()}
