"""Opening a database as the environment says: its keys, where none are given."""

from __future__ import annotations

import os
from collections.abc import Callable

from stateward.run.store.audit_keys import AUDIT_VARIABLE, read_audit_keys
from stateward.run.store.blobs import BLOB_BYTES
from stateward.run.store.cipher import KEY_VARIABLE, Keys, read_keys
from stateward.run.store.clock import Clock
from stateward.run.store.database import Database
from stateward.run.store.database import open_database as open_with
from stateward.run.store.lease import LEASE_TTL_S


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
            under the first one, and nothing is read that is not. None takes them from `STATEWARD_KEY`, `ID:BASE64`
            joined by commas; without that nothing is encrypted.
        blob_bytes: A result of a call that has more bytes of JSON than this, at least 1, is stored once for each
            session, and its row in the journal refers to it; 64 KiB by default. What was stored under another limit
            is read as before.
        audit_keys: Key id to a key of at least 16 bytes, or what returns that: the audit log is chained with the first
            one, so that nobody without it can write the log anew; the others verify what they made. None takes them
            from `STATEWARD_AUDIT_KEY`, `ID:BASE64` joined by commas; without that the chain has no key.

    Returns:
        The database, usable from every thread of this process.

    Raises:
        CheckpointError: The URL is none of these, the file cannot be written, is no database or is full, the server
            cannot be reached or refuses the user, a key is none, `lease_ttl_s` is not above 0, or `blob_bytes` is no
            whole number from 1.
        CodecError: The database was written by a newer release, is encrypted and the keys are not its keys, or is not
            and there are keys.
    """
    given = keys_here() if keys is None else keys
    return open_with(
        url,
        clock=clock,
        lease_ttl_s=lease_ttl_s,
        keys=given,
        blob_bytes=blob_bytes,
        audit_keys=audit_keys_here() if audit_keys is None else audit_keys,
    )


def keys_here() -> Keys | None:
    """Return the keys of the environment; None when there are none, and nothing is encrypted.

    Raises:
        CheckpointError: `STATEWARD_KEY` cannot be read.
    """
    return _here(KEY_VARIABLE, read_keys)


def audit_keys_here() -> Keys | None:
    """Return the audit log's keys of the environment; None when there are none, and it is chained without one.

    Raises:
        CheckpointError: `STATEWARD_AUDIT_KEY` cannot be read.
    """
    return _here(AUDIT_VARIABLE, read_audit_keys)


def _here(variable: str, read: Callable[[str], Keys]) -> Keys | None:
    text = os.environ.get(variable, "")
    return read(text) if text.strip() else None
