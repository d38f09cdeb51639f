"""Messages of the sample inbox, by id."""

from __future__ import annotations

from pathlib import Path

from nodes.support_desk.inbox import Row, read_inbox

INBOX = Path(__file__).parents[2] / "samples" / "inbox.jsonl"
SHORT = tuple(
    f"m-{number:03}"
    for number in (
        *(1, 2, 4, 67),  # late parcels
        *(10, 11, 12, 13, 15),  # returns; 13 wants a letter
        *(17, 18, 19, 24, 27, 71),  # refunds
        *(28, 29, 33, 36, 40, 42, 48),  # login, bugs, wishes, slowness
        *(54, 56, 78),  # threats
        *(58, 59, 62),  # attacks, and an account to be deleted
        *(63, 64),  # questions
        *(84, 85, 86, 87),  # follow-ups
    )
)
"""A third of the inbox that takes every way through the chart."""


def rows(*ids: str) -> list[Row]:
    """Read messages of the sample inbox.

    Args:
        ids: Their ids; all when none is named.
    """
    return [row for row in read_inbox(INBOX, columns={}) if isinstance(row, Row) and (not ids or row.id in ids)]


def write_short(place: Path) -> Path:
    """Write the short inbox.

    Args:
        place: The file.

    Returns:
        The same file.
    """
    lines = INBOX.read_text(encoding="utf-8").splitlines(keepends=True)
    place.write_text("".join(line for line in lines if line[8:13] in SHORT), encoding="utf-8")
    return place
