"""What the tests of the database share: a clock that stands still, and one of everything a table holds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection
from typing import Any, Protocol

from stateward.run.store.ask import Ask
from stateward.run.store.charges import Reservation
from stateward.run.store.database import Database
from stateward.run.store.entry import CallKey, Entry
from stateward.run.store.saver import FencedSaver


@dataclass
class StillClock:
    """A clock that moves only when a test moves it."""

    time: float = 1_000.0

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time


class Fresh(Protocol):
    """Opens a fresh database of the kind the test is run over."""

    def __call__(self, clock: StillClock | None = None) -> Database: ...


def raw(database: Database) -> Connection:
    """The bare SQLite connection of a database."""
    saver = database.saver
    assert isinstance(saver, FencedSaver)
    return saver._sqlite.raw  # pyright: ignore[reportPrivateUsage]


def url(folder: Path) -> str:
    return f"sqlite:///{folder / 'state' / 'ward.db'}"


def key(call: int = 1, **other: Any) -> CallKey:
    parts: dict[str, Any] = {
        "session": "s",
        "run": "r1",
        "branch": "main",
        "path": "WORKING.ACT",
        "activation": 1,
        "call": call,
    }
    return CallKey(**(parts | other))


def entry(call: int = 1, *, effect: Any = "once", **other: Any) -> Entry:
    return Entry(
        key=key(call, **other),
        kind="tool",
        name="refund",
        fingerprint="f1",
        arguments={"order": "A1", "eur": 12.5},
        effect=effect,
    )


def ask(call: int = 1, **other: Any) -> Ask:
    parts: dict[str, Any] = {
        "key": key(call),
        "kind": "approve",
        "tool": "refund",
        "arguments": {"eur": 12.5},
        "fingerprint": "f1",
        "reason": "restricted",
    }
    return Ask.new(**(parts | other))


def bound(amount: float = 1, *, unit: str = "calls", scope: str = "WORKING", limit: float | None = 3) -> Reservation:
    return Reservation(scope=scope, unit=unit, amount=amount, limit=limit)


def control(status: str = "running", *, run: str = "r1", **other: Any) -> dict[str, Any]:
    hashes = {"chart": "c1", "policy": "p1", "schema": "s1"}
    parts: dict[str, Any] = {"v": 1, "status": status, "at": ["WORKING.ACT"], "reason": None, "branch": "main"}
    return parts | {"run": {"id": run, "no": 1, "mode": "strict", "hashes": hashes}} | other
