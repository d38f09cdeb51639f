"""What our tables know of a session, under the names of the new definition: calls, questions, and what was spent.

A migrated run goes on on a branch of its own, as a fork does. The name of the branch is part of the key of every call,
so nothing of the old branch is changed or meant by mistake. The activities that have not ended take their calls along,
so that no effect is run again; the questions that stand open are put under their new names, and an answer that was
given stays given. What was spent of a limit is spent under the new name of its state as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stateward.govern.person import is_among, people
from stateward.govern.ruling import Ruling
from stateward.run.checkpoint import MAIN_BRANCH, Control, Json
from stateward.run.migration import Line, Migration
from stateward.run.plan import Machine
from stateward.run.store.ask import Ask, AskStatus, ask_id
from stateward.run.store.cursor import Cursor
from stateward.run.store.database import Database
from stateward.run.store.entry import COLUMNS, CallKey, Entry, closing_values, opening_values

_INSERT = f"INSERT INTO stateward_journal ({COLUMNS}) VALUES ({', '.join('?' * 22)})"
_SPENT = "SELECT scope, unit, spent + reserved FROM stateward_ledger WHERE session = ? AND run = ?"
_SPEND = """
INSERT INTO stateward_ledger AS old (session, run, scope, unit, spent, reserved) VALUES (?, ?, ?, ?, ?, 0)
ON CONFLICT (session, run, scope, unit) DO UPDATE SET spent = excluded.spent
WHERE old.spent < excluded.spent
"""
_LIMITS = "SELECT scope, unit, value, by, reason, at FROM stateward_limits WHERE session = ? AND run = ?"
_LIMIT = """
INSERT INTO stateward_limits (session, run, scope, unit, value, by, reason, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (session, run, scope, unit) DO NOTHING
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """What our tables are to learn."""

    asks: Mapping[str, Ask]
    """Id of a question to the one that stands for it."""
    withdrawn: Mapping[str, str]
    """Id of a question that is taken back to the new path of its state."""
    calls: tuple[tuple[Entry, CallKey], ...]
    """The calls that the run takes along, each with its new key."""
    scopes: Mapping[str, str]
    """Old scope of a limit to the new one, where they differ."""
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """From where to where the records of a run are moved."""

    database: Database
    machine: Machine
    migration: Migration
    raw: Mapping[str, Any]
    """The old control."""
    control: Control
    """The new one, before it has a branch of its own."""
    session: str
    branch: str
    """The new branch."""

    def records(self) -> Records:
        """Read what is to be moved."""
        lines: list[Line] = []
        asks, withdrawn = self._asks(lines)
        calls = self._calls(lines)
        return Records(asks=asks, withdrawn=withdrawn, calls=calls, scopes=self._scopes(lines), lines=tuple(lines))

    def _key(self, old: CallKey | Ask, path: str) -> CallKey:
        """Until a run has entered its chart, nothing counts its activations, and none is meant but the first."""
        number = self.control.configuration.activation(self.machine.chart.by_path[path]) or old.activation
        return CallKey(
            session=self.session, run=old.run, branch=self.branch, path=path, activation=number, call=old.call
        )

    def _asks(self, lines: list[Line]) -> tuple[dict[str, Ask], dict[str, str]]:
        again: dict[str, Ask] = {}
        withdrawn: dict[str, str] = {}
        open_asks: Mapping[str, Sequence[str]] = self.raw.get("asks") or {}
        for old_path, ids in open_asks.items():
            path = str(self.migration.state(old_path))
            found = [self.database.asks.get(ask) for ask in ids]
            # A state is entered again as a whole: one question that goes takes the others with it.
            goes = any(ask.tool in self.migration.withdraw for ask in found)
            for ask in found:
                if goes:
                    withdrawn[ask.id] = path
                    lines.append(
                        Line(kind="ask", name=ask.id, note=f"`{ask.tool}`: taken back; `{path}` may ask anew.")
                    )
                elif (misfit := self._misfit(ask, path)) is not None:
                    lines.append(misfit)
                else:
                    again[ask.id] = new = self._again(ask, path)
                    lines.append(Line(kind="ask", name=ask.id, to=new.id, note=_about(ask, new)))
        return again, withdrawn

    def _again(self, ask: Ask, path: str) -> Ask:
        """The question under its new name; the new policy says who may answer, and who might have."""
        key = self._key(ask, path)
        status: AskStatus = "answered" if ask.status == "answered" else "open"
        new = replace(
            ask,
            id=ask_id(key, ask.fingerprint),
            branch=self.branch,
            path=path,
            activation=key.activation,
            status=status,
        )
        if ask.kind != "approve":
            return new
        ruling = self.machine.plans[self.machine.chart.by_path[path]].effective.level(ask.tool)
        new = replace(new, approvers=ruling.approvers or (), approvals=ruling.approvals)
        if ask.decision != "approve" or _is_enough(ask, ruling):
            return new
        return new.unanswered()

    def _misfit(self, ask: Ask, path: str) -> Line | None:
        plan = self.machine.plans.get(self.machine.chart.by_path[path])
        if plan is not None and (plan.asks if ask.is_question else ask.tool in plan.tools):
            return None
        missing = "that it asks people" if ask.is_question else f"the tool `{ask.tool}`"
        lacks = "has no activity" if plan is None else f"does not declare {missing}"
        note = f'`{path}` {lacks} now, so nobody would wait for the answer: withdraw={{"{ask.tool}"}} takes it back.'
        if plan is None:
            note = f"`{path}` {lacks} now, so nobody would wait for the answer: name a state that has that work."
        return Line(kind="ask", name=ask.id, note=note, blocks=True)

    def _calls(self, lines: list[Line]) -> tuple[tuple[Entry, CallKey], ...]:
        branch, kept = self.raw.get("branch") or MAIN_BRANCH, list[tuple[Entry, CallKey]]()
        for entry in self.database.journal.entries(self.session, run=self.raw["run"]["id"]):
            key = entry.key
            if key.branch != branch or not self._is_open(key):
                continue
            path, name = self.migration.state(key.path), f"{entry.name} (call {key.call} of `{key.path}`)"
            if path is None or path not in self.machine.chart.by_path:
                note = f'It was made; declare what its state is called: states={{"{key.path}": "NEW"}}.'
                lines.append(Line(kind="call", name=name, note=note, blocks=True))
            elif entry.status == "started" and entry.effect != "pure":
                lines.append(Line(kind="call", name=name, note=_UNSETTLED, blocks=True))
            elif entry.status != "started":
                kept.append((entry, self._key(key, path)))
                lines.append(Line(kind="call", name=name, to=f"`{path}`", note=f"{entry.status}; not called again"))
        return tuple(kept)

    def _is_open(self, key: CallKey) -> bool:
        """Whether a call belongs to an activity that has not ended: all do, until the first step is committed."""
        at: Sequence[str] = self.raw["at"]
        counts: Mapping[str, int] = self.raw.get("entries") or {}
        return not at or (key.path in at and counts.get(key.path, 0) == key.activation)

    def _scopes(self, lines: list[Line]) -> dict[str, str]:
        with self.database.read() as cur:
            run = (self.session, self.raw["run"]["id"])
            used = {str(row[0]) for row in cur.execute(_SPENT, run).fetchall()}
            used |= {str(row[0]) for row in cur.execute(_LIMITS, run).fetchall()}
        moved = {
            scope: new for scope in sorted(used - {""}) if (new := self.migration.state(scope)) not in (None, scope)
        }
        lines.extend(
            Line(kind="fuse", name=old, to=str(new), note="what was spent counts on") for old, new in moved.items()
        )
        return {old: str(new) for old, new in moved.items()}


def _is_enough(ask: Ask, ruling: Ruling) -> bool:
    gave = people(each.by for each in ask.answers if ruling.approvers is None or is_among(each.by, ruling.approvers))
    return len(gave) >= ruling.approvals


def _about(old: Ask, new: Ask) -> str:
    who = f", for {', '.join(new.approvers)}" if new.approvers != old.approvers and new.approvers else ""
    lapsed = f"; what `{old.by}` said does not count" if old.status != new.status and old.by else ""
    return f"`{new.tool}` in `{new.path}`, {new.status}{who}{lapsed}"


_UNSETTLED = (
    "It was begun, and nobody knows whether it was done: resume the session with the definition that began it, so that "
    "the call is settled, or cancel the run."
)


def keep(records: Records, *, move: Move, fence: int | None) -> None:
    """Write the records of a migration, inside the caller's transaction.

    Args:
        records: What is written.
        move: Where.
        fence: The writer's fencing token.
    """
    database, session = move.database, move.session
    if records.asks:
        database.asks.create(tuple(records.asks.values()), fence=fence)
    if records.asks or records.withdrawn:
        database.asks.withdraw(session, (*records.asks, *records.withdrawn), fence=fence)
    with database.transaction(session) as cur:
        for entry, key in records.calls:
            _carry(cur, database, entry, key)
        _spend(cur, session, move.raw["run"], records.scopes)
        database.revocations.follow(cur, session, renamed=move.migration.state, named=move.migration.states)


def _carry(cur: Cursor, database: Database, entry: Entry, key: CallKey) -> None:
    """Let the journal know a call under another key; it cost nothing there, and was not tried.

    A question about a call of unknown end is about one try of it, so such a call keeps their number.
    """
    cipher = database.cipher  # the columns are sealed for their place
    result = database.journal.blobs.kept(cur, key.session, entry.result, where=key.place)
    known = replace(
        entry, key=key, result=result, charges=(), overrun={}, tokens_in=0, tokens_out=0, usd=0.0
    )  # fmt: skip
    opening, closing = opening_values(known, cipher=cipher), closing_values(known, cipher=cipher)
    tries = entry.tries if entry.status == "unknown" else 0
    cur.execute(_INSERT, (*opening[:11], *closing[:8], tries, entry.started_at, closing[8]))


def _spend(cur: Cursor, session: str, run: Json, scopes: Mapping[str, str]) -> None:
    """What was spent under the old names of a state is spent under its new one; the old count stays as it is."""
    if not scopes:
        return
    place, sums = (session, run["id"]), dict[tuple[str, str], int]()
    for scope, unit, spent in cur.execute(_SPENT, place).fetchall():
        if scope in scopes:
            sums[scopes[scope], unit] = sums.get((scopes[scope], unit), 0) + spent
    for (scope, unit), spent in sums.items():
        cur.execute(_SPEND, (*place, scope, unit, spent))
    for scope, *rest in cur.execute(_LIMITS, place).fetchall():
        if scope in scopes:
            cur.execute(_LIMIT, (*place, scopes[scope], *rest))
