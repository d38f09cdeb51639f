"""The chain of the audit log: each row's hash covers its record and the hash before it.

Without a key anybody who can write the table can write the whole chain anew. With one the hashes are HMACs, which only
who has the key can make; such a hash names its key (`ID:HEX`), so that keys can be changed. A log may begin without a
key and go on with one, never the other way round: a row without a key after one with a key breaks the chain.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from stateward.errors import GovernanceError
from stateward.govern.fingerprint import canonical

GENESIS = "0" * 64
"""The hash before the first row."""
KeyRing = Mapping[str, bytes]
"""Key id to key; the first one makes the hashes of new rows."""
_NO_KEYS: KeyRing = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """One row of the log as it is stored."""

    record: Mapping[str, object]
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """The first row of a log that does not follow from the rows before it."""

    index: int
    """Its place, from 0."""
    expected: str
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The end of a log: kept elsewhere, it shows that the log was not cut, nor written anew."""

    seq: int
    """The number of the last row; 0 for an empty log."""
    hash: str = GENESIS

    def __str__(self) -> str:
        """Return it as `SEQ:HASH`, one word to keep elsewhere."""
        return f"{self.seq}:{self.hash}"


def read_head(text: str) -> Head:
    """Read what `str` made of a head.

    Args:
        text: `SEQ:HASH`.

    Raises:
        GovernanceError: It is nothing of the kind.
    """
    seq, colon, hash = text.strip().partition(":")
    if not colon or not seq.isdecimal() or not hash:
        raise GovernanceError(f"`{text}` is no head of an audit log", fix="Give `SEQ:HASH`, as `audit --head` told it.")
    return Head(seq=int(seq), hash=hash)


def link(previous_hash: str, *, record: Mapping[str, object], keys: KeyRing = _NO_KEYS) -> str:
    """Compute the hash of the next row.

    Args:
        previous_hash: The hash of the row before, `GENESIS` for the first.
        record: What the row says, JSON-like.
        keys: The keys; the first one is used.

    Returns:
        SHA-256 in hexadecimal, over the canonical JSON of both; with a key HMAC-SHA256, after the id of the key.
    """
    return link_text(previous_hash, text=canonical(record).decode(), key=next(iter(keys.items()), None))


def link_text(previous_hash: str, *, text: str, key: tuple[str, bytes] | None = None) -> str:
    """Compute the hash of the next row from what is stored of its record.

    Args:
        previous_hash: The hash of the row before, `GENESIS` for the first.
        text: The canonical JSON of the record, or what it is encrypted to.
        key: The id of the key, and the key; None for none.
    """
    content = f'{{"previous":"{previous_hash}","record":{text}}}'.encode()
    if key is None:
        return hashlib.sha256(content).hexdigest()
    return f"{key[0]}:{hmac.new(key[1], content, hashlib.sha256).hexdigest()}"


def key_id(hash: str) -> str:
    """Return the id of the key that a hash was made with; empty for none.

    Args:
        hash: A row's hash.
    """
    return hash.rpartition(":")[0]


def fits(previous_hash: str, *, text: str, hash: str, keys: KeyRing = _NO_KEYS) -> bool:
    """Whether a row follows from the one before.

    Args:
        previous_hash: The hash of the row before, `GENESIS` for the first.
        text: What is stored of its record.
        hash: Its hash.
        keys: The keys.

    Raises:
        GovernanceError: The hash was made with a key that is not given.
    """
    name = key_id(hash)
    if not name and key_id(previous_hash):
        return False
    if name and name not in keys:
        raise GovernanceError(
            f"The audit log is chained with the key `{name}`, which is not given",
            fix="Set `STATEWARD_AUDIT_KEY=ID:BASE64`, or open the database with `audit_keys=`.",
        )
    expected = link_text(previous_hash, text=text, key=(name, keys[name]) if name else None)
    return hmac.compare_digest(expected.encode(), hash.encode())


def verify(rows: Iterable[AuditRow], *, start: str = GENESIS, keys: KeyRing = _NO_KEYS) -> Broken | None:
    """Look for a row that was changed, removed, inserted or moved.

    Args:
        rows: The rows in their order.
        start: The hash before the first of them.
        keys: The keys.

    Returns:
        None when the chain holds, else the first row that breaks it. Rows removed from the end leave a chain
        that holds: compare the last hash with one kept elsewhere.

    Raises:
        GovernanceError: A hash was made with a key that is not given.
    """
    previous = start
    for index, row in enumerate(rows):
        text = canonical(row.record).decode()
        if not fits(previous, text=text, hash=row.hash, keys=keys):
            name = key_id(row.hash)
            expected = link_text(previous, text=text, key=(name, keys[name]) if name else None)
            return Broken(index=index, expected=expected, found=row.hash)
        previous = row.hash
    return None
