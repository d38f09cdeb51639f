"""A batch job: how a file of items becomes sessions of a chart, and how their ends become a table.

A graph module offers one as `job(*, overrides=())`; `stateward run GRAPH FILE` does the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from stateward.run.session import Outcome

__all__ = ["BadRow", "Job", "Outcome"]  # with all that the author of a job needs

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class BadRow:
    """A row of the source that cannot be taken; the rest of the source goes on."""

    line: int
    """Where it begins in the source, from 1."""
    reason: str


class Job(Protocol[Item]):
    """What a batch run needs to know of a chart's input and result.

    Source: DESIGN section 4.
    """

    @property
    def columns(self) -> Collection[str]:
        """The names the job reads from a row; what `--map NAME=COLUMN` may name."""
        ...

    def read(self, source: Path, *, columns: Mapping[str, str]) -> Iterable[Item | BadRow]:
        """Read the items of a source.

        Args:
            source: A file.
            columns: The file's own names for some of `columns`, such as `{"text": "body"}`.

        Returns:
            The items in the order of the file, a `BadRow` in the place of each that cannot be taken.
        """
        ...

    def session(self, item: Item) -> str:
        """Name the session an item belongs to; a follow-up shares the session of the message it follows.

        Args:
            item: From `read`.
        """
        ...

    def input(self, item: Item) -> Mapping[str, Any]:
        """Return the state keys that an item is sent as.

        Args:
            item: From `read`.
        """
        ...

    def seen(self, item: Item, values: Mapping[str, Any]) -> bool:
        """Say whether an item was delivered to its session before.

        Args:
            item: From `read`.
            values: The session's state.
        """
        ...

    def row(self, item: Item, outcome: Outcome) -> Mapping[str, object]:
        """Return an item's line of the result table: texts, numbers, and lists of them.

        Args:
            item: From `read`.
            outcome: Where its session stands.
        """
        ...

    def summary(self, rows: Sequence[Mapping[str, object]]) -> Mapping[str, object]:
        """Return the totals.

        Args:
            rows: All lines of the table.
        """
        ...
