"""What the files of a job or a session say: every end, effect, call, question and word, without what is random."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import stateward as sw
from graphs.support_desk import graph
from nodes.support_desk.shop import Shop
from stateward.run.graph import ChartGraph
from stateward.run.session import Outcome
from stateward.run.store.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStanding:
    """Where one session stands."""

    status: str
    path: str
    ends: tuple[tuple[str, tuple[str, ...]], ...]
    """Status and state of each terminal record."""
    row: tuple[str, int]
    """Status and number of the run, as the session row tells them."""
    values: str
    """The state's keys as JSON; of messages the type, the text and a customer's id."""
    heard: tuple[str, ...]
    """Ids of the customer's messages."""
    calls: tuple[tuple[str, str], ...]
    """Name and status of each call in the journal."""
    asks: tuple[tuple[str, str], ...]
    """Tool and status of each question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where everything stands."""

    sessions: Mapping[str, SessionStanding]
    effects: Mapping[str, int]
    """How often each effect happened: tool and arguments."""
    twice: int
    """Effects that happened more than once, under one key or under several."""

    @property
    def heard(self) -> Counter[str]:
        """How often each message was delivered."""
        return Counter(message for session in self.sessions.values() for message in session.heard)

    @property
    def unfinished(self) -> list[str]:
        """Sessions without exactly one end: a terminal record for each run, or all but one and it waits."""
        return [name for name, session in self.sessions.items() if not _rests(session)]


def _rests(session: SessionStanding) -> bool:
    status, run_no = session.row
    ends = run_no - 1 if status == "waiting" else run_no
    return status not in ("running", "failed") and session.status == status and len(session.ends) == ends


def look(place: Path, *, db: str | None = None) -> Standing:
    """Read the database and the shop in a folder, without changing them.

    Args:
        place: The folder.
        db: The URL of the database, when it is not in the folder.
    """
    with Shop(place / "shop.db") as shop, sw.open(db or f"sqlite:///{place / 'stateward.db'}") as database:
        rows = [row for row in database.sessions.list() if row.run]
        attached = graph.attach(database)
        return Standing(
            sessions={row.id: _session(row.id, attached, database) for row in rows},
            effects=Counter(f"{effect.tool} {_json(effect.arguments)}" for effect in shop.effects()),
            twice=len(shop.duplicates()) + len(shop.repeats()),
        )


def _session(name: str, attached: ChartGraph, database: Database) -> SessionStanding:
    outcome, row = sw.Session(name, attached, database).outcome(), database.sessions.get(name)
    with database.read() as cur:
        asked = cur.execute("SELECT tool, status FROM stateward_asks WHERE session = ? ORDER BY tool", (name,))
        asks = tuple((tool, status) for tool, status in asked.fetchall())
    return SessionStanding(
        status=outcome.status,
        path=outcome.path,
        ends=tuple((end.status, end.path) for end in database.sessions.terminals(name)),
        row=(row.status, row.run_no),
        values=_json(_told(outcome)),
        heard=tuple(message.id for message in outcome.values.get("messages", ()) if message.type == "human"),
        calls=tuple(sorted((entry.name, entry.status) for entry in database.journal.entries(name))),
        asks=asks,
    )


def _told(outcome: Outcome) -> dict[str, Any]:
    messages: Sequence[Any] = outcome.values.get("messages", ())
    # The id of our own answer is random; the customer's is the one it came with.
    said = [(message.type, message.content, message.id if message.type == "human" else "") for message in messages]
    return {**outcome.values, "messages": said}


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
