"""A desk at which a person stands before each refund, and what was paid; for the proof of answers."""

from __future__ import annotations

import asyncio
import operator
import threading
from collections.abc import Callable
from typing import Annotated, Any

from langgraph.types import Command
from typing_extensions import TypedDict

import stateward as sw
from stateward.errors import StatewardError
from stateward.run.graph import ChartGraph
from stateward.run.session import Outcome
from stateward.run.store.database import Database
from stateward.testing import ManualClock
from tests.charts.drive import policy
from tests.charts.tools import call
from tests.crash.live import APPROVER


class Case(TypedDict, total=False):
    """What the case knows."""

    log: Annotated[list[str], operator.add]


class Counter:
    """Sessions that ask for refunds, and what was paid.

    Args:
        database: Where they are kept.
        clock: Its clock.
        how: `sync` or `async`.
        orders: What each session wants to refund, in one batch of calls.
    """

    def __init__(self, database: Database, *, clock: ManualClock, how: str, orders: str = "A") -> None:
        self.database = database
        self.clock = clock
        self.eur = 3.0
        """What the activity wants to pay."""
        self.paid: list[tuple[str, str, float]] = []
        """Session, order and amount of each effect."""
        self._how = how
        self._orders = orders
        self._guard = threading.Lock()
        self._graph = self._build().attach(database)

    def session(self, id: str, *, tenant: str = "") -> sw.Session:
        """Return a session.

        Args:
            id: Its id.
            tenant: Who comes to it.
        """
        graph = self._graph.with_config(configurable={"tenant": tenant}) if tenant else self._graph
        return sw.Session(id, graph, self.database)

    def start(self, session: sw.Session) -> Outcome:
        """Start a session; it waits for its asks then.

        Args:
            session: The session.
        """
        return session.start({}) if self._how == "sync" else asyncio.run(session.astart({}))

    def resume(self, session: sw.Session, event: str | None = None) -> Outcome:
        """Go on with a session.

        Args:
            session: The session.
            event: An event for it.
        """
        return session.resume(event) if self._how == "sync" else asyncio.run(session.aresume(event))

    def answer(self, session: sw.Session, ask: str, decision: Any = "approve", **more: Any) -> None:
        """Answer an ask, through the session or, in the async way, through LangGraph's `Command`.

        Args:
            session: Through which session.
            ask: Its id.
            decision: `approve` or `reject`.
            more: What else the answer says.
        """
        if self._how == "sync" and not more:
            session.answer(ask, decision, by=APPROVER)
            return
        command = Command(resume={"answers": {ask: {"decision": decision, "by": APPROVER, **more}}})
        if self._how == "sync":
            session.graph.invoke(command, session.config)
        else:
            asyncio.run(session.graph.ainvoke(command, session.config))

    def _build(self) -> ChartGraph:
        async def refunds(state: Any, run: sw.Run[Any]) -> Any:
            results = await run.tools([call("refund", order=order, eur=self.eur) for order in self._orders])
            return {"log": [result.status for result in results]}

        @sw.tool(effect="idempotent")
        def refund(order: str, eur: float, *, ctx: sw.ToolContext) -> str:
            """Pay an order back."""
            with self._guard:
                self.paid.append((ctx.session, order, eur))
            return "paid"

        return sw.Chart(
            "counter",
            Case,
            sw.Superstate(
                "WORK",
                sw.State("REFUND", do=refunds, tools=["refund"], to="DONE"),
                on=[sw.on("stop", "HELP")],
                policy=policy("approve_refunds"),
            ),
            sw.State("HELP", on=[sw.on("again", "WORK")]),
            sw.Final("DONE"),
        ).compile(tools=[refund])


def is_refused(attempt: Callable[[], object]) -> bool:
    """Say whether an attempt is refused with a typed error.

    Args:
        attempt: The attempt; an error of another kind passes through.
    """
    try:
        attempt()
    except StatewardError:
        return True
    return False
