"""The desk's batch job: an inbox in, a table of tickets out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from nodes.support_desk import inbox
from nodes.support_desk.inbox import Row, read_inbox
from nodes.support_desk.state import CaseData, letter_in
from nodes.support_desk.tools import RESTRICTED
from stateward.job import BadRow, Outcome


class SupportJob:
    """Reads an inbox and makes a row of each message's outcome."""

    columns = ("id", "customer", "text", "name", "lang", "received_at", "follows")

    def __init__(self) -> None:
        self._session_of: dict[str, str] = {}

    def read(self, source: Path, *, columns: Mapping[str, str]) -> Iterator[Row | BadRow]:
        """Read an inbox.

        Args:
            source: A JSONL or CSV file.
            columns: The file's own names for our columns.

        Returns:
            The messages in the order of the file, and the rows that cannot be taken.
        """
        for row in read_inbox(source, columns=columns):
            if isinstance(row, inbox.BadRow):
                yield BadRow(line=row.line, reason=row.reason)
            else:
                self._session_of[row.id] = self._session_of.get(row.follows, row.id)
                yield row

    def session(self, item: Row) -> str:
        """Return the session of a message: its own, or that of the message it follows.

        Args:
            item: The message.
        """
        return self._session_of.get(item.id, item.id)

    def input(self, item: Row) -> Mapping[str, Any]:
        """Return the chart's input.

        Args:
            item: The message.
        """
        case = {key: getattr(item, key) for key in ("id", "customer", "name", "lang", "received_at")}
        return {"messages": [letter_in(item.text, case=cast("CaseData", case))]}

    def seen(self, item: Row, values: Mapping[str, Any]) -> bool:
        """Whether a session was given a message already.

        Args:
            item: The message.
            values: The session's state.
        """
        return any(message.id == item.id for message in values.get("messages", ()))

    def row(self, item: Row, outcome: Outcome) -> Mapping[str, object]:
        """Make a line of the result table.

        Args:
            item: The message.
            outcome: Where its session stands.
        """
        values = outcome.values
        closed = cast("Mapping[str, Mapping[str, Any]]", values.get("closed") or {})
        case: Mapping[str, Any] = values.get("case") or {}
        live = case.get("id") == item.id
        result = values if live else closed.get(item.id, {})
        ticket: Mapping[str, Any] = result.get("ticket") or {}
        verdict: Mapping[str, Any] = ticket or result.get("triage") or {}
        made: Sequence[Mapping[str, Any]] = result.get("outcomes") or ()
        done = not live and item.id in closed
        return {
            "id": item.id,
            "session": outcome.session,
            "status": "completed" if done else outcome.status,
            "state": "DONE" if done else outcome.path,
            "category": verdict.get("category", ""),
            "priority": verdict.get("priority", ""),
            "sentiment": verdict.get("sentiment", ""),
            "done": _names(one["tool"] for one in made if one["status"] == "ok"),
            "blocked": _names(one["tool"] for one in made if one["status"] not in ("ok", "rejected")),
            "asked": _names(_asked(values)) if live and outcome.asks else "",
            "next_action": ticket.get("next_action") or _waiting_for(outcome, live=live),
            "summary": ticket.get("summary", ""),
        }

    def summary(self, rows: Sequence[Mapping[str, object]]) -> Mapping[str, object]:
        """Add up the table.

        Args:
            rows: Its lines.
        """
        statuses = Counter(str(row["status"]) for row in rows)
        return {
            "messages": len(rows),
            **dict(sorted(statuses.items())),
            "calls done": sum(_count(row["done"]) for row in rows),
            "calls blocked": sum(_count(row["blocked"]) for row in rows),
            "asks open": sum(_count(row["asked"]) for row in rows),
        }


def _asked(values: Mapping[str, Any]) -> list[str]:
    plan = cast("Mapping[str, Any]", values.get("plan") or {})
    tools = [str(step["tool"]) for step in plan.get("steps", ())]
    return [tool for tool in tools if tool in RESTRICTED]


def _waiting_for(outcome: Outcome, *, live: bool) -> str:
    if not live:
        return "waits for the message before it"
    if outcome.asks:
        return "a person decides"
    return "a person takes the case" if outcome.path.startswith("ESCALATED") else ""


def _names(names: Iterable[str]) -> str:
    counted = Counter(names)
    return ", ".join(name if n == 1 else f"{name} x{n}" for name, n in counted.items())


def _count(names: object) -> int:
    parts = [part for part in str(names or "").split(", ") if part]
    return sum(int(part.partition(" x")[2] or 1) for part in parts)
