"""LangGraph's PostgreSQL saver behind the fence."""

from __future__ import annotations

from contextlib import AbstractContextManager

import psycopg
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg.rows import DictRow

from stateward.run.store.fence import Fenced
from stateward.run.store.postgres import PostgresConnection
from stateward.run.store.serializer import AllowList, StrictSerializer
from stateward.run.store.sessions import Sessions

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
        self.fence(connection, sessions=sessions, lanes=LANES)

    def _cursor(  # pyright: ignore[reportIncompatibleMethodOverride]  # a context manager, typed less narrowly
        self, *, pipeline: bool = False
    ) -> AbstractContextManager[psycopg.Cursor[DictRow]]:
        return self._postgres.named_rows(pipeline=pipeline)
