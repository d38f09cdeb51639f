"""The ledger: what each run has spent and reserved, by scope and unit.

A reservation is an upper bound taken before the call; settling replaces it by what was spent. Amounts are
kept as whole billionths, so that ten times 0.1 is 1 and a limit is neither passed nor missed by rounding.
Rows are keyed by session and run, not by branch: a fork inherits what was spent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stateward.errors import GovernanceError
from stateward.govern.person import person
from stateward.run.store.audit_log import AuditLog
from stateward.run.store.charges import BILLION, Charge, Reservation, Tripped, fitting, to_billionths
from stateward.run.store.connection import Connection, persistent
from stateward.run.store.cursor import Cursor
from stateward.run.store.lease import check_fence
from stateward.run.store.standing import read as standing_of

_ADD = (
    "INSERT INTO stateward_ledger AS old (session, run, scope, unit, spent, reserved) VALUES {values}"
    " ON CONFLICT (session, run, scope, unit)"
    " DO UPDATE SET spent = old.spent + excluded.spent, reserved = old.reserved + excluded.reserved"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What a session has used over all its runs, counted once per call."""

    calls: int
    turns: int
    tokens_in: int
    tokens_out: int
    usd: float


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
            return {key: n / BILLION for key, n in standing_of(cur, session=session, run=run).used.items()}

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
            return {key: n / BILLION for key, n in standing_of(cur, session=session, run=run).limits.items()}

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
        charges = fitting(reservations, standing=standing_of(cur, session=session, run=run))
        if not isinstance(charges, Tripped):
            self.hold(cur, session=session, run=run, charges=charges)
        return charges

    def hold(self, cur: Cursor, *, session: str, run: str, charges: Sequence[Charge]) -> None:
        """Keep what a call reserves from others; call it in the transaction in which `fitting` said that it may.

        Args:
            cur: A cursor in the transaction.
            session: The session's id.
            run: The run's id.
            charges: From `fitting`.
        """
        _add(cur, session=session, run=run, rows=[(c, 0, c.billionths) for c in charges])

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


def _add(cur: Cursor, *, session: str, run: str, rows: Sequence[tuple[Charge, int, int]]) -> None:
    totals: dict[tuple[str, str], tuple[int, int]] = {}
    for charge, spent, reserved in rows:
        place = (charge.scope, charge.unit)
        before = totals.get(place, (0, 0))
        totals[place] = (before[0] + spent, before[1] + reserved)
    # What changes nothing needs no row: most tools cost no money.
    changes = [(session, run, *place, *change) for place, change in totals.items() if change != (0, 0)]
    if changes:  # in one statement: over a network each is a way there and back
        values = ", ".join(["(?, ?, ?, ?, ?, ?)"] * len(changes))
        cur.execute(_ADD.format(values=values), [each for change in changes for each in change])
