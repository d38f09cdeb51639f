"""Which database a URL names: its connection, LangGraph's saver and store over it."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from psycopg import Error
from psycopg.conninfo import conninfo_to_dict

from stateward.errors import CheckpointError
from stateward.run.store.asks import Asks
from stateward.run.store.cipher import Cipher, Keys, cipher_for
from stateward.run.store.clock import Clock
from stateward.run.store.connection import Connection
from stateward.run.store.fence import Fenced
from stateward.run.store.layout import Layout
from stateward.run.store.postgres import PostgresConnection
from stateward.run.store.postgres_saver import PostgresFencedSaver
from stateward.run.store.postgres_setup import set_up
from stateward.run.store.postgres_store import open_store as open_postgres_store
from stateward.run.store.saver import FencedSaver
from stateward.run.store.sealed_store import SealedStore
from stateward.run.store.sessions import Sessions
from stateward.run.store.split_layout import SplitLayout
from stateward.run.store.sqlite import connect
from stateward.run.store.sqlite_setup import open_store, set_up_checkpoints
from stateward.run.store.sqlite_store import FileStore

MEMORY = "memory:"
"""The URL of a database that no other process can reach."""
FILE = "sqlite:///"
SERVERS = ("postgresql://", "postgres://")
_KNOWN = (
    "Use `memory:`, `sqlite:///relative/path`, `sqlite:////absolute/path` or"
    " `postgresql://user:password@host/database`."
)


class Backend(Protocol):
    """One kind of database, opened."""

    @property
    def connection(self) -> Connection:
        """What the tables need of it."""
        ...

    @property
    def layout(self) -> Layout:
        """How LangGraph's saver lays its checkpoints out."""
        ...

    def saver(self, sessions: Sessions, *, asks: Asks) -> Fenced:
        """Make LangGraph's saver."""
        ...

    def store(self) -> BaseStore:
        """Open LangGraph's long-term store."""
        ...

    def close_store(self, store: BaseStore) -> None:
        """Close what `store` opened."""
        ...


class SqliteBackend:
    """A SQLite file, or a database in memory.

    Args:
        path: The file; None for memory.
        clock: Where the time comes from.
        label: How messages name it.
    """

    def __init__(self, path: Path | None, *, clock: Clock, label: str) -> None:
        self._path = path
        self.layout = Layout()
        self.connection = connect(path, clock=clock, label=label)
        try:
            set_up_checkpoints(self.connection)
        except BaseException:
            self.connection.close()
            raise

    def saver(self, sessions: Sessions, *, asks: Asks) -> Fenced:
        """Make LangGraph's saver."""
        return FencedSaver(self.connection, sessions=sessions, asks=asks)

    def store(self) -> BaseStore:
        """Open LangGraph's long-term store."""
        return _sealed(
            InMemoryStore() if self._path is None else open_store(self._path, self.connection), self.connection
        )

    def close_store(self, store: BaseStore) -> None:
        """Close what `store` opened."""
        inner = store.inner if isinstance(store, SealedStore) else store
        if isinstance(inner, FileStore):
            inner.close()


class PostgresBackend:
    """A PostgreSQL database.

    Args:
        url: How libpq reaches it.
        clock: Where the time comes from.
        label: How messages name it.
    """

    def __init__(self, url: str, *, clock: Clock, label: str) -> None:
        set_up(url, label=label)
        self.layout = SplitLayout()
        self.connection = PostgresConnection(url, clock=clock, label=label)

    def saver(self, sessions: Sessions, *, asks: Asks) -> Fenced:
        """Make LangGraph's saver."""
        return PostgresFencedSaver(self.connection, sessions=sessions, asks=asks)

    def store(self) -> BaseStore:
        """Open LangGraph's long-term store."""
        return _sealed(open_postgres_store(self.connection), self.connection)

    def close_store(self, store: BaseStore) -> None:
        """Do nothing: the store uses the connections of the database."""


def backend(url: str, *, clock: Clock, keys: Keys | None = None) -> Backend:
    """Open the database a URL names.

    Args:
        url: See `stateward.open`.
        clock: Where the time comes from.
        keys: See `stateward.open`.

    Returns:
        The open database; LangGraph's checkpoint tables are there.

    Raises:
        CheckpointError: The URL is none, or the database cannot be opened.
    """
    cipher = cipher_for(keys)
    opened = _open(url, clock=clock)
    if cipher is not None:
        opened.connection.cipher = cipher
    return opened


def _open(url: str, *, clock: Clock) -> Backend:
    if not isinstance(url, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers need not be typed
        raise CheckpointError(f"A database URL is a text, not {type(url).__name__}", fix=_KNOWN)
    if url == MEMORY:
        return SqliteBackend(None, clock=clock, label=url)
    if url.startswith(FILE) and url != FILE:
        return SqliteBackend(Path(url.removeprefix(FILE)), clock=clock, label=url)
    if url.startswith(SERVERS):
        return PostgresBackend(url, clock=clock, label=without_secrets(url))
    raise CheckpointError(f"`{url.partition('@')[2] or url}` is no database URL", fix=_KNOWN)


def _sealed(store: BaseStore, connection: Connection) -> BaseStore:
    return SealedStore(store, cipher=connection.cipher) if isinstance(connection.cipher, Cipher) else store


def without_secrets(url: str) -> str:
    """Name a PostgreSQL database in a message.

    Args:
        url: Its URL.

    Returns:
        User, host and database, without the password.

    Raises:
        CheckpointError: The URL cannot be read.
    """
    try:
        parts = conninfo_to_dict(url)
    except Error as error:
        text = " ".join(str(error).split())
        raise CheckpointError(f"The PostgreSQL URL cannot be read: {text}", fix=_KNOWN) from error
    user = f"{parts['user']}@" if parts.get("user") else ""
    host = f"{parts.get('host') or 'localhost'}" + (f":{parts['port']}" if parts.get("port") else "")
    return f"postgresql://{user}{host}/{parts.get('dbname', '')}"
