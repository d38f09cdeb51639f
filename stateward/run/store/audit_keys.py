"""The keys that the audit log is chained with, as they are given."""

from __future__ import annotations

from stateward.errors import CheckpointError
from stateward.govern.audit import KeyRing
from stateward.run.store.cipher import KEY_ID, Keys, read_keys

AUDIT_VARIABLE = "STATEWARD_AUDIT_KEY"
"""The environment variable that holds the keys: `ID:BASE64`, several joined by commas, the first makes new rows."""
LEAST_BYTES = 16
_FIX = f"Give keys of at least {LEAST_BYTES} bytes: `{AUDIT_VARIABLE}=ID:BASE64`, or `audit_keys={{ID: bytes}}`."


def key_ring(keys: Keys | None) -> KeyRing | None:
    """Check the keys of an audit log.

    Args:
        keys: Key id to key, or what returns that; the first one makes new rows. None for none.

    Returns:
        The keys; None when there are none, and the log is chained without one.

    Raises:
        CheckpointError: There is no key, or one is too short or has an id that is none.
    """
    if keys is None:
        return None
    given = dict(keys() if callable(keys) else keys)
    if not given:
        raise CheckpointError("The audit log is to have a key, but there is none", fix=_FIX)
    for name, key in given.items():
        if not KEY_ID.fullmatch(name):
            # The name itself is not told: who forgot it has put the key in its place.
            raise CheckpointError("The id of an audit key is not 1 to 64 letters, digits, `.`, `_` or `-`", fix=_FIX)
        if len(key) < LEAST_BYTES:
            raise CheckpointError(f"The audit key `{name}` has {len(key)} bytes", fix=_FIX)
    return given


def read_audit_keys(text: str) -> KeyRing:
    """Read keys from what the environment variable holds.

    Args:
        text: `ID:BASE64`, several joined by commas.

    Returns:
        Key id to key.

    Raises:
        CheckpointError: It has another form.
    """
    return read_keys(text, variable=AUDIT_VARIABLE, fix=_FIX)
