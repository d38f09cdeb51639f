"""One database: LangGraph's checkpoints and store, and Stateward's tables beside them.

The public `stateward.open` adds the keys of the environment; which database a URL names is decided in `backend.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TypeVar

from langgraph.store.base import BaseStore

from stateward.errors import CheckpointError
from stateward.govern.audit import KeyRing
from stateward.run.door.providers import Providers
from stateward.run.registry import Registry
from stateward.run.store.asks import Asks
from stateward.run.store.audit_keys import key_ring
from stateward.run.store.audit_log import AuditLog
from stateward.run.store.backend import MEMORY, Backend, backend
from stateward.run.store.blobs import BLOB_BYTES, Blobs, checked_blob_bytes
from stateward.run.store.cipher import Keys, TextCipher
from stateward.run.store.clock import Clock, SystemClock
from stateward.run.store.cursor import Cursor
from stateward.run.store.definitions import Definitions
from stateward.run.store.journal import Journal
from stateward.run.store.layout import Layout
from stateward.run.store.lease import LEASE_TTL_S, Leases
from stateward.run.store.ledger import Ledger
from stateward.run.store.mailbox import Mailbox
from stateward.run.store.orders import Orders
from stateward.run.store.per_process import PerProcess
from stateward.run.store.revocations import Revocations
from stateward.run.store.schema import prepare
from stateward.run.store.sessions import Sessions
from stateward.run.store.turns import Turns
from stateward.run.threads import Threads

T = TypeVar("T")


class Database:
    """Everything one database holds; open it with `stateward.open`, and close it, or use it in a `with`
    block.

    Args:
        url: The URL it was opened with, without its password.
        backend: The open database; its tables exist.
        lease_ttl_s: Seconds a lease lives without a heartbeat, more than 0.
        blob_bytes: Results of more bytes of JSON than this, at least 1, are stored by reference.
        audit_keys: What the audit log is chained with; None chains it without a key.
    """

    def __init__(
        self,
        url: str,
        *,
        backend: Backend,
        lease_ttl_s: float,
        blob_bytes: int = BLOB_BYTES,
        audit_keys: KeyRing | None = None,
    ) -> None:
        self.url = url
        connection = backend.connection
        self.clock = connection.clock
        self._backend = backend
        self._connection = connection
        self.audit = AuditLog(connection, keys=audit_keys)
        self.sessions = Sessions(connection, audit=self.audit)
        self.definitions = Definitions(connection)
        self.leases = Leases(connection, ttl_s=lease_ttl_s, closing=lambda session: self.saver.bring_in(session))
        self.ledger = Ledger(connection, audit=self.audit)
        blobs = Blobs(connection, blob_bytes=blob_bytes)
        self.journal = Journal(connection, ledger=self.ledger, audit=self.audit, blobs=blobs)
        self.asks = Asks(connection, audit=self.audit)
        self.providers = Providers(clock=self.clock)
        """What this process knows of the providers of its models."""
        self.threads = Threads()
        """Where the runs over this database put blocking code."""
        self.mailbox = Mailbox(connection, audit=self.audit, threads=self.threads)
        self.turns = Turns(connection, ttl_s=lease_ttl_s)
        self.orders = Orders(connection, audit=self.audit)
        self.revocations = Revocations(connection, audit=self.audit)
        self.registry = Registry(None if url == MEMORY else self.orders.new)
        """The calls that run sessions of this database in this process."""
        self.saver = backend.saver(self.sessions, asks=self.asks)
        self._guard = PerProcess(threading.Lock)
        self._store: BaseStore | None = None

    @property
    def store(self) -> BaseStore:
        """LangGraph's long-term store in the same database, opened at its first use."""
        with self._guard.get():
            if self._store is None:
                self._store = self._backend.store()
            return self._store

    @property
    def is_in_memory(self) -> bool:
        """Whether work on it waits for no disk and no server, so that it needs no thread."""
        return self.url == MEMORY

    @property
    def layout(self) -> Layout:
        """How LangGraph's saver lays its checkpoints out, for who keeps house among them."""
        return self._backend.layout

    @property
    def cipher(self) -> TextCipher:
        """What seals the columns that hold what is the user's; it does nothing where nothing is encrypted."""
        return self._connection.cipher

    def transaction(self, session: str = "") -> AbstractContextManager[Cursor]:
        """Keep other writers out until the block ends; what the parts of the database write inside is one
        commit.

        Args:
            session: The only session whose rows the block reads or writes; empty for the whole database.

        Returns:
            A context manager of a cursor; nested use joins.
        """
        return self._connection.transaction(session)

    def persist(self, work: Callable[[], T]) -> T:
        """Do work of one transaction, again and again while its connection is lost.

        Args:
            work: The work; what it wrote on a try whose commit was not confirmed, it must not mind to find.

        Returns:
            What it returns.
        """
        return self._connection.persist(work)

    def read(self) -> AbstractContextManager[Cursor]:
        """Lend a cursor for reading.

        Returns:
            A context manager of a cursor.
        """
        return self._connection.read()

    def close(self) -> None:
        """Release the leases of this process and close the database; a second call does nothing."""
        with self._guard.get():
            store, self._store = self._store, None
        if store is not None:
            self._backend.close_store(store)
        if not self._connection.closed:
            self.registry.close()
            self.saver.close()
            self.leases.close(but=[live.session for live in self.registry.list() if live.running()])
            self._connection.close()

    def __enter__(self) -> Database:
        """Return the database itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the database."""
        self.close()


def open_database(
    url: str,
    *,
    clock: Clock | None = None,
    lease_ttl_s: float = LEASE_TTL_S,
    keys: Keys | None = None,
    blob_bytes: int = BLOB_BYTES,
    audit_keys: Keys | None = None,
) -> Database:
    """Open a database, and create its tables, and a file with its folders, when they are missing.

    Args:
        url: `memory:`, `sqlite:///relative/path`, `sqlite:////absolute/path` or
            `postgresql://user:password@host/database`.
        clock: Where the time comes from; the machine's by default.
        lease_ttl_s: Seconds a lease lives without a heartbeat, more than 0.
        keys: Key id to AES key of 16, 24 or 32 bytes, or what returns that: everything of the user's is encrypted
            under the first one, and nothing is read that is not. None encrypts nothing.
        blob_bytes: Results of calls of more bytes of JSON than this, at least 1, are stored by reference.
        audit_keys: Key id to a key of at least 16 bytes, or what returns that: the audit log is chained with the first
            one. None chains it without a key.

    Returns:
        The database, usable from every thread of this process.

    Raises:
        CheckpointError: The URL is none of these, the file cannot be written, is no database or is full, the server
            cannot be reached or refuses the user, a key is none, `lease_ttl_s` is not above 0, or `blob_bytes` is no
            whole number from 1.
        CodecError: The database was written by a newer release, or is encrypted otherwise than the keys say.
    """
    if not lease_ttl_s > 0:  # nor is NaN
        raise CheckpointError(
            f"`lease_ttl_s` is {lease_ttl_s!r}", where="`stateward.open`", fix="Give a number of seconds above 0."
        )
    limit, ring = checked_blob_bytes(blob_bytes), key_ring(audit_keys)
    found = backend(url, clock=clock or SystemClock(), keys=keys)
    try:
        prepare(found.connection, layout=found.layout)
        return Database(
            found.connection.label, backend=found, lease_ttl_s=lease_ttl_s, blob_bytes=limit, audit_keys=ring
        )
    except BaseException:
        found.connection.close()
        raise
