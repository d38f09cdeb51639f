"""The timeline of one branch of a session: its checkpoints, each with the calls that were made on the way to it.

The line of a branch goes from its last checkpoint back over those before it, also where these belong to the branch it
was forked from; what happened on other branches is not in it.

A call is told once, at the first checkpoint of its activation that is not older than the call: calls made before a
person was asked stand at the ask, those made after the answer at the end. Calls on the way to a checkpoint that was
never written, because the process died or is still at work, stand in rows of their own at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stateward.run.branch import branch_named, branches_in
from stateward.run.checkpoint import MAIN_BRANCH
from stateward.run.graph import ChartGraph
from stateward.run.history import Kept, kept
from stateward.run.store.database import Database
from stateward.run.store.entry import Entry

UNCOMMITTED = "(not committed)"
"""The event of a row whose calls led to no checkpoint yet."""

_Place = tuple[str, str, str, int]
"""Run, branch, state path and activation: what a call and the checkpoint after it have in common."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardVerdict:
    """What a guard said."""

    guard: str
    passed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRow:
    """One step of a session."""

    step: int | None
    """LangGraph's number of the checkpoint; None when it was not written."""
    checkpoint: str
    """Its id; empty when it was not written."""
    at_s: float
    """When it was written, in seconds since the epoch."""
    run: str
    run_no: int
    """The run's number in the session, from 1."""
    branch: str
    state: str
    """Path of the state the step began in; empty for an input."""
    activation: int
    event: str
    """What happened: `start`, `ask`, `answer`, or an event of the chart."""
    taken: tuple[str, ...]
    """The transitions, as `FROM -> TO`."""
    verdicts: tuple[GuardVerdict, ...]
    changed: tuple[str, ...]
    """The state keys that were written."""
    status: str
    """One of the status words, after the step."""
    path: tuple[str, ...]
    """The active state paths, after the step."""
    calls: tuple[Entry, ...] = ()
    """The calls made in it, in the order in which they were begun."""

    @property
    def turns(self) -> int:
        """Model calls."""
        return sum(call.kind == "model" for call in self.calls)

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return sum(call.tokens_in + call.tokens_out for call in self.calls)

    @property
    def usd(self) -> float:
        """Money."""
        return sum(call.usd for call in self.calls)


def timeline(
    graph: ChartGraph, *, database: Database, session: str, branch: str | None = None
) -> tuple[TimelineRow, ...]:
    """Read what happened on a branch of a session, the oldest first.

    Args:
        graph: The chart, attached to the database.
        database: Where its journal is.
        session: The session's id.
        branch: The branch; None for the one the session is on.

    Returns:
        A row for each checkpoint that a step wrote, and one for each activation with calls and no checkpoint.

    Raises:
        NotExpected: The session has no such branch.
    """
    return past(graph, database=database, session=session).rows(branch=branch)


def past(graph: ChartGraph, *, database: Database, session: str) -> Past:
    """Read all that happened in a session, on whatever branch.

    Args:
        graph: The chart, attached to the database.
        database: Where its journal is.
        session: The session's id.
    """
    checkpoints = kept(graph, {"configurable": {"thread_id": session}})
    return Past(session=session, checkpoints=checkpoints, entries=database.journal.entries(session))


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """All that is stored of the steps of a session."""

    session: str
    checkpoints: tuple[Kept, ...]
    """The newest first."""
    entries: tuple[Entry, ...]
    """The journal."""

    def rows(self, *, branch: str | None = None, head: str = "") -> tuple[TimelineRow, ...]:
        """Return what happened on a branch, the oldest first.

        Args:
            branch: The branch; None for the one the session is on.
            head: Id of the last checkpoint that is wanted; the branch's last one when it is empty.

        Returns:
            A row for each checkpoint that a step wrote, and one for each activation with calls and no checkpoint.

        Raises:
            NotExpected: The session has no such branch.
        """
        if not self.checkpoints:
            return ()
        head = head or self._head(branch)
        rows = [row for one in _line(self.checkpoints, head=head) if (row := _row(one)) is not None]
        return _joined(rows[::-1], self.entries)

    def _head(self, branch: str | None) -> str:
        latest = self.checkpoints[0]
        if branch is None:
            return latest.id
        return branch_named(branch, known=branches_in(latest.control, head=latest.id), session=self.session).head


def _line(checkpoints: Sequence[Kept], *, head: str) -> Iterator[Kept]:
    """Go back from a checkpoint over those it came from."""
    by_id = {one.id: one for one in checkpoints}
    while head in by_id:
        yield by_id[head]
        head = by_id[head].parent


def _row(found: Kept) -> TimelineRow | None:
    """Return None for the checkpoint of a bare input: the step after it tells it."""
    control = found.control
    if not control or found.source == "input":
        return None
    last: dict[str, Any] = control.get("last") or {}
    run: dict[str, Any] = control["run"]
    return TimelineRow(
        step=found.step,
        checkpoint=found.id,
        at_s=found.at_s,
        run=run["id"],
        run_no=run["no"],
        branch=control.get("branch") or MAIN_BRANCH,
        state=last.get("state") or "",
        activation=last.get("activation") or 0,
        event=last.get("event") or "",
        taken=tuple(last.get("taken") or ()),
        verdicts=tuple(GuardVerdict(guard=guard, passed=passed) for guard, passed in last.get("verdicts") or ()),
        changed=tuple(last.get("changed") or ()),
        status=control["status"],
        path=tuple(control["at"]),
    )


def _joined(rows: Sequence[TimelineRow], entries: Iterable[Entry]) -> tuple[TimelineRow, ...]:
    places: dict[_Place, list[int]] = {}
    for number, row in enumerate(rows):
        places.setdefault((row.run, row.branch, row.state, row.activation), []).append(number)
    told: dict[int, list[Entry]] = {}
    open_calls: dict[_Place, list[Entry]] = {}
    last = rows[-1].branch if rows else MAIN_BRANCH
    for entry in entries:
        if not entry.tries:
            continue  # inherited: it was made on another branch, and is told there
        place = (entry.key.run, entry.key.branch, entry.key.path, entry.key.activation)
        later = [number for number in places.get(place, ()) if rows[number].at_s >= entry.started_at]
        if later:
            told.setdefault(later[0], []).append(entry)
        elif entry.key.branch == last:
            open_calls.setdefault(place, []).append(entry)
    committed = [replace(row, calls=tuple(told.get(number, ()))) for number, row in enumerate(rows)]
    numbers = {row.run: row.run_no for row in rows}
    return (*committed, *(_open_row(calls, run_no=numbers.get(calls[0].key.run, 0)) for calls in open_calls.values()))


def _open_row(calls: Sequence[Entry], *, run_no: int) -> TimelineRow:
    key = calls[0].key
    return TimelineRow(
        step=None,
        checkpoint="",
        at_s=max(call.ended_at or call.started_at for call in calls),
        run=key.run,
        run_no=run_no,
        branch=key.branch,
        state=key.path,
        activation=key.activation,
        event=UNCOMMITTED,
        taken=(),
        verdicts=(),
        changed=(),
        status="running",
        path=(key.path,),
        calls=tuple(calls),
    )
