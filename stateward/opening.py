"""Opening a database as the environment says: the keys of `STATEWARD_KEY` where none are given."""

from __future__ import annotations

import os

from stateward.run.store.cipher import KEY_VARIABLE, Keys, read_keys
from stateward.run.store.clock import Clock
from stateward.run.store.database import Database
from stateward.run.store.database import open_database as open_with
from stateward.run.store.lease import LEASE_TTL_S


def open_database(
    url: str, *, clock: Clock | None = None, lease_ttl_s: float = LEASE_TTL_S, keys: Keys | None = None
) -> Database:
    """Open a database, and create its tables, and a file with its folders, when they are missing.

    Args:
        url: `memory:`, `sqlite:///relative/path`, `sqlite:////absolute/path` or
            `postgresql://user:password@host/database`.
        clock: Where the time comes from; the machine's by default.
        lease_ttl_s: Seconds a lease lives without a heartbeat, more than 0.
        keys: Key id to AES key of 16, 24 or 32 bytes, or what returns that: everything of the user's is encrypted
            under the first one, and nothing is read that is not. None takes them from `STATEWARD_KEY`, `ID:BASE64`
            joined by commas; without that nothing is encrypted.

    Returns:
        The database, usable from every thread of this process.

    Raises:
        CheckpointError: The URL is none of these, the file cannot be written, is no database or is full, the server
            cannot be reached or refuses the user, a key is none, or `lease_ttl_s` is not above 0.
        CodecError: The database was written by a newer release.
    """
    return open_with(url, clock=clock, lease_ttl_s=lease_ttl_s, keys=keys_here() if keys is None else keys)


def keys_here() -> Keys | None:
    """Return the keys of the environment; None when there are none, and nothing is encrypted.

    Raises:
        CheckpointError: `STATEWARD_KEY` cannot be read.
    """
    text = os.environ.get(KEY_VARIABLE, "")
    return read_keys(text) if text.strip() else None
