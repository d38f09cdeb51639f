"""LangGraph's own savers over fresh databases, for the graphs that ours are measured against.

They get what ours have: WAL and `synchronous=NORMAL` on SQLite, a pool of as many connections on PostgreSQL.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Generator
from contextlib import closing, contextmanager
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from stateward.run.store.postgres_pool import POOL

PRAGMAS = ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=NORMAL")
SETTINGS: dict[str, Any] = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
Saver = BaseCheckpointSaver[Any]


@contextmanager
def bare_saver(url: str) -> Generator[Saver]:
    """Open LangGraph's sync saver.

    Args:
        url: A fresh database, as `stateward.open` takes it.

    Yields:
        The saver.
    """
    if url.startswith("sqlite:///"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"), check_same_thread=False)) as raw:
            for pragma in PRAGMAS:
                raw.execute(pragma)
            yield SqliteSaver(raw)
        return
    with ConnectionPool[Any](url, kwargs=SETTINGS, min_size=1, max_size=POOL, open=True) as pool:
        saver = PostgresSaver(pool)
        saver.setup()
        yield saver


@contextmanager
def bare_async_saver(url: str, *, runner: asyncio.Runner) -> Generator[Saver]:
    """Open LangGraph's async saver in the loop it belongs to.

    Args:
        url: A fresh database, as `stateward.open` takes it.
        runner: Has the loop.

    Yields:
        The saver.
    """
    opening = _opened(url)
    saver = runner.run(anext(opening))
    try:
        yield saver
    finally:
        runner.run(opening.aclose())


async def _opened(url: str) -> AsyncGenerator[Saver]:
    if url.startswith("sqlite:///"):
        async with AsyncSqliteSaver.from_conn_string(url.removeprefix("sqlite:///")) as saver:
            for pragma in PRAGMAS:
                await saver.conn.execute(pragma)
            yield saver
        return
    async with AsyncConnectionPool[Any](url, kwargs=SETTINGS, min_size=1, max_size=POOL, open=False) as pool:
        saver = AsyncPostgresSaver(pool)
        await saver.setup()
        yield saver
