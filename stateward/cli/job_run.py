"""Running a job: the items of a file, grouped by session, many sessions at once over one compiled graph."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from stateward.cli import options
from stateward.cli.display import Display
from stateward.cli.driving import drive, told
from stateward.cli.outcome import FAILING, outcome_at
from stateward.cli.stop import Stop, Stopped
from stateward.errors import NotExpected, RunError, UnknownSession
from stateward.job import BadRow, Job
from stateward.migration import akeep
from stateward.run.checkpoint import CHANNEL, TERMINAL
from stateward.run.conversation import OnDrift
from stateward.run.graph import ChartGraph
from stateward.run.session import Outcome, Session
from stateward.run.store.database import Database

Row = Mapping[str, object]
LATER = "not delivered: the session existed before; use --resume"


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The items of one session, in the order of the file."""

    session: str
    items: tuple[tuple[int, Any], ...]
    """Number among all items, and the item: its type is the job's own affair."""
    known: bool
    """Whether the session was begun before this command."""
    unfinished: bool
    """Whether its last run did not end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a job has to do."""

    batches: tuple[Batch, ...]
    bad: tuple[BadRow, ...]


@dataclass(slots=True, kw_only=True)
class Report:
    """What a job did so far."""

    rows: dict[int, Row] = field(default_factory=dict[int, Row])
    """The table, by the number of the item."""
    done: int = 0
    """Sessions that came to rest."""
    begun: int = 0
    """Sessions that were taken up."""
    stopped: bool = False

    @property
    def table(self) -> list[Row]:
        """The rows in the order of the file."""
        return [self.rows[number] for number in sorted(self.rows)]


def plan_job(job: Job[Any], items: Iterable[Any], *, database: Database) -> Plan:
    """Group items by session and look up what is known of these.

    Args:
        job: The job.
        items: What it read.
        database: Where sessions are.

    Returns:
        The plan, sessions in the order of their first items.
    """
    groups: dict[str, list[tuple[int, Any]]] = {}
    bad: list[BadRow] = []
    for number, item in enumerate(items):
        if isinstance(item, BadRow):
            bad.append(item)
        else:
            groups.setdefault(job.session(item), []).append((number, item))
    batches = tuple(_batch(session, items, database=database) for session, items in groups.items())
    return Plan(batches=batches, bad=tuple(bad))


def _batch(session: str, items: Sequence[tuple[int, Any]], *, database: Database) -> Batch:
    try:
        row = database.sessions.get(session)
    except UnknownSession:
        return Batch(session=session, items=tuple(items), known=False, unfinished=False)
    # A row without a run is a lease from before the first checkpoint: nothing of the session exists.
    begun = bool(row.run)
    return Batch(session=session, items=tuple(items), known=begun, unfinished=begun and row.status == "running")


