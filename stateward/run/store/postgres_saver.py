"""LangGraph's PostgreSQL saver behind the fence."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from typing import Any

import psycopg
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg.rows import DictRow

from stateward.run.checkpoint import FENCE
from stateward.run.store.connection import persistent
from stateward.run.store.fence import Fenced, given, projected
from stateward.run.store.postgres import GuardUnmet, PostgresConnection
from stateward.run.store.serializer import AllowList, StrictSerializer
from stateward.run.store.sessions import Sessions

_HELD = "SELECT 1 / COUNT(*) FROM stateward_sessions WHERE id = ? AND fence = ?"
_FOLLOWED = "WITH followed AS ({} RETURNING 1) SELECT 1 / COUNT(*) FROM followed"
"""Guards that divide by zero: the writer holds the session, and its row was brought up to the step."""

_CHANGED = 3
"""How many of a guard's parameters, its first, are what the step changes in the row; the others it must find there."""
REMEMBERED = 10_000
"""Sessions whose row is remembered; then all are forgotten, which costs each a few round trips."""
LANES = 8
"""Threads for async calls."""


class PostgresFencedSaver(Fenced, PostgresSaver):
    """A checkpoint saver that only the holder of a session can write through, sync and async.

    Args:
        connection: The database; its checkpoint tables exist.
        sessions: Where the control channel is projected to.
        allowed: Types that may be stored, beside LangGraph's safe types.
    """

    def __init__(self, connection: PostgresConnection, *, sessions: Sessions, allowed: AllowList = ()) -> None:
        # LangGraph's constructor only keeps the connection; `_cursor` is the one place that uses it.
        PostgresSaver.__init__(self, None, serde=StrictSerializer(allowed=allowed))  # pyright: ignore[reportArgumentType]
        self._postgres = connection
        self._followed: dict[str, tuple[object, ...]] = {}
        """What the row of a session was brought to last: a step that leaves it so can be sent in one go."""
        self.fence(connection, sessions=sessions, lanes=LANES)

    @persistent
    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint; a step in the middle of a run in one round trip. See `Fenced.put`."""
        named, control = given(config), projected(config, checkpoint)
        session, fence, guard = str(named["thread_id"]), named.get(FENCE), None
        known: tuple[object, ...] = ()
        if control is not None:
            following = self._sessions.following(session=session, control=control, fence=fence)
            if following is not None:
                known = following[1][_CHANGED:]
                if self._followed.get(session) == known:
                    guard = (_FOLLOWED.format(following[0]), following[1])
        elif fence is not None:
            guard = (_HELD, (session, fence))
        if guard is not None and self._is_free():
            with suppress(GuardUnmet), self._postgres.at_once(session, guard=guard[0], parameters=guard[1]):
                return self._put(config, checkpoint, metadata, new_versions)
        saved = super().put(config, checkpoint, metadata, new_versions)
        self._remember(session, known)
        return saved

    @persistent
    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store the writes of a task; under a lease in one round trip. See `Fenced.put_writes`."""
        session, fence = str(given(config)["thread_id"]), given(config).get(FENCE)
        if fence is not None and self._is_free():
            with suppress(GuardUnmet):
                with self._postgres.at_once(session, guard=_HELD, parameters=(session, fence)):
                    self._put_writes(config, writes, task_id, task_path)
                return
        super().put_writes(config, writes, task_id, task_path)

    def _remember(self, session: str, known: tuple[object, ...]) -> None:
        if len(self._followed) >= REMEMBERED:
            self._followed.clear()
        if known:
            self._followed[session] = known

    def _is_free(self) -> bool:
        """Whether a transaction can be sent in one go; what is sealed asks for the session's tenant in between."""
        return self._sealing is None and self.supports_pipeline and not self._postgres.is_busy

    def _cursor(  # pyright: ignore[reportIncompatibleMethodOverride]  # a context manager, typed less narrowly
        self, *, pipeline: bool = False
    ) -> AbstractContextManager[psycopg.Cursor[DictRow]]:
        return self._postgres.named_rows(pipeline=pipeline)
