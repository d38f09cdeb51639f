"""What a branch brings along from the line it was forked from: open questions, calls it inherited, and what was spent.

Time travel gives no money back: what the line that was left had spent counts on the new one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from stateward.run.replay.recording import Moment
from stateward.run.replay.score import Score
from stateward.run.store.charges import BILLION, Reservation
from stateward.run.store.database import Database
from stateward.run.store.entry import CallKey, Entry


def take_over(score: Score, moment: Moment, *, database: Database) -> None:
    """Let the database of a replay know what was known where somebody put a run.

    Args:
        score: The record.
        moment: Where it was put.
        database: The replay's own.
    """
    asked: Mapping[str, list[str]] = moment.control.get("asks") or {}
    known = {ask.id: ask for ask in score.recording.asks}
    ids = [id for several in asked.values() for id in several if id in known and database.asks.find(id) is None]
    asks = [replace(known[id].unanswered(), expires_at=None) for id in ids]
    if asks:
        database.asks.create(asks)
    for entry in (*_inherited(score, moment.branch), *_left(score, moment.branch)):
        _write(entry, database)


def _inherited(score: Score, branch: str) -> Iterator[Entry]:
    """Calls of a branch that it did not make: they have no try."""
    return (call for call in score.recording.calls if call.key.branch == branch and call.tries == 0)


def _left(score: Score, branch: str) -> Iterator[Entry]:
    """Calls that were made before a fork, and not on the way that is played."""
    settled: set[tuple[Any, ...]] = set()
    for note in score.recording.notes:
        if note.get("event") == "call":
            settled.add((note["branch"], note["path"], note["activation"], note["call"]))
        elif note.get("event") == "forked" and note.get("branch") == branch:
            made = set(score.made)
            for call in score.recording.calls:
                if _place(call.key) in settled and call.key not in made and call.tries > 0:
                    yield call
            return


def _place(key: CallKey) -> tuple[Any, ...]:
    return key.branch, key.path, key.activation, key.call


def _write(entry: Entry, database: Database) -> None:
    if database.journal.get(entry.key) is not None or entry.status not in ("completed", "failed", "unknown"):
        return
    reservations = [
        Reservation(scope=charge.scope, unit=charge.unit, amount=charge.billionths / BILLION, limit=None)
        for charge in entry.charges
    ]
    database.journal.begin(entry, reservations=reservations)
    database.journal.settle(entry.key, status=entry.status, result=entry.result, error=entry.error)
