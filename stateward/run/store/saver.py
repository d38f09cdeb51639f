"""LangGraph's SQLite saver, with a fence in every write and one transaction for checkpoint and session row.

Every `put` and `put_writes` checks, in its own transaction, that the writer still holds the session. A
checkpoint that carries the control channel brings the session row and the terminal record up to date in the
same transaction, so nobody can see one without the other. Async methods run the sync ones in one thread of
their own: writes land in the order in which they were asked for, whatever else fills the pool of the event
loop.

Source: LangGraph issues 8039 and 8115 (order of pending writes and their checkpoint).
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, ParamSpec, TypeVar, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)
from langgraph.checkpoint.sqlite import SqliteSaver

from stateward.run.checkpoint import CHANNEL, FENCE, Json
from stateward.run.store.connection import Connection
from stateward.run.store.lease import check_fence
from stateward.run.store.serializer import AllowList, StrictSerializer
from stateward.run.store.sessions import Sessions

P = ParamSpec("P")
T = TypeVar("T")


class FencedSaver(SqliteSaver):
    """A checkpoint saver that only the holder of a session can write through, sync and async.

    Args:
        connection: The database; its checkpoint tables exist.
        sessions: Where the control channel is projected to.
        allowed: Types that may be stored, beside LangGraph's safe types.
    """

    def __init__(self, connection: Connection, *, sessions: Sessions, allowed: AllowList = ()) -> None:
        super().__init__(connection.raw, serde=StrictSerializer(allowed=allowed))
        self._connection = connection
        self._sessions = sessions
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="stateward-checkpoints")

    def setup(self) -> None:
        """Do nothing: the tables are made when the database is opened."""

    def cursor(  # pyright: ignore[reportIncompatibleMethodOverride]  # a context manager, of another class
        self, transaction: bool = True
    ) -> AbstractContextManager[sqlite3.Cursor]:
        """Lend a cursor of the database.

        Args:
            transaction: Whether the block writes; it is rolled back when it raises.

        Returns:
            A context manager of the cursor.
        """
        return self._connection.transaction() if transaction else self._connection.read()

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """List checkpoints, the newest first; all are read before the first is handed out.

        Args:
            config: The session, or None for all.
            filter: Metadata a checkpoint must have.
            before: Only checkpoints older than this one.
            limit: At most so many.

        Returns:
            The checkpoints.
        """
        return iter(tuple(super().list(config, filter=filter, before=before, limit=limit)))

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, its session row and its terminal record, or nothing.

        Args:
            config: Names the session, the parent checkpoint and the writer's fence.
            checkpoint: The checkpoint.
            metadata: Stored beside it.
            new_versions: The channels that changed.

        Returns:
            The config that names the new checkpoint.

        Raises:
            StaleFence: The session was taken over.
            SessionBusy: The writer has no fence, and someone holds the session.
            CodecError: A channel holds a type that could not be loaded again.
        """
        given = _given(config)
        control: object = checkpoint["channel_values"].get(CHANNEL)
        control = None if given.get("checkpoint_ns") or not isinstance(control, dict) else cast("Json", control)
        session = str(given["thread_id"])
        with self._connection.transaction() as cur:
            if control and self._sessions.follow(cur, session=session, control=control, fence=given.get(FENCE)):
                return super().put(config, checkpoint, metadata, new_versions)
            self._check(cur, config)
            saved = super().put(config, checkpoint, metadata, new_versions)
            if control:
                self._sessions.project(cur, session=session, control=control, checkpoint=checkpoint["id"])
        return saved

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store the writes of a task that belong to a checkpoint, all or none.

        Args:
            config: Names the session, the checkpoint and the writer's fence.
            writes: Channel and value.
            task_id: The task.
            task_path: Its path.

        Raises:
            StaleFence: The session was taken over.
            SessionBusy: The writer has no fence, and someone holds the session.
            CodecError: A value has a type that could not be loaded again.
        """
        with self._connection.transaction() as cur:
            self._check(cur, config)
            super().put_writes(config, writes, task_id, task_path)

    def delete_thread(self, thread_id: str) -> None:
        """Delete the checkpoints of a session; its row, journal, ledger and audit log stay.

        Args:
            thread_id: The session's id.

        Raises:
            SessionBusy: Someone holds the session.
        """
        with self._connection.transaction() as cur:
            check_fence(cur, session=str(thread_id), fence=None, now=self._connection.clock.now())
            super().delete_thread(thread_id)

    def close(self) -> None:
        """Wait for the writes that were asked for and end the thread."""
        self._worker.shutdown()

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Read a checkpoint, as `get_tuple` does."""
        return await self._later(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """List checkpoints, as `list` does."""
        for found in await self._later(self.list, config, filter=filter, before=before, limit=limit):
            yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, as `put` does."""
        return await self._later(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store writes, as `put_writes` does."""
        await self._later(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete the checkpoints of a session, as `delete_thread` does."""
        await self._later(self.delete_thread, thread_id)

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Read what delta channels are made of, as `get_delta_channel_history` does."""
        return await self._later(self.get_delta_channel_history, config=config, channels=channels)

    def _check(self, cur: sqlite3.Cursor, config: RunnableConfig) -> None:
        given = _given(config)
        session, now = str(given["thread_id"]), self._connection.clock.now()
        check_fence(cur, session=session, fence=given.get(FENCE), now=now)

    async def _later(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        future = self._worker.submit(work, *args, **kwargs)
        # A cancelled run still writes what it had handed over: dropping it would tear a step.
        return await asyncio.shield(asyncio.wrap_future(future))


def _given(config: RunnableConfig) -> dict[str, Any]:
    return config.get("configurable", {})
