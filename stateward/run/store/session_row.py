"""What is told about a session, and about the end of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """A session as its row and its journal tell it."""

    id: str
    graph: str
    tenant: str
    status: str
    """One of running, waiting, completed, halted, failed, cancelled."""
    path: tuple[str, ...]
    """The active state paths."""
    run: str
    """Id of the latest run; empty before the first."""
    run_no: int
    branch: str
    mode: str
    chart_hash: str
    policy_hash: str
    schema_hash: str
    reason: Mapping[str, Any] | None
    created_at: float
    updated_at: float
    holder: str | None
    fence: int
    lease_until: float
    turns: int
    """Model calls over all runs."""
    tokens: int
    """Tokens in and out over all runs."""
    usd: float
    """Money over all runs, upper bounds of unfinished calls not included."""
    stalled: bool
    """True when the row says running and nobody living holds the lease: resume it."""
    wakes_at: float | None = None
    """When the first pending timer is due, in seconds since the epoch; None when none is pending."""
    mail: int = 0
    """The number of the last event that was taken from the mailbox."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalRecord:
    """The end of a run, written in the transaction of its last checkpoint."""

    session: str
    run: str
    status: str
    """One of completed, halted, failed, cancelled."""
    path: tuple[str, ...]
    branch: str
    reason: Mapping[str, Any] | None
    checkpoint: str
    """Id of the checkpoint that ended it."""
    ended_at: float
