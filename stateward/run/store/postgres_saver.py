"""LangGraph's PostgreSQL saver behind the fence."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import psycopg
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg.rows import DictRow

from stateward.errors import CheckpointError, UnknownSession
from stateward.run.checkpoint import FENCE, TERMINAL
from stateward.run.store.asks import Asks
from stateward.run.store.cipher import Cipher
from stateward.run.store.connection import persistent
from stateward.run.store.fence import Fenced, given, projected
from stateward.run.store.held import Writes
from stateward.run.store.inline import inlined
from stateward.run.store.postgres import PostgresConnection
from stateward.run.store.postgres_step import Guard, Listed
from stateward.run.store.sealing import Sealing
from stateward.run.store.serializer import AllowList, StrictSerializer
from stateward.run.store.sessions import Sessions

_HELD = "SELECT 1 FROM stateward_sessions WHERE id = ? AND fence = ?"
REMEMBERED = 10_000
"""Sessions whose row is remembered; then all are forgotten, which costs each a few round trips."""
LANES = 8
"""Threads for async calls."""

T = TypeVar("T")


class PostgresFencedSaver(Fenced, PostgresSaver):
    """A checkpoint saver that only the holder of a session can write through, sync and async.

    Args:
        connection: The database; its checkpoint tables exist.
        sessions: Where the control channel is projected to.
        asks: Where questions are withdrawn whose session is deleted.
        allowed: Types that may be stored, beside LangGraph's safe types.
    """

    def __init__(
        self, connection: PostgresConnection, *, sessions: Sessions, asks: Asks, allowed: AllowList = ()
    ) -> None:
        # LangGraph's constructor only keeps the connection; `_cursor` is the one place that uses it.
        PostgresSaver.__init__(self, None, serde=StrictSerializer(allowed=allowed))  # pyright: ignore[reportArgumentType]
        self._postgres = connection
        self._listed = Listed(self.serde)
        """What each step begins with."""
        self._tenants: dict[str, str] = {}
        """Whose a session was when it was last looked at."""
        self.fence(connection, sessions=sessions, asks=asks, lanes=LANES)

    @persistent
    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint; a step in the middle of a run in one statement. See `Fenced.put`."""
        checkpoint = inlined(checkpoint, new_versions)
        session, guard = str(given(config)["thread_id"]), self._following(config, checkpoint, metadata)
        if guard is not None and not self._postgres.is_busy:
            guard, sealing = self._sealing_under(guard, session)
            listed, held = self._listed.anew(self.serde), self._held.before(config)
            for each in held:
                self._list(each, listed=listed, sealing=sealing)
            saved = listed.put(*self._sealed(config, checkpoint, metadata, sealing=sealing), new_versions)
            if self._brought_up(config, checkpoint, guard=guard, listed=listed):
                self._held.stored(held)
                return saved
        return super().put(config, checkpoint, metadata, new_versions)

    def _brought_up(self, config: RunnableConfig, checkpoint: Checkpoint, *, guard: Guard, listed: Listed) -> bool:
        """Store a checkpoint and bring the row up to it in one statement; the end of a run is recorded behind it.

        Records of the audit log come one after the other, so that an end needs a transaction.
        """
        session, control = str(given(config)["thread_id"]), projected(config, checkpoint)
        if control is None or control["status"] not in TERMINAL:
            return self._stored(session, guard=guard, listed=listed)
        with self._connection.transaction(session) as cur:
            stored = self._stored(session, guard=guard, listed=listed)
            if stored:
                self._sessions.end(cur, session=session, control=control, checkpoint=checkpoint["id"])
        return stored

    @persistent
    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store the writes of a task; under a lease in one statement. See `Fenced.put_writes`."""
        session, fence = str(given(config)["thread_id"]), given(config).get(FENCE)
        written = Writes(config=config, writes=writes, task=task_id, path=task_path)
        if self._held.hold(written):
            return
        if fence is not None and not self._postgres.is_busy:
            guard, sealing = self._sealing_under(_held(session, fence), session)
            listed, brought = self._listed.anew(self.serde), self._held.brought(config)
            for each in (*brought, written):
                self._list(each, listed=listed, sealing=sealing)
            if self._stored(session, guard=guard, listed=listed):
                self._held.stored(brought)
                return
        super().put_writes(config, writes, task_id, task_path)

    @persistent
    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Prune threads of graphs that are no charts, as LangGraph does; or delete threads, as `delete_thread` does.

        Args:
            thread_ids: The sessions' ids.
            strategy: LangGraph's `keep_latest` or `delete`.

        Raises:
            CheckpointError: One is a chart's session, of whose branches, pins and ends LangGraph knows nothing.
            SessionBusy: Someone holds one that is to be deleted.
        """
        if isinstance(thread_ids, str) or strategy not in ("keep_latest", "delete"):
            super().prune(thread_ids, strategy=strategy)  # it says what is wrong
        elif strategy == "delete":
            for session in thread_ids:
                self.delete_thread(session)
        else:
            for session in thread_ids:
                self._refuse_chart(str(session))
            super().prune(thread_ids, strategy=strategy)

    def _list(self, written: Writes, *, listed: Listed, sealing: Sealing | None) -> None:
        listed.put_writes(written.config, self._sealed_writes(written, sealing=sealing), written.task, written.path)

    def _refuse_chart(self, session: str) -> None:
        try:
            self._sessions.get(session)
        except UnknownSession:
            return
        raise CheckpointError(
            f"LangGraph's `prune` knows nothing of the branches, pins and ends of session `{session}`",
            where=self._connection.label,
            fix="Use `stateward prune`, or `prune` of `stateward.run.store.retention`; nothing was deleted.",
        )

    def _following(self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata) -> Guard | None:
        """Return what must be true for a checkpoint to be stored in one statement; None when that cannot be."""
        session, fence = str(given(config)["thread_id"]), given(config).get(FENCE)
        control = projected(config, checkpoint)
        if control is None:
            return None if fence is None else _held(session, fence)
        following = self._sessions.following(session=session, control=control, fence=fence)
        if following is None or (control["status"] in TERMINAL and metadata.get("source") == "input"):
            return None  # an input finds the end of the run before it, whose record is there
        statement, parameters = following
        return Guard(statement=statement.strip(), parameters=parameters, ending="RETURNING 1")

    def _sealing_under(self, guard: Guard, session: str) -> tuple[Guard, Sealing | None]:
        """Seal for the session's tenant as it was last seen, which the guard then has to find in its row."""
        cipher = self._connection.cipher
        if not isinstance(cipher, Cipher):
            return guard, None
        tenant = self._tenants.get(session)
        if tenant is None:
            tenant = _kept(self._tenants)[session] = self._sessions.tenant(session)
        return guard.and_also("tenant = ?", tenant), Sealing(cipher, tenant=lambda _: tenant)

    def _stored(self, session: str, *, guard: Guard, listed: Listed) -> bool:
        stored = listed.is_one_step and self._postgres.at_once(session, guard=guard, listed=listed)
        if not stored:
            self._tenants.pop(session, None)
        return stored

    def _cursor(  # pyright: ignore[reportIncompatibleMethodOverride]  # a context manager, typed less narrowly
        self, *, pipeline: bool = False
    ) -> AbstractContextManager[psycopg.Cursor[DictRow]]:
        return self._postgres.named_rows(pipeline=pipeline)


def _held(session: str, fence: int) -> Guard:
    return Guard(statement=_HELD, parameters=(session, fence), ending="FOR SHARE")


def _kept(remembered: dict[str, T]) -> dict[str, T]:
    """Return what is remembered of sessions, emptied when it is too much."""
    if len(remembered) >= REMEMBERED:
        remembered.clear()
    return remembered