def refuse_unfinished(plan: Plan, *, advice: str) -> None:
    """Stop before anything runs when some sessions are in the middle of a run.

    Args:
        plan: The plan.
        advice: The command that resumes.

    Raises:
        RunError: There are such sessions.
    """
    found = [batch.session for batch in plan.batches if batch.unfinished]
    if found:
        names = ", ".join(f"`{name}`" for name in found[:5]) + (", …" if len(found) > 5 else "")
        raise RunError(
            f"{len(found)} of {len(plan.batches)} sessions are unfinished, so nothing was begun: {names}",
            fix=f"Go on with `{advice}`, or take another database with --db.",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _End:
    """What became of one message."""

    outcome: Outcome
    """Where its session stood afterwards."""
    now: Outcome | None = None
    """Where the session stands, when later messages were delivered since."""
    error: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """What the workers of a job share."""

    graph: ChartGraph
    """Attached to the database."""
    database: Database
    job: Job[Any]
    resume: bool
    drift: OnDrift
    display: Display
    stop: Stop
    report: Report

    async def run(self, plan: Plan, *, concurrency: int) -> Report:
        """Run all sessions.

        Args:
            plan: What to do.
            concurrency: How many sessions at once, from 1.

        Returns:
            What was done; `stopped` when a stop came first.
        """
        waiting = deque(plan.batches)
        workers = [asyncio.create_task(self._work(waiting)) for _ in range(min(concurrency, len(waiting)))]
        if workers:
            await self.stop.finish(workers)
        self.report.stopped = self.report.done < len(plan.batches)
        return self.report

    async def _work(self, waiting: deque[Batch]) -> None:
        while waiting and not self.stop.requested:
            batch = waiting.popleft()
            self.report.begun += 1
            self.display.begin(batch.session)
            outcome = await self._session(batch)
            self.report.done += 1
            self.display.end(batch.session, status=outcome.status, state=outcome.path)

    async def _session(self, batch: Batch) -> Outcome:
        who = options.person(None)
        session = Session(batch.session, self.graph, self.database, user=who, drift=self.drift)
        outcome = Outcome(session=batch.session, status="new", path="", values={})
        ends: list[_End] = []
        try:
            outcome = await self._caught_up(session)
        except Stopped:
            raise
        except Exception as error:  # noqa: BLE001  # told in the rows
            outcome = await self._after(session, outcome)
            ends = [_End(outcome=outcome, error=told(error)) for _ in batch.items]
        for place in range(len(ends), len(batch.items)):
            ends.append(await self._item(session, batch, place=place, outcome=outcome))
            outcome = ends[-1].now or ends[-1].outcome
        for (number, item), end in zip(batch.items, ends, strict=True):
            # A message whose own run has ended tells that end; the others tell where the session stands.
            of_its_own = end.outcome.status in TERMINAL or end.error
            self.report.rows[number] = self._row(item, end.outcome if of_its_own else outcome, end=end)
        return _failed(outcome) if any(end.error for end in ends) else outcome

    async def _caught_up(self, session: Session) -> Outcome:
        """Finish what was begun before: a run that a crash cut off, or one whose asks are answered by now."""
        outcome = await asyncio.to_thread(session.outcome)
        if not self.resume or not (outcome.status == "running" or self._answered(outcome)):
            return outcome
        return await self._drive(session, None)

    def _answered(self, outcome: Outcome) -> bool:
        asks = [self.database.asks.get(ask) for ask in outcome.asks]
        return outcome.status == "waiting" and bool(asks) and all(ask.status != "open" for ask in asks)

    async def _item(self, session: Session, batch: Batch, *, place: int, outcome: Outcome) -> _End:
        item = batch.items[place][1]
        if self._seen(item, outcome):
            following = batch.items[place + 1][1] if place + 1 < len(batch.items) else None
            if following is None or not self._seen(following, outcome):
                return _End(outcome=outcome)
            return _End(outcome=await asyncio.to_thread(self._before, session, following, outcome), now=outcome)
        if batch.known and not self.resume:
            return _End(outcome=outcome, note=LATER)
        try:
            fence, outcome = await asyncio.to_thread(_look, session)
            if self._seen(item, outcome):
                return _End(outcome=outcome)
            return _End(outcome=await self._drive(session, self.job.input(item), after=fence))
        except Stopped:
            raise
        except Exception as error:  # noqa: BLE001  # told in the row
            after = await self._after(session, outcome)
            if isinstance(error, NotExpected) and after.status == "waiting":
                return _End(outcome=after, note=f"not delivered yet, the session waits: {told(error)}")
            return _End(outcome=after, error=told(error))

    def _seen(self, item: Any, outcome: Outcome) -> bool:
        return outcome.status != "new" and self.job.seen(item, outcome.values)

    def _before(self, session: Session, following: Any, now: Outcome) -> Outcome:
        """Find where a session stood before the message that followed was delivered; it was at rest then."""
        for snapshot in session.graph.get_state_history(session.config):
            values = cast("Mapping[str, Any]", snapshot.values or {})
            if CHANNEL not in values or self.job.seen(following, values):
                continue
            before = outcome_at(session.id, values)
            if before.status != "running":
                return before
        return now

    async def _drive(self, session: Session, given: object, *, after: int | None = None) -> Outcome:
        return await drive(
            await akeep(session) if self.drift == "keep" else session,
            given,
            stop=self.stop,
            moved=lambda state: self.display.move(session.id, state=state),
            after=after,
        )

    async def _after(self, session: Session, before: Outcome) -> Outcome:
        """Read where a session stands after an error; when even that fails, where it stood before."""
        try:
            return await asyncio.to_thread(session.outcome)
        except Exception:  # noqa: BLE001  # the first error is the one to tell
            return before

    def _row(self, item: Any, outcome: Outcome, *, end: _End) -> Row:
        error = end.error
        try:
            row = dict(self.job.row(item, outcome))
        except Exception as broken:  # noqa: BLE001  # told in the row
            row = {"id": outcome.session, "state": outcome.path}
            error = error or f"its row cannot be made: {told(broken)}"
        row.setdefault("status", outcome.status)
        if error:
            return {**row, "status": "failed", "error": error}
        return {**row, "note": end.note} if end.note else row


def _look(session: Session) -> tuple[int, Outcome]:
    """Read the fence, then the state: whoever takes the session in between makes the fence stale."""
    row = session.row()
    return row.fence if row else 0, session.outcome()


def count_failed(rows: Iterable[Row]) -> int:
    """Count the rows that make the exit code 1.

    Args:
        rows: The table.
    """
    return sum(row.get("status") in FAILING for row in rows)


def _failed(outcome: Outcome) -> Outcome:
    return outcome if outcome.status in TERMINAL else replace(outcome, status="failed")
