"""Where journal, ledger and asks of a graph live, when its checkpoints live elsewhere."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from langgraph.checkpoint.memory import InMemorySaver

from stateward.run.loop_thread import Loops
from stateward.run.store.cipher import Keys
from stateward.run.store.database import Database, open_database
from stateward.run.threads import Threads

DEFAULT_TABLES = "sqlite:///.stateward/stateward.db"
"""Where journal, ledger and asks live under a checkpointer that is not ours, when `STATEWARD_DB` does not say."""


@dataclass(slots=True)
class Tables:
    """Where a graph's tables are, shared by all copies of it.

    Args:
        url: `STATEWARD_DB`, or None when it is not set.
        attached: The database the graph was attached to, or None.
        keys: Returns what the database at `url` is encrypted with, or None.
        audit_keys: Returns what its audit log is chained with, or None.
    """

    url: str | None = None
    attached: Database | None = None
    keys: Callable[[], Keys | None] = lambda: None
    audit_keys: Callable[[], Keys | None] = lambda: None
    own_threads: Threads = field(default_factory=Threads)
    loops: Loops = field(default_factory=Loops, compare=False)
    """The event loops that wait for the next sync call."""
    _opened: Database | None = None
    _lock: Lock = field(default_factory=Lock)

    @property
    def threads(self) -> Threads:
        """Where runs put blocking code: the threads of the attached database, or of the graph itself."""
        return self.attached.threads if self.attached is not None else self.own_threads

    def database(self, saver: object) -> Database:
        """Return the tables that belong to a checkpointer, opened when first needed.

        Args:
            saver: The checkpointer of the run.

        Returns:
            The attached database, else the one at `url`, else one in memory for LangGraph's in-memory saver.
        """
        if self.attached is not None:
            return self.attached
        with self._lock:
            if self._opened is None:
                url = self.url or _fallback(saver)
                self._opened = open_database(url, keys=self.keys(), audit_keys=self.audit_keys())
            return self._opened


def _fallback(saver: object) -> str:
    if type(saver) is InMemorySaver:
        return "memory:"
    warnings.warn(
        f"Checkpoints are kept by `{type(saver).__name__}`, but journal and asks in `{DEFAULT_TABLES}` of this folder: "
        "another host, or another folder, will not find them. Set STATEWARD_DB, or compile with `database=`.",
        stacklevel=2,
    )
    return DEFAULT_TABLES
