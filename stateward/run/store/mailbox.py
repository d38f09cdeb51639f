"""The mailbox: events that were sent to a session while somebody else runs it.

Who runs the session takes them one by one, in the order in which they were posted. That each is taken exactly once is
not the row's doing: the control channel of the checkpoint carries the number of the last one taken, and is committed
together with the step that took it. The row's status tells people what became of it.

Whoever waits for letters watches (`watch.py`): a letter posted through the same database object wakes it at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from stateward.errors import RunError
from stateward.run.store.audit_log import AuditLog
from stateward.run.store.cipher import TextCipher
from stateward.run.store.connection import Connection, persistent
from stateward.run.store.cursor import Cursor
from stateward.run.store.json_text import read_sealed, write_json
from stateward.run.store.lease import check_fence
from stateward.run.store.owner import refuse_unknown
from stateward.run.store.watch import Watch, Watches
from stateward.run.threads import Threads

Status = Literal["posted", "taken", "refused", "moved"]
"""`posted`: its turn has not come; `taken`: a transition took it; `refused`: none did; `moved`: it has another number
now, which is in `note`, since a letter behind it was taken first. `get` and `list` show it under that number alone."""

_COLUMNS = "session, no, event, data, posted_at, by, status, at, note"
_POST = f"INSERT INTO stateward_mailbox ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, 'posted', '', '')"


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """One event sent to a session."""

    session: str
    no: int
    """Counts the session's letters, from 1; it grows when the letter keeps waiting and one behind it was taken."""
    event: str
    data: Any
    """JSON, or None."""
    posted_at: float
    """Seconds since the epoch."""
    by: str
    """Who sent it; empty when nobody said."""
    status: Status
    at: str
    """The states the session was in when its turn had come, joined by commas; empty before."""
    note: str
    """Why it was refused."""


class Mailbox:
    """The letters of one database.

    Args:
        connection: The database.
        audit: Where it is recorded who sent what.
        threads: Where a watch looks at the database.
    """

    def __init__(self, connection: Connection, *, audit: AuditLog, threads: Threads) -> None:
        self._connection = connection
        self._audit = audit
        self._threads = threads
        self._watches = Watches()

    @persistent
    def post(self, session: str, event: str, data: object = None, *, by: str = "") -> Letter:
        """Leave an event for whoever runs the session; the caller has checked its name and data.

        Args:
            session: The session's id.
            event: The event's name.
            data: JSON, or None.
            by: Who sends it.

        Returns:
            The letter with its number.

        Raises:
            UnknownSession: There is no such session.
            CodecError: The data is no JSON.
        """
        text = None if data is None else write_json(data, where=f"event `{event}`")
        cipher = self._connection.cipher
        with self._connection.transaction(session) as cur:
            refuse_unknown(cur, session, where=self._connection.label)
            last, now = _last(cur, session), self._connection.now()
            ours = self._connection.repeated and last is not None and last[1:] == (event, now, by)
            no = (last[0] if last else 0) + (not ours)
            if text is not None:
                text = cipher.seal_text(text, *place_of_letter(session, no, "data"))
            if not ours:  # else the first try posted it, and its answer was lost
                cur.execute(_POST, (session, no, event, text, now, by))
                self._audit.append({"event": "posted", "session": session, "no": no, "name": event, "by": by})
        self.ring(session)
        return Letter(
            session=session, no=no, event=event, data=data, posted_at=now, by=by, status="posted", at="", note=""
        )

    @persistent
    def get(self, session: str, no: int) -> Letter:
        """Read one letter.

        Args:
            session: The session's id.
            no: The letter's number, also one that it had before.

        Raises:
            RunError: The session has no such letter.
        """
        with self._connection.read() as cur:
            row = _row(cur, session, no)
        if row is None:
            raise RunError(f"Session `{session}` has no letter {no}", where=self._connection.label)
        return _letter(row, cipher=self._connection.cipher)

    @persistent
    def list(self, session: str) -> tuple[Letter, ...]:
        """Read all letters of a session, in the order in which they were posted.

        Args:
            session: The session's id.
        """
        with self._connection.read() as cur:
            cur.execute(
                f"SELECT {_COLUMNS} FROM stateward_mailbox WHERE session = ? AND status <> 'moved' ORDER BY no",
                (session,),
            )
            return tuple(_letter(row, cipher=self._connection.cipher) for row in cur.fetchall())

    @persistent
    def after(self, session: str, no: int, *, upto: int | None = None) -> tuple[Letter, ...]:
        """Read the letters whose turn has not come, in their order.

        What a later checkpoint took stays taken: a call that begins at an earlier one does not get it again.

        Args:
            session: The session's id.
            no: The last number that was taken, from the control channel (`Control.mail`).
            upto: The last number that is wanted; None for all.
        """
        with self._connection.read() as cur:
            cur.execute(
                f"SELECT {_COLUMNS} FROM stateward_mailbox WHERE session = ? AND no > ?"
                " AND status NOT IN ('moved', 'refused')"
                " AND no > (SELECT mail FROM stateward_sessions WHERE id = ?) ORDER BY no",
                (session, no, session),
            )
            rows = cur.fetchall()
        return tuple(_letter(row, cipher=self._connection.cipher) for row in rows if upto is None or row[1] <= upto)

    @persistent
    def refuse(self, session: str, no: int, *, at: str, note: str, fence: int | None = None) -> None:
        """Tell that no transition took a letter when its turn came; it is not shown to the session again.

        Args:
            session: The session's id.
            no: The letter's number.
            at: The states it met, joined by commas.
            note: Why, for who sent it.
            fence: The writer's fencing token; None when the session is not leased.

        Raises:
            StaleFence: The session was taken over.
            SessionBusy: The writer has no token, and someone holds the session.
        """
        with self._connection.transaction(session) as cur:
            check_fence(cur, session=session, fence=fence, now=self._connection.now())
            row = _row(cur, session, no)
            no = no if row is None else row[1]
            cur.execute(
                "UPDATE stateward_mailbox SET status = 'refused', at = ?, note = ?"
                " WHERE session = ? AND no = ? AND status = 'posted'",
                (at, _note(note, session, no, cipher=self._connection.cipher), session, no),
            )
            if cur.rowcount:
                self._audit.append({"event": "refused", "session": session, "no": no, "at": at, "note": note})
        self.ring(session)

    @persistent
    def put_behind(self, session: str, nos: Sequence[int], *, upto: int, fence: int | None = None) -> None:
        """Let letters keep waiting although a later one is taken: all that wait get new numbers, in their order.

        What a checkpoint says of the mailbox is one number, the last one taken; so what waits is behind it. Nothing is
        lost if that checkpoint never comes: the letters wait under their new numbers.

        Args:
            session: The session's id.
            nos: The letters that were passed over.
            upto: The last number that is taken.
            fence: The writer's fencing token; None when the session is not leased.

        Raises:
            StaleFence: The session was taken over.
            SessionBusy: The writer has no token, and someone holds the session.
        """
        with self._connection.transaction(session) as cur:
            check_fence(cur, session=session, fence=fence, now=self._connection.now())
            cur.execute(
                f"SELECT {_COLUMNS} FROM stateward_mailbox WHERE session = ? AND status = 'posted' ORDER BY no",
                (session,),
            )
            waiting = [row for row in cur.fetchall() if row[1] in nos or row[1] > upto]
            last = _last(cur, session)
            for number, row in enumerate(waiting, start=last[0] + 1 if last else 1):
                cur.execute(
                    "UPDATE stateward_mailbox SET status = 'moved', note = ? WHERE session = ? AND no = ?",
                    (str(number), session, row[1]),
                )
                cur.execute(_POST, (session, number, row[2], self._moved(row, to=number), *row[4:6]))

    def _moved(self, row: tuple[Any, ...], *, to: int) -> str | None:  # one row of `_COLUMNS`
        """The data of a letter that gets another number, sealed for its new place."""
        session, no, cipher = row[0], row[1], self._connection.cipher
        if row[3] is None:
            return None
        return cipher.seal_text(
            cipher.open_text(row[3], *place_of_letter(session, no, "data")), *place_of_letter(session, to, "data")
        )

    # -- waking -----------------------------------------------------------------------------------------

    def watch(self, session: str) -> Watch:
        """Watch for letters, in a running event loop; use it in an `async with` block.

        Args:
            session: The session's id.

        Returns:
            The watch.
        """
        return Watch(self._watches, session, connection=self._connection, threads=self._threads)

    def ring(self, session: str) -> None:
        """Wake the watches of a session in this process, from any thread.

        Args:
            session: The session's id.
        """
        self._watches.ring(session)


