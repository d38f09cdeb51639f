"""The chain of the audit log: each row's hash covers its record and the hash before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from stateward.govern.fingerprint import digest

GENESIS = "0" * 64
"""The hash before the first row."""


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


def link(previous_hash: str, *, record: Mapping[str, object]) -> str:
    """Compute the hash of the next row.

    Args:
        previous_hash: The hash of the row before, `GENESIS` for the first.
        record: What the row says, JSON-like.

    Returns:
        SHA-256 in hexadecimal, over the canonical JSON of both.
    """
    return digest({"previous": previous_hash, "record": record})


def verify(rows: Iterable[AuditRow], *, start: str = GENESIS) -> Broken | None:
    """Look for a row that was changed, removed, inserted or moved.

    Args:
        rows: The rows in their order.
        start: The hash before the first of them.

    Returns:
        None when the chain holds, else the first row that breaks it. Rows removed from the end leave a chain
        that holds: compare the last hash with one kept elsewhere.
    """
    previous = start
    for index, row in enumerate(rows):
        expected = link(previous, record=row.record)
        if expected != row.hash:
            return Broken(index=index, expected=expected, found=row.hash)
        previous = row.hash
    return None
