"""The calls that a database has of a session, as they were decided: made ones, refused ones and those in question.

Made calls are in the journal, in the order in which they were begun. Refusals are in the audit log; one stands behind
the calls that had been begun by then. Questions that nobody has answered stand at the end of their run.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

from stateward.govern.policy_replay import Recorded
from stateward.govern.policy_test import Outcome
from stateward.govern.request import CallKind
from stateward.run.store.ask import Ask
from stateward.run.store.audit_log import AuditRow
from stateward.run.store.charges import BILLION
from stateward.run.store.database import Database
from stateward.run.store.entry import Entry

_REFUSED: Mapping[str, Outcome] = {"denied": "deny", "fuse": "deny", "rejected": "ask"}
_ASKED = re.compile(r"`(?P<unit>usd|tokens)` in .*: \S+ spent, (?P<more>\S+) more asked")
"""How a limit says what a call would have cost; see `govern/charge.py`."""
_UNBOUNDED = "has no known bound"
_Place = tuple[str, str, str, int, int]
"""Run, branch, state, activation and call."""


def recorded_calls(database: Database, session: str, *, roles: Collection[str] = ()) -> tuple[Recorded, ...]:
    """Read the calls of a session.

    Args:
        database: Where it is; nothing is written.
        session: The session's id.
        roles: The names of the graph's models, by which refused model calls are told from tools.

    Returns:
        The calls, those of one run in their order.
    """
    record = _Record(
        entries=[each for each in database.journal.entries(session) if each.tries > 0 and each.kind != "ask"],
        rows=database.audit.rows(session),
        asks=[ask for ask in database.asks.of(session) if ask.kind == "approve"],
    )
    revoked = database.revocations.of(session)
    return tuple(
        replace(
            call,
            raised=record.raised(call.run, at),
            revoked=tuple(each for each in revoked if each.at <= at.time),
        )
        for at, call in record.calls(roles)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moment:
    """When a call was decided: by the clock, and before which record of the audit log."""

    time: float
    seq: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    """What is known of a session."""

    entries: Sequence[Entry]
    rows: Sequence[AuditRow]
    asks: Sequence[Ask]

    def calls(self, roles: Collection[str]) -> Iterator[tuple[_Moment, Recorded]]:
        """Yield the calls run by run, each with when it was decided."""
        for run in dict.fromkeys((*(e.key.run for e in self.entries), *(a.run for a in self.asks), *self._runs())):
            yield from self._calls_of(run, roles)

    def raised(self, run: str, at: _Moment) -> Mapping[tuple[str, str], float]:
        """The limits that a person had set anew by then."""
        raised: dict[tuple[str, str], float] = {}
        for row in self.rows:
            said = row.record
            if said.get("event") == "limit" and said.get("run") == run and row.seq < at.seq and _time(row) <= at.time:
                raised[said["scope"], said["unit"]] = said["value"]
        return raised

    def _runs(self) -> Iterator[str]:
        return (str(row.record["run"]) for row in self.rows if row.record.get("event") in _REFUSED)

    def _calls_of(self, run: str, roles: Collection[str]) -> Iterator[tuple[_Moment, Recorded]]:
        entries = [entry for entry in self.entries if entry.key.run == run]
        asks = {_place_of(ask): ask for ask in self.asks if ask.run == run}
        ends = self._ends(run)
        refused = list(self._refused(run))
        behind = deque((self._begun_before(row, entries, ends), row) for row in refused)
        for place, entry in enumerate((*entries, None)):
            while behind and behind[0][0] <= place:
                yield self._refusal(behind.popleft()[1], roles)
            if entry is not None:
                at = _Moment(time=entry.started_at, seq=ends.get(_key_of(entry), float("inf")))
                yield at, _made(entry, asked=_key_of(entry) in asks)
        known = {_key_of(entry) for entry in entries} | {_noted(row.record) for row in refused}
        for there, ask in asks.items():
            if there not in known:
                yield _Moment(time=ask.created_at, seq=float("inf")), _asked(ask)

    def _ends(self, run: str) -> dict[_Place, float]:
        """Where the audit log first says that a call has ended."""
        ends: dict[_Place, float] = {}
        for row in self.rows:
            if row.record.get("event") == "call" and row.record.get("run") == run:
                ends.setdefault(_noted(row.record), row.seq)
        return ends

    def _refused(self, run: str) -> Iterator[AuditRow]:
        """The refusals of a run, each once: an activity that is entered again makes the same calls again."""
        seen: set[tuple[object, ...]] = set()
        for row in self.rows:
            said = row.record
            if said.get("event") not in _REFUSED or said.get("run") != run:
                continue
            if (_noted(said), said["event"]) not in seen:
                seen.add((_noted(said), said["event"]))
                yield row

    def _begun_before(self, row: AuditRow, entries: Sequence[Entry], ends: Mapping[_Place, float]) -> int:
        """How many calls had been begun when one was refused."""
        begun = [
            place
            for place, entry in enumerate(entries, start=1)
            if ends.get(_key_of(entry), float("inf")) < row.seq or entry.started_at < _time(row)
        ]
        return max(begun, default=0)

    def _refusal(self, row: AuditRow, roles: Collection[str]) -> tuple[_Moment, Recorded]:
        said = row.record
        asked = _ASKED.search(str(said["reason"]))
        unbounded = _UNBOUNDED in str(said["reason"])
        more = {asked["unit"]: float(asked["more"])} if asked else {}
        kind: CallKind = "model" if said["name"] in roles and said["event"] != "rejected" else "tool"
        call = Recorded(
            session=row.session,
            run=said["run"],
            path=said["path"],
            activation=said["activation"],
            call=said["call"],
            kind=kind,
            name=said["name"],
            arguments=said["arguments"],
            before=_REFUSED[said["event"]],
            reason=str(said["reason"]),
            made=False,
            usd=None if unbounded else more.get("usd", 0.0),
            tokens=None if unbounded else int(more.get("tokens", 0)),
        )
        return _Moment(time=_time(row), seq=row.seq), call


def _made(entry: Entry, *, asked: bool) -> Recorded:
    amounts = {c.unit: c.billionths / BILLION for c in entry.charges if not c.scope}
    return Recorded(
        session=entry.key.session,
        run=entry.key.run,
        path=entry.key.path,
        activation=entry.key.activation,
        call=entry.key.call,
        kind="model" if entry.kind == "model" else "tool",
        name=entry.name,
        arguments=entry.arguments,
        before="ask" if asked else "allow",
        amounts=amounts,
        usd=amounts.get("usd", 0.0),
        tokens=int(amounts.get("tokens", entry.tokens_in + entry.tokens_out)),
    )


def _asked(ask: Ask) -> Recorded:
    return Recorded(
        session=ask.session,
        run=ask.run,
        path=ask.path,
        activation=ask.activation,
        call=ask.call,
        kind="tool",
        name=ask.tool,
        arguments=ask.arguments,
        before="ask",
        made=False,
    )


def _key_of(entry: Entry) -> _Place:
    key = entry.key
    return key.run, key.branch, key.path, key.activation, key.call


def _place_of(ask: Ask) -> _Place:
    return ask.run, ask.branch, ask.path, ask.activation, ask.call


def _noted(said: Mapping[str, Any]) -> _Place:
    return cast("_Place", tuple(said.get(key) for key in ("run", "branch", "path", "activation", "call")))


def _time(row: AuditRow) -> float:
    return datetime.fromisoformat(str(row.record["at"])).timestamp()