def take(cur: Cursor, *, session: str, no: int, at: str) -> None:
    """Tell people that letters were taken; call it in the transaction of the checkpoint that says so.

    Args:
        cur: A cursor in the transaction.
        session: The session's id.
        no: The last number taken, as the checkpoint's control channel has it.
        at: The states the session is in now, joined by commas.
    """
    cur.execute(
        "UPDATE stateward_mailbox SET status = 'taken', at = ? WHERE session = ? AND no <= ? AND status = 'posted'",
        (at, session, no),
    )


def _row(cur: Cursor, session: str, no: int) -> tuple[Any, ...] | None:  # one row of `_COLUMNS`
    """Find a letter by a number it has or had."""
    while True:
        cur.execute(f"SELECT {_COLUMNS} FROM stateward_mailbox WHERE session = ? AND no = ?", (session, no))
        row = cur.fetchone()
        if row is None or row[6] != "moved":
            return row
        no = int(row[8])


def _last(cur: Cursor, session: str) -> tuple[int, str, float, str] | None:
    """Number, event, time and sender of the letter that was posted last."""
    return cur.execute(
        "SELECT no, event, posted_at, by FROM stateward_mailbox WHERE session = ? ORDER BY no DESC LIMIT 1", (session,)
    ).fetchone()


def _note(note: str, session: str, no: int, *, cipher: TextCipher) -> str:
    return cipher.seal_text(note, *place_of_letter(session, no, "note")) if note else ""


def place_of_letter(session: str, no: int, column: str) -> tuple[object, ...]:
    """Return where a sealed column stands, as the cipher is told.

    Args:
        session: The session's id.
        no: The letter's number.
        column: The column's name.
    """
    return ("mailbox", session, no, column)


def _letter(row: tuple[Any, ...], *, cipher: TextCipher) -> Letter:  # one row of `_COLUMNS`
    return Letter(
        session=row[0],
        no=row[1],
        event=row[2],
        data=read_sealed(row[3], *place_of_letter(row[0], row[1], "data"), cipher=cipher),
        posted_at=row[4],
        by=row[5],
        status=row[6],
        at=row[7],
        note=cipher.open_text(row[8], *place_of_letter(row[0], row[1], "note")) if row[8] else "",
    )
