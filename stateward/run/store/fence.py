"""What both savers add to LangGraph's: a fence in every write, and one transaction for checkpoint and session row.

Every `put` and `put_writes` checks, in its own transaction, that the writer still holds the session. A
checkpoint that carries the control channel brings the session row and the terminal record up to date in the
same transaction, so nobody can see one without the other. Async methods run the sync ones in threads of their own,
those of one session always in the same: writes land in the order in which they were asked for, whatever else fills the
pool of the event loop.

Source: LangGraph issues 8039 and 8115 (order of pending writes and their checkpoint).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from functools import cache
from itertools import filterfalse, islice
from typing import Any, ParamSpec, TypeVar, cast
from zlib import crc32

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)

from stateward.errors import StaleFence
from stateward.run.channel import control_in
from stateward.run.checkpoint import FENCE, Json
from stateward.run.store.asks import Asks
from stateward.run.store.cipher import Cipher
from stateward.run.store.connection import Connection, persistent
from stateward.run.store.cursor import Cursor
from stateward.run.store.damage import readable, whole
from stateward.run.store.held import Held, Writes
from stateward.run.store.inline import plainly
from stateward.run.store.lease import check_fence
from stateward.run.store.owner import TENANT
from stateward.run.store.per_process import PerProcess
from stateward.run.store.sealing import CLEAR, Sealing, refuse_sealed
from stateward.run.store.sessions import Sessions
from stateward.run.store.version import ShortVersions

P = ParamSpec("P")
T = TypeVar("T")


class Fenced(ShortVersions):
    """The fence before a saver of LangGraph's; the next class in line stores.

    Args:
        connection: The database; its checkpoint tables exist.
        sessions: Where the control channel is projected to.
        asks: Where questions are withdrawn whose session is deleted.
        lanes: Threads for async calls, from 1; a session has its own.
    """

    def fence(self, connection: Connection, *, sessions: Sessions, asks: Asks, lanes: int) -> None:
        """Take what LangGraph's constructor has no place for."""
        self._connection = connection
        self._sessions = sessions
        self._asks = asks
        cipher = connection.cipher
        self._sealing = Sealing(cipher, tenant=sessions.tenant) if isinstance(cipher, Cipher) else None
        self._lanes = PerProcess(lambda: _lanes(lanes))
        self._held = Held()

    def setup(self) -> None:
        """Do nothing: the tables are made when the database is opened."""

    @persistent
    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Read a checkpoint.

        Args:
            config: Names the session, and the checkpoint when it is not the latest.

        Returns:
            The checkpoint, or None.

        Raises:
            UnknownSession: The config names another tenant than the session's.
        """
        self._refuse_stranger(config)
        with readable(_thread(config)):
            return self._opened(super().get_tuple(config))

    @persistent
    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """List checkpoints, the newest first; all are read before the first is handed out.

        Sealed metadata is compared after it was opened.

        Args:
            config: The session; of a config that names none, all, or all that the tenant in it may see. None for all.
            filter: Metadata a checkpoint must have.
            before: Only checkpoints older than this one.
            limit: At most so many.

        Returns:
            The checkpoints.

        Raises:
            UnknownSession: The config names another tenant than the session's.
        """
        if config is not None and "thread_id" not in given(config):
            every = self.list(None, filter=filter, before=before, limit=None if given(config).get(TENANT) else limit)
            return iter(tuple(islice(filterfalse(self._is_strange_to(given(config).get(TENANT)), every), limit)))
        self._refuse_stranger(config or {})
        wanted: dict[str, Any] = dict(filter or {})
        sealed = {key: wanted.pop(key) for key in set(wanted) - CLEAR} if self._sealing is not None else {}
        if not sealed:
            found = super().list(config, filter=filter, before=before, limit=limit)
            with nullcontext() if filter else readable(_thread(config)):  # a filter may be wrong itself
                return iter([cast("CheckpointTuple", self._opened(one)) for one in found])
        every = map(self._opened, super().list(config, filter=wanted or None, before=before))
        fitting = (one for one in every if one and sealed.items() <= cast("dict[str, Any]", one.metadata).items())
        return iter(tuple(islice(fitting, limit)))

    @persistent
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
        named, control, held = given(config), projected(config, checkpoint), self._held.before(config)
        session = str(named["thread_id"])
        with self._connection.transaction(session) as cur:
            follows = control and self._sessions.follow(cur, session=session, control=control, fence=named.get(FENCE))
            if not follows:
                self._check(cur, config)
            for each in held:
                self._put_writes(each)
            saved = self._put(config, checkpoint, metadata, new_versions)
            if control:
                brought = self._sessions.end if follows else self._sessions.project
                brought(cur, session=session, control=control, checkpoint=checkpoint["id"])
        self._held.stored(held)
        return saved

    @persistent
    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store the writes of a task that belong to a checkpoint, all or none; those of a step with its checkpoint.

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
        written = Writes(config=config, writes=writes, task=task_id, path=task_path)
        if self._held.hold(written):
            return
        brought = self._held.brought(config)
        with self._connection.transaction(str(given(config)["thread_id"])) as cur:
            self._check(cur, config)
            for each in (*brought, written):
                self._put_writes(each)
        self._held.stored(brought)

    @persistent
    def bring_in(self, session: str) -> None:
        """Store what a caller brought for a step that has not ended; call it before its lease is given back.

        Args:
            session: The session's id.
        """
        left = self._held.left(session)
        for each in left:
            # Who took over knows nothing of it, and its caller is told by the call.
            with suppress(StaleFence), self._connection.transaction(session) as cur:
                self._check(cur, each.config)
                self._put_writes(each)
        self._held.stored(left)

    @persistent
    def delete_thread(self, thread_id: str) -> None:
        """Delete the checkpoints of a session and withdraw its questions; row, journal, ledger and audit log stay.

        Args:
            thread_id: The session's id.

        Raises:
            SessionBusy: Someone holds the session.
        """
        with self._connection.transaction(str(thread_id)) as cur:
            check_fence(cur, session=str(thread_id), fence=None, now=self._connection.now())
            self._asks.withdraw(str(thread_id), [ask.id for ask in self._asks.open(str(thread_id))])
            super().delete_thread(thread_id)

    @persistent
    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Read what delta channels are made of.

        Args:
            config: Names the session and the checkpoint.
            channels: The channels.

        Returns:
            For each the last snapshot and the writes after it.
        """
        with readable(_thread(config)):
            found = super().get_delta_channel_history(config=config, channels=channels)
        return found if self._sealing is None else self._sealing.opened_history(config, found, serde=self.serde)

    def close(self) -> None:
        """Wait for the writes that were asked for and end the threads."""
        if not self._lanes.is_inherited:
            for lane in self._lanes.get():
                lane.shutdown()

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Read a checkpoint, as `get_tuple` does."""
        return await self._later(_thread(config), self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """List checkpoints, as `list` does."""
        found = self._later(_thread(config), self.list, config, filter=filter, before=before, limit=limit)
        for one in await found:
            yield one

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, as `put` does."""
        return await self._later(_thread(config), self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store writes, as `put_writes` does."""
        await self._later(_thread(config), self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete the checkpoints of a session, as `delete_thread` does."""
        await self._later(str(thread_id), self.delete_thread, thread_id)

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Read what delta channels are made of, as `get_delta_channel_history` does."""
        return await self._later(_thread(config), self.get_delta_channel_history, config=config, channels=channels)

    def _put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        sealed = self._sealed(config, checkpoint, metadata, sealing=self._sealing)
        return super().put(*sealed, new_versions)

    def _sealed(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        *,
        sealing: Sealing | None,
    ) -> tuple[RunnableConfig, Checkpoint, CheckpointMetadata]:
        config, metadata = plainly(config, metadata)
        if sealing is None:
            return config, checkpoint, metadata
        return sealing.sealed(config, checkpoint, metadata, serde=self.serde)

    def _put_writes(self, written: Writes) -> None:
        sealed = self._sealed_writes(written, sealing=self._sealing)
        super().put_writes(written.config, sealed, written.task, written.path)

    def _sealed_writes(self, written: Writes, *, sealing: Sealing | None) -> Sequence[tuple[str, Any]]:
        if sealing is None:
            return written.writes
        return sealing.sealed_writes(written.config, written.writes, task=written.task, serde=self.serde)

    def _opened(self, found: CheckpointTuple | None) -> CheckpointTuple | None:
        if found is None:
            return None
        if self._sealing is not None:
            return whole(self._sealing.opened(found, serde=self.serde))
        refuse_sealed(found)
        return whole(found)

    def _check(self, cur: Cursor, config: RunnableConfig) -> None:
        here = given(config)
        check_fence(cur, session=str(here["thread_id"]), fence=here.get(FENCE), now=self._connection.now())

    def _refuse_stranger(self, config: RunnableConfig) -> None:
        """Keep what a session holds from other tenants; who holds the session was let in when it took the lease."""
        here = given(config)
        if here.get(TENANT) and here.get(FENCE) is None:
            self._sessions.refuse_stranger(str(here.get("thread_id", "")), tenant=str(here[TENANT]))

    def _is_strange_to(self, tenant: str | None) -> Callable[[CheckpointTuple], bool]:
        owner = cache(self._sessions.tenant)

        def is_strange(found: CheckpointTuple) -> bool:
            return bool(tenant) and owner(str(given(found.config)["thread_id"])) not in ("", tenant)

        return is_strange

    async def _later(self, session: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        lanes = self._lanes.get()
        lane = lanes[crc32(session.encode(errors="replace")) % len(lanes)]
        future = lane.submit(work, *args, **kwargs)
        # A cancelled run still writes what it had handed over: dropping it would tear a step.
        return await asyncio.shield(asyncio.wrap_future(future))


def _lanes(count: int) -> tuple[ThreadPoolExecutor, ...]:
    return tuple(
        ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"stateward-checkpoints-{lane}") for lane in range(count)
    )


def given(config: RunnableConfig) -> dict[str, Any]:
    """Return what a config says under `configurable`.

    Args:
        config: LangGraph's config.
    """
    return config.get("configurable", {})


def projected(config: RunnableConfig, checkpoint: Checkpoint) -> Json | None:
    """Return the control channel of a checkpoint that the session row follows.

    Args:
        config: Names the namespace.
        checkpoint: The checkpoint.

    Returns:
        The control channel; None for a nested graph's checkpoint, or one of a graph that is no chart.
    """
    return None if given(config).get("checkpoint_ns") else control_in(checkpoint["channel_values"])


def _thread(config: RunnableConfig | None) -> str:
    return str(given(config or {}).get("thread_id", ""))
