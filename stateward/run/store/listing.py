"""A saver of LangGraph's that lists what it would store: the rows are LangGraph's own, and the statements ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

from langgraph.checkpoint.serde.base import SerializerProtocol

Rows = Sequence[Sequence[Any]]


class Listing:
    """What both such savers have; each lends its cursor as LangGraph's class wants it."""

    parts: list[tuple[str, Rows]]
    """LangGraph's statements, each with its rows of parameters."""

    def anew(self, serde: SerializerProtocol) -> Self:
        """Return one that lists nothing yet; LangGraph's constructor looks the serializer over each time.

        Args:
            serde: The serializer of a saver, which may be a copy with another one.
        """
        made = self.__class__.__new__(self.__class__)
        made.__dict__.update(self.__dict__, parts=[], serde=serde)
        return made

    def parameters(self) -> list[Any]:
        """Return what is listed as parameters, in its order."""
        return [value for _, rows in self.parts for row in rows for value in row]


class ListingCursor:
    """Lists statements; it is all that LangGraph's methods use of a cursor.

    Args:
        parts: Where they are listed.
    """

    def __init__(self, parts: list[tuple[str, Rows]]) -> None:
        self._parts = parts

    def execute(self, sql: str, parameters: Sequence[Any]) -> None:
        """List a statement with one row.

        Args:
            sql: The statement.
            parameters: The row.
        """
        self._parts.append((sql, (parameters,)))

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """List a statement with its rows, if there are any.

        Args:
            sql: The statement.
            rows: The rows.
        """
        listed = tuple(rows)
        if listed:
            self._parts.append((sql, listed))
