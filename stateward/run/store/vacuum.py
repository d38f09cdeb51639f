"""Giving the space of deleted rows back to the disk."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from stateward.errors import CheckpointError
from stateward.run.store.backend import FILE
from stateward.run.store.database import Database

_WAIT_S = 10.0


def vacuum(database: Database) -> int:
    """Rewrite a SQLite file without its empty pages; it needs as much free space as the file has.

    Args:
        database: The database; in another process nobody may be writing to it.

    Returns:
        By how many bytes the file became smaller; 0 where there is no file: PostgreSQL does it by itself.

    Raises:
        CheckpointError: Somebody writes, or the disk is full.
    """
    if not database.url.startswith(FILE):
        return 0
    path = Path(database.url.removeprefix(FILE))
    try:
        with closing(sqlite3.connect(path, isolation_level=None, timeout=_WAIT_S)) as raw:
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            before = path.stat().st_size
            raw.execute("VACUUM")
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        raise CheckpointError(
            f"The file cannot be made smaller: {error}",
            where=f"`{database.url}`",
            fix="Try again when nobody writes to it, with as much free disk as the file has.",
        ) from error
    return before - path.stat().st_size
