"""LangGraph's SQLite saver behind the fence."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import WRITES_IDX_MAP, ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.sqlite import SqliteSaver

from stateward.run.checkpoint import FENCE
from stateward.run.store.asks import Asks
from stateward.run.store.fence import Fenced, given, projected
from stateward.run.store.held import Writes
from stateward.run.store.serializer import AllowList, StrictSerializer
from stateward.run.store.sessions import Sessions
from stateward.run.store.sqlite import SqliteConnection
from stateward.run.store.sqlite_step import Listed


class FencedSaver(Fenced, SqliteSaver):
    """A checkpoint saver that only the holder of a session can write through, sync and async.

    Args:
        connection: The database; its checkpoint tables exist.
        sessions: Where the control channel is projected to.
        asks: Where questions are withdrawn whose session is deleted.
        allowed: Types that may be stored, beside LangGraph's safe types.
    """

    def __init__(
        self, connection: SqliteConnection, *, sessions: Sessions, asks: Asks, allowed: AllowList = ()
    ) -> None:
        SqliteSaver.__init__(self, connection.raw, serde=StrictSerializer(allowed=allowed))
        self._sqlite = connection
        self._listed = Listed(connection.raw, serde=self.serde)
        """What each statement begins with."""
        self.fence(connection, sessions=sessions, asks=asks, lanes=1)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint; one that leaves the session's row alone in one statement. See `Fenced.put`."""
        fence = given(config).get(FENCE)
        if fence is not None and projected(config, checkpoint) is None and not self._held.before(config):
            listed = self._listed.anew(self.serde)
            saved = listed.put(*self._sealed(config, checkpoint, metadata, sealing=self._sealing), new_versions)
            if self._stored(config, listed, fence=fence):
                return saved
        return super().put(config, checkpoint, metadata, new_versions)

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store the writes of a task; questions and errors in one statement. See `Fenced.put_writes`."""
        written = Writes(config=config, writes=writes, task=task_id, path=task_path)
        if self._held.hold(written):
            return
        fence = given(config).get(FENCE)
        # Rows that are written over tell that they were stored; others may have been there.
        tells = all(channel in WRITES_IDX_MAP for channel, _ in writes) and not self._held.brought(config)
        if fence is None or not tells or not self._stored(config, self._listing(written), fence=fence):
            super().put_writes(config, writes, task_id, task_path)

    def _put_writes(self, written: Writes) -> None:
        with self._sqlite.transaction() as cur:
            self._listing(written).store(cur)

    def _listing(self, written: Writes) -> Listed:
        listed, sealed = self._listed.anew(self.serde), self._sealed_writes(written, sealing=self._sealing)
        listed.put_writes(written.config, sealed, written.task, written.path)
        return listed

    def _stored(self, config: RunnableConfig, listed: Listed, *, fence: int) -> bool:
        """Store what is listed under the writer's fence, in one statement; False when nothing was stored."""
        guarded = listed.guarded(session=str(given(config)["thread_id"]), fence=fence)
        if guarded is None:
            return False
        with self._sqlite.read() as cur:  # no block of a transaction: SQLite commits the statement when it ends
            return cur.execute(*guarded).rowcount > 0

    def cursor(  # pyright: ignore[reportIncompatibleMethodOverride]  # a context manager, of another class
        self, transaction: bool = True
    ) -> AbstractContextManager[sqlite3.Cursor]:
        """Lend a cursor of the database.

        Args:
            transaction: Whether the block writes; it is rolled back when it raises.

        Returns:
            A context manager of the cursor.
        """
        self.conn = self._sqlite.raw  # LangGraph's listing asks it for a second cursor; a child's is another one
        return self._sqlite.transaction() if transaction else self._sqlite.read()
