"""A step of a session over PostgreSQL: one statement that takes the locks, looks at the session's row, and stores.

- A statement outside of a transaction is one: it arrives whole, and is committed or undone whatever becomes of its
  sender. A process that is stopped cannot stand in the middle of a step.
- The statement sees the database as it was when the statement began, and its locks may have kept it waiting since. So
  its guard locks the session's row: then PostgreSQL looks at the row's newest version, and asks the guard's conditions
  again. What is stored is stored under the same lock, or not at all.
- The rows are LangGraph's own: its saver writes them into a list instead of a database.

Source: the PostgreSQL manual, Read Committed Isolation Level, and Data-Modifying Statements in WITH.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import count as count_from

from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.serde.base import SerializerProtocol

from stateward.run.store.listing import Listing, ListingCursor

MOST = 24
"""How many rows of one table a step may store: each number of rows is a statement of its own, which is prepared."""

_INSERT = re.compile(r"\s*INSERT INTO (\w+) \(([\w, ]+)\)\s*VALUES \([%s, ]+\)\s*(ON CONFLICT [^;]*);?\s*")
_MARK = re.compile("%s|%%")
_TYPES = {"idx": "int4", "blob": "bytea", "checkpoint": "jsonb", "metadata": "jsonb"}
"""The types of LangGraph's columns that are not text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """What must be true of a session's row for a step to be stored."""

    statement: str
    """Ends in its conditions, and names the row once: `UPDATE … WHERE id = ?` or `SELECT … WHERE id = ?`."""
    parameters: tuple[object, ...]
    """What its `?` stand for."""
    ending: str
    """What keeps others from the row until the step is stored, and tells that there is one: `RETURNING 1` of an update,
    `FOR SHARE` of a select."""

    def and_also(self, condition: str, parameter: object) -> Guard:
        """Return a guard with one more condition.

        Args:
            condition: With one `?`.
            parameter: What it stands for.
        """
        return Guard(
            statement=f"{self.statement} AND {condition}",
            parameters=(*self.parameters, parameter),
            ending=self.ending,
        )


class Listed(Listing, PostgresSaver):
    """LangGraph's saver, which lists what it would store.

    Args:
        serde: Turns values into bytes.
    """

    def __init__(self, serde: SerializerProtocol) -> None:
        super().__init__(None, serde=serde)  # pyright: ignore[reportArgumentType]  # it is used in `_cursor` alone
        self.parts = []

    @property
    def is_one_step(self) -> bool:
        """Whether one statement can store what is listed.

        One row cannot be changed twice in a statement, and a statement is prepared for each number of rows.
        """
        return all(len(rows) <= _most(sql) for sql, rows in self.parts)

    def statement(self, guard: Guard, *, locks: str) -> bytes:
        """Return the statement that stores what is listed, as the server gets it: it returns a row when the guard was
        met.

        The driver would turn its placeholders into numbers each time: it remembers no statement of this length.

        Args:
            guard: What must be true.
            locks: A `SELECT` that takes the locks, with one parameter.
        """
        return _statement(guard.statement, guard.ending, locks, tuple((sql, len(rows)) for sql, rows in self.parts))

    @contextmanager
    def _cursor(  # pyright: ignore[reportIncompatibleMethodOverride]  # what LangGraph's methods use of a cursor
        self, *, pipeline: bool = False
    ) -> Generator[ListingCursor]:
        yield ListingCursor(self.parts)


@lru_cache(maxsize=512)
def _statement(guard: str, ending: str, locks: str, parts: tuple[tuple[str, int], ...]) -> bytes:
    """Write the statement; the locks come first, as in every transaction, because the guard asks for them."""
    asked = f"{guard} AND EXISTS (SELECT FROM locked) {ending}".replace("%", "%%").replace("?", "%s")
    stored = "".join(f", stored{at} AS ({_insert(sql, count)})" for at, (sql, count) in enumerate(parts))
    written = f"WITH locked AS MATERIALIZED ({locks}), met AS ({asked}){stored} SELECT FROM met"
    number = count_from(1)
    return _MARK.sub(lambda mark: "%" if mark[0] == "%%" else f"${next(number)}", written).encode()


@lru_cache(maxsize=64)
def _most(sql: str) -> int:
    """How many rows of a statement of LangGraph's can be stored together; 0 when it is another one than is known."""
    if _INSERT.fullmatch(sql) is None:
        return 0
    return 1 if "DO UPDATE" in sql else MOST


def _insert(sql: str, count: int) -> str:
    """Make LangGraph's statement one of several rows, which are stored when the guard was met."""
    found = _INSERT.fullmatch(sql)
    assert found is not None, "`is_one_step` has looked"
    table, columns, conflict = found.groups()
    names = columns.split(", ")
    typed = ", ".join(f"%s::{_TYPES.get(name, 'text')}" for name in names)
    others = ", ".join([f"({', '.join(['%s'] * len(names))})"] * (count - 1))
    values = f"({typed}), {others}" if others else f"({typed})"
    return (
        f"INSERT INTO {table} ({columns}) SELECT * FROM (VALUES {values}) AS given"
        f" WHERE EXISTS (SELECT FROM met) {conflict}"
    )
