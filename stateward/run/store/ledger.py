"""The ledger: what each run has spent and reserved, by scope and unit.

A reservation is an upper bound taken before the call; settling replaces it by what was spent. Amounts are
kept as whole billionths, so that ten times 0.1 is 1 and a limit is neither passed nor missed by rounding.
Rows are keyed by session and run, not by branch: a fork inherits what was spent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stateward.errors import GovernanceError
from stateward.govern.person import person
from stateward.run.store.audit_log import AuditLog
from stateward.run.store.connection import Connection, persistent
from stateward.run.store.cursor import Cursor
from stateward.run.store.lease import check_fence

BILLION = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """What a call may spend at most in one scope."""

    scope: str
    """Path of the state whose policy counts it; empty for the chart itself."""
    unit: str
    """What is counted: turns, usd, calls, or calls:<tool>."""
    amount: float
    """The upper bound, in units, from 0."""
    limit: float | None = None
    """What the scope may spend in this run; None when nothing limits it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tripped:
    """A reservation that would have passed its limit; nothing was written."""

    scope: str
    unit: str
    limit: float
    spent: float
    """Spent and reserved before the call."""
    asked: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What a session has used over all its runs, counted once per call."""

    calls: int
    turns: int
    tokens_in: int
    tokens_out: int
    usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """A reserved or spent amount of one call, in billionths of its unit."""

    scope: str
    unit: str
    billionths: int


def to_billionths(amount: float) -> int:
    """Turn an amount into whole billionths of its unit.

    Args:
        amount: Finite, from 0 to about 9e9.

    Returns:
        The nearest whole number.

    Raises:
        GovernanceError: The amount is negative, infinite, not a number or too large.
    """
    if not math.isfinite(amount) or amount < 0 or amount > 9e9:
        raise GovernanceError(
            f"An amount is {amount!r}, expected a number from 0 to 9e9",
            fix="Correct the estimate or the limit in the policy.",
        )
    return round(amount * BILLION)


def first_trip(
    asked: Mapping[tuple[str, str], int],
    *,
    used: Mapping[tuple[str, str], int],
    limits: Mapping[tuple[str, str], int],
) -> tuple[str, str] | None:
    """Find the first scope and unit that a call would drive past its limit.

    Args:
        asked: What the call reserves.
        used: What is spent and reserved.
        limits: The limits; a key that is absent has none.

    Returns:
        Scope and unit; None when all fit.
    """
    return next((key for key, more in asked.items() if key in limits and used.get(key, 0) + more > limits[key]), None)


def settled(charges: Sequence[Charge], *, spent: Mapping[str, float]) -> tuple[Charge, ...]:
    """Replace the charges of a call by what it spent.

    Args:
        charges: What was reserved, or charged before.
        spent: What was spent, by unit; a unit that is absent keeps its charge, a unit that was never
            reserved is charged to the chart itself.

    Returns:
        The new charges.

    Raises:
        GovernanceError: An amount is no finite number from 0.
    """
    new = {unit: to_billionths(amount) for unit, amount in spent.items()}
    kept = tuple(Charge(scope=c.scope, unit=c.unit, billionths=new.get(c.unit, c.billionths)) for c in charges)
    known = {charge.unit for charge in charges}
    extra = (Charge(scope="", unit=unit, billionths=n) for unit, n in new.items() if unit not in known)
    return (*kept, *extra)


def added(charges: Sequence[Charge], *, more: Sequence[Charge]) -> tuple[Charge, ...]:
    """Put further charges of a call onto those it has.

    Args:
        charges: What it has reserved.
        more: What it reserves besides.

    Returns:
        One charge for each scope and unit.
    """
    sums = {(charge.scope, charge.unit): charge.billionths for charge in charges}
    for charge in more:
        place = (charge.scope, charge.unit)
        sums[place] = sums.get(place, 0) + charge.billionths
    return tuple(Charge(scope=scope, unit=unit, billionths=n) for (scope, unit), n in sums.items())


def overrun(charges: Sequence[Charge], *, now: Sequence[Charge]) -> dict[str, float]:
    """Say by how much a call spent more than it had reserved.

    Args:
        charges: What was reserved.
        now: What was spent, from `settled`.

    Returns:
        The excess by unit, only where there is one and where something was reserved.
    """
    reserved = {charge.unit: charge.billionths for charge in charges}
    return {
        charge.unit: (charge.billionths - reserved[charge.unit]) / BILLION
        for charge in now
        if charge.billionths > reserved.get(charge.unit, 0) > 0
    }


class Ledger:
    """The ledger of one database.

    Args:
        connection: The database.
        audit: Where a raised limit is recorded.
    """

    def __init__(self, connection: Connection, *, audit: AuditLog) -> None:
        self._connection = connection
        self._audit = audit

    @persistent
    def spent(self, session: str, run: str) -> Mapping[tuple[str, str], float]:
        """Read what a run has used.

        Args:
            session: The session's id.
            run: The run's id.

        Returns:
            Spent and reserved together, by scope and unit.
        """
        with self._connection.read() as cur:
            return {key: n / BILLION for key, n in _used(cur, session=session, run=run).items()}

    @persistent
    def totals(self, session: str) -> Totals:
        """Add up what a session has used over all its runs.

        Args:
            session: The session's id.

        Returns:
            The sums over its journal, counted once per call and not once per scope.
        """
        with self._connection.read() as cur:
            cur.execute(
                "SELECT COUNT(CASE WHEN kind = 'tool' THEN 1 END),"
                " COUNT(CASE WHEN kind = 'model' THEN 1 END), COALESCE(SUM(tokens_in), 0),"
                " COALESCE(SUM(tokens_out), 0), COALESCE(SUM(usd), 0)"
                " FROM stateward_journal WHERE session = ?",
                (session,),
            )
            row = cur.fetchone()
        return Totals(calls=row[0], turns=row[1], tokens_in=int(row[2]), tokens_out=int(row[3]), usd=float(row[4]))

    @persistent
    def raise_limit(self, session: str, run: str, scope: str, unit: str, value: float, by: str, reason: str) -> None:
        """Set another limit for one run, in place of its policy's.

        Args:
            session: The session's id.
            run: The run's id.
            scope: Path of the state whose policy sets the limit.
            unit: What is counted.
            value: The new limit in units, from 0.
            by: The person who decides.
            reason: Why.

        Raises:
            GovernanceError: Nobody is named, or the value is no finite number from 0.
        """
        if not person(by):
            raise GovernanceError("A limit can only be changed by a named person", fix="Say who with `by`.")
        amount = to_billionths(value)
        record = {"event": "limit", "session": session, "run": run, "scope": scope, "unit": unit}
        sealed, now = self._connection.cipher.seal_text(reason, "limits", session), self._connection.now()
        with self._connection.transaction(session) as cur:
            cur.execute(
                "INSERT INTO stateward_limits (session, run, scope, unit, value, by, reason, at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (session, run, scope, unit) DO UPDATE"
                " SET value = excluded.value, by = excluded.by, reason = excluded.reason, at = excluded.at",
                (session, run, scope, unit, amount, by, sealed, now),
            )
            self._audit.append({**record, "value": value, "by": by, "reason": reason})

    @persistent
    def raised(self, session: str, run: str) -> Mapping[tuple[str, str], float]:
        """Read the limits that people set for a run.

        Args:
            session: The session's id.
            run: The run's id.

        Returns:
            The limits by scope and unit; they take the place of the policy's.
        """
        with self._connection.read() as cur:
            return {key: n / BILLION for key, n in _overrides(cur, session=session, run=run).items()}

    def limit_for(self, session: str, run: str, scope: str, unit: str) -> float | None:
        """Read the limit that a person set for one scope and unit of a run.

        Args:
            session: The session's id.
            run: The run's id.
            scope: Path of the state whose policy sets the limit.
            unit: What is counted.

        Returns:
            The limit in units; None when the policy's holds.
        """
        return self.raised(session, run).get((scope, unit))

    def reserve(
        self, cur: Cursor, *, session: str, run: str, reservations: Sequence[Reservation]
    ) -> Tripped | tuple[Charge, ...]:
        """Reserve all of a call's upper bounds, or none; call it in the transaction of the journal entry.

        Args:
            cur: A cursor in the transaction.
            session: The session's id.
            run: The run's id.
            reservations: The upper bounds; those of one scope and unit are added up.

        Returns:
            The charges, or the first limit that would be passed, and then nothing is written.

        Raises:
            GovernanceError: An amount or limit is no finite number from 0.
        """
        if not reservations:
            return ()
        asked, limits = _collect(reservations)
        limits.update(_overrides(cur, session=session, run=run))
        used = _used(cur, session=session, run=run)
        key = first_trip(asked, used=used, limits=limits)
        if key is not None:
            limit, before, more = (n / BILLION for n in (limits[key], used.get(key, 0), asked[key]))
            return Tripped(scope=key[0], unit=key[1], limit=limit, spent=before, asked=more)
        charges = tuple(Charge(scope=scope, unit=unit, billionths=n) for (scope, unit), n in asked.items())
        _add(cur, session=session, run=run, rows=[(c, 0, c.billionths) for c in charges])
        return charges

    @persistent
    def spend(
        self, session: str, run: str, amounts: Mapping[tuple[str, str], float], *, fence: int | None = None
    ) -> None:
        """Add what was spent beside the calls: working time. After a lost connection it may be added twice.

        Args:
            session: The session's id.
            run: The run's id.
            amounts: What was spent, by scope and unit.
            fence: The writer's fencing token; None when the session is not leased.

        Raises:
            StaleFence: The session was taken over.
        """
        spent = [Charge(scope=s, unit=u, billionths=to_billionths(amount)) for (s, u), amount in amounts.items()]
        with self._connection.transaction(session) as cur:
            check_fence(cur, session=session, fence=fence, now=self._connection.now())
            _add(cur, session=session, run=run, rows=[(charge, charge.billionths, 0) for charge in spent])

    def replace(
        self,
        cur: Cursor,
        *,
        session: str,
        run: str,
        old: Sequence[Charge],
        new: Sequence[Charge],
        reserved: bool,
    ) -> None:
        """Put what a call spent in the place of its charges; call it in the transaction of the journal entry.

        Args:
            cur: A cursor in the transaction.
            session: The session's id.
            run: The run's id.
            old: The charges so far.
            new: The charges from now on.
            reserved: Whether the old charges were reservations; otherwise they were spent.
        """
        out = [(c, 0, -c.billionths) if reserved else (c, -c.billionths, 0) for c in old]
        _add(cur, session=session, run=run, rows=out + [(c, c.billionths, 0) for c in new])

    def reopen(self, cur: Cursor, *, session: str, run: str, charges: Sequence[Charge]) -> None:
        """Turn what a call of unknown outcome was charged into a reservation again, because it is tried
        again.

        Args:
            cur: A cursor in the transaction.
            session: The session's id.
            run: The run's id.
            charges: What it was charged.
        """
        _add(cur, session=session, run=run, rows=[(c, -c.billionths, c.billionths) for c in charges])


def _collect(
    reservations: Sequence[Reservation],
) -> tuple[dict[tuple[str, str], int], dict[tuple[str, str], int]]:
    asked: dict[tuple[str, str], int] = {}
    limits: dict[tuple[str, str], int] = {}
    for item in reservations:
        key = (item.scope, item.unit)
        asked[key] = asked.get(key, 0) + to_billionths(item.amount)
        if item.limit is not None:
            limits[key] = min(to_billionths(item.limit), limits.get(key, 9 * BILLION * BILLION))
    return asked, limits


def _used(cur: Cursor, *, session: str, run: str) -> dict[tuple[str, str], int]:
    cur.execute(
        "SELECT scope, unit, spent + reserved FROM stateward_ledger WHERE session = ? AND run = ?",
        (session, run),
    )
    return {(row[0], row[1]): row[2] for row in cur.fetchall()}


def _overrides(cur: Cursor, *, session: str, run: str) -> dict[tuple[str, str], int]:
    cur.execute("SELECT scope, unit, value FROM stateward_limits WHERE session = ? AND run = ?", (session, run))
    return {(row[0], row[1]): row[2] for row in cur.fetchall()}


def _add(cur: Cursor, *, session: str, run: str, rows: Sequence[tuple[Charge, int, int]]) -> None:
    totals: dict[tuple[str, str], tuple[int, int]] = {}
    for charge, spent, reserved in rows:
        before = totals.get((charge.scope, charge.unit), (0, 0))
        totals[charge.scope, charge.unit] = (before[0] + spent, before[1] + reserved)
    cur.executemany(
        "INSERT INTO stateward_ledger AS old (session, run, scope, unit, spent, reserved) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (session, run, scope, unit)"
        " DO UPDATE SET spent = old.spent + excluded.spent, reserved = old.reserved + excluded.reserved",
        [(session, run, scope, unit, spent, held) for (scope, unit), (spent, held) in totals.items()],
    )
