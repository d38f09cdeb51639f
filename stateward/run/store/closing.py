"""How a call ended, and what its entry says then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from stateward.errors import CheckpointError
from stateward.run.store.charges import BILLION, overrun, settled
from stateward.run.store.entry import CallKey, Entry

Closed = Literal["completed", "failed", "unknown"]


@dataclass(frozen=True, slots=True)
class Ending:
    """How a call ended; `Journal.settle` says what the fields are."""

    status: Closed
    result: Any  # JSON, as the tool gave it
    error: Any  # JSON
    spent: Mapping[str, float]
    tokens_in: int
    tokens_out: int


def closed(before: Entry, ending: Ending, *, now: float) -> Entry:
    """Return an entry as it is when its call has ended.

    Args:
        before: Started, or unknown.
        ending: How it ended.
        now: The time, in seconds since the epoch.

    Raises:
        GovernanceError: An amount is no finite number from 0.
    """
    charges = settled(before.charges, spent=ending.spent)
    more = overrun(before.charges, now=charges) if ending.spent else {}
    # Written out: every call comes through here, and `replace` takes twice as long for so many fields.
    return Entry(
        key=before.key,
        kind=before.kind,
        name=before.name,
        fingerprint=before.fingerprint,
        arguments=before.arguments,
        effect=before.effect,
        status=ending.status,
        result=ending.result,
        error=ending.error,
        charges=charges,
        overrun={**before.overrun, **more} if before.overrun else more,
        tokens_in=ending.tokens_in,
        tokens_out=ending.tokens_out,
        usd=next((c.billionths / BILLION for c in charges if c.unit == "usd"), 0.0),
        tries=before.tries,
        started_at=before.started_at,
        ended_at=now,
    )


def opened(entry: Entry | None, key: CallKey) -> Entry:
    """Return an entry that may still be closed.

    Args:
        entry: What the journal has; None for nothing.
        key: The call.

    Raises:
        CheckpointError: It was never begun, or is closed for good.
    """
    if entry is None:
        raise CheckpointError("The call was never begun", where=key.place, fix="Begin it before it is made.")
    if entry.status in ("completed", "failed"):
        raise CheckpointError(
            f"`{entry.name}` is {entry.status} already, and a closed entry is never opened again",
            where=key.place,
            fix="Take its result from the journal.",
        )
    return entry
