"""A `once` call that was started and never settled: what became of it, and who says so (DESIGN decision 12)."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, cast

from stateward.chart.event import Occurrence
from stateward.run.door.looked import Completed, Looked, Unknown, looked
from stateward.run.door.outcome import Outcome, kept, status_of
from stateward.run.door.question import aftermath
from stateward.run.door.report import Report
from stateward.run.door.signal import Trip
from stateward.run.door.told import named
from stateward.run.door.tool import Tool, ToolResult, refusal
from stateward.run.store.database import Database
from stateward.run.store.journal import Entry
from stateward.run.threads import Threads

LOOKUP_S = 30.0
"""How long a look-up may take when neither its tool nor the policy says, in seconds."""


class Recovery:
    """Finds out about calls that a crash cut off; blocking, in a thread that no other work waits for.

    Args:
        database: Journal and asks.
        report: The audit log.
        fence: The session's fencing token, or None when nothing is leased.
        threads: Where sync look-ups run.
        loop: Where async look-ups run.
    """

    def __init__(
        self,
        *,
        database: Database,
        report: Report,
        fence: int | None,
        threads: Threads,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._database = database
        self._report = report
        self._fence = fence
        self._threads = threads
        self._loop = loop

    def settled(self, known: Entry, tool: Tool, *, limit_s: float | None) -> ToolResult | None:
        """Find out what became of a call.

        Args:
            known: Its entry: started, or unknown.
            tool: What it called.
            limit_s: How long its look-up may take, in seconds.

        Returns:
            The observation; None when it is safe to make the call.

        Raises:
            Trip: Nobody knows; carries the question for a person.
        """
        if tool.lookup is None:
            return self.unknown(known)
        answer = self._looked(known, tool, limit_s=LOOKUP_S if limit_s is None else limit_s)
        if isinstance(answer, Completed):
            return self._take_over(known, kept(tool, answer.result))
        if isinstance(answer, Unknown):
            reason = answer.reason or "its look-up does not know"
            self._report.write("lookup_failed", known.name, known.arguments, reason, known.key.call)
            return self.unknown(known)
        return None

    def _looked(self, known: Entry, tool: Tool, *, limit_s: float) -> Looked:
        """Ask a look-up; one that raises, or does not come back, does not know."""
        lookup, key = cast(Any, tool.lookup), known.key.idempotency_key
        try:
            if not inspect.iscoroutinefunction(lookup):
                found = _in_time(self._threads.tools.submit(lookup, key), limit_s)
                return looked(self._awaited(found, limit_s) if inspect.isawaitable(found) else found)
            return looked(self._awaited(lookup(key), limit_s))
        except TimeoutError:
            return Unknown(f"its look-up took more than {limit_s:g} s")
        except Exception as error:  # noqa: BLE001  # recorded: nobody knows how the call ended
            return Unknown(f"its look-up failed: {named(error)}")

    def _awaited(self, work: Any, limit_s: float) -> object:
        async def found() -> object:
            return await work

        made = cast("Coroutine[Any, Any, object]", work if inspect.iscoroutine(work) else found())
        return _in_time(asyncio.run_coroutine_threadsafe(made, self._loop), limit_s)

    def _take_over(self, known: Entry, outcome: Outcome) -> ToolResult:
        self._database.journal.settle(
            known.key, status=outcome.status, result=outcome.result, spent=outcome.spent, fence=self._fence
        )
        status = status_of(outcome.status, outcome.result)
        return ToolResult(name=known.name, status=status, value=outcome.result, call=known.key.call)

    def unknown(self, known: Entry) -> ToolResult | None:
        """Let the chart, or a person, decide about a call whose end nobody knows.

        Args:
            known: Its entry.

        Returns:
            What the activity sees when a person left it so; None when a person said that it may run again.

        Raises:
            Trip: Nobody has decided yet.
        """
        question = aftermath(known)
        answer = self._database.asks.find(question.id)
        if answer is not None and answer.status == "answered":
            if answer.decision == "approve":
                return None
            left = "it was started before a crash; a person left it so"
            return refusal(known.name, "unknown", left, call=known.key.call)
        if known.status == "started":
            self._database.journal.mark_unknown(known.key, fence=self._fence)
        self._report.write("unknown_after_crash", known.name, known.arguments, "started before a crash", known.key.call)
        happened = {"tool": known.name, "call": known.key.call, "key": known.key.idempotency_key}
        raise Trip(Occurrence(name="unknown_after_crash", data=happened), ask=question)


def _in_time(work: Future[Any], limit_s: float) -> Any:
    try:
        return work.result(timeout=limit_s)
    except TimeoutError:
        work.cancel()
        raise
