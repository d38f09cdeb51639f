"""The calls a session makes to its graph, both ways, and where it stands after them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs
from langgraph.errors import GraphDrained
from langgraph.types import StateSnapshot

from stateward.errors import SessionBusy, UnknownSession
from stateward.run.call import is_held
from stateward.run.called import committed
from stateward.run.checkpoint import AFTER
from stateward.run.configurable import named
from stateward.run.drive import Bridge, Steps, Work, drive_async, drive_sync
from stateward.run.graph import ChartGraph
from stateward.run.migration_keep import keeping
from stateward.run.outcome import Outcome, outcome_of
from stateward.run.store.database import Database
from stateward.run.store.owner import TENANT
from stateward.run.store.session_row import SessionRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """A session that calls its graph."""

    session: str
    graph: ChartGraph
    database: Database
    config: RunnableConfig
    context: Any
    keeps: bool = False
    """Whether an unfinished run goes on under the policies that it began under."""

    @property
    def tenant(self) -> str:
        """Whom the caller names; empty when nobody."""
        return named(merge_configs(self.graph.config, self.config), TENANT)

    def refuse_stranger(self) -> None:
        """Check that the session is the caller's, before anything is told of it or recorded.

        Raises:
            UnknownSession: It belongs to another tenant.
        """
        self.database.sessions.refuse_stranger(self.session, tenant=self.tenant)

    def calling(self, given: object, *, more: Mapping[str, Any] | None = None) -> Work:
        """Return the work of one call.

        Args:
            given: State keys, a `Command`, or None to go on.
            more: What the call has in `configurable` beside the session's own.
        """
        return Work(fn=self._call, afn=self._acall, args=(given, self.configured(more)))

    def configured(self, more: Mapping[str, Any] | None) -> RunnableConfig:
        """Return LangGraph's config of a call.

        Args:
            more: What the call has in `configurable` beside the session's own.
        """
        if not more:
            return self.config
        return {**self.config, "configurable": {**self.config.get("configurable", {}), **more}}

    def at_hand(self, config: RunnableConfig) -> Steps[tuple[ChartGraph, RunnableConfig]]:
        """Find the graph that a call is made to: its policies are those of the run, when the session keeps them.

        Args:
            config: LangGraph's config of the call.

        Returns:
            A generator of work that returns the graph, and the config of the call to it.

        Raises:
            Drift: The policies are to be kept, but are not stored, or more than a policy is another one.
        """
        if not self.keeps:
            return self.graph, config
        row: SessionRow | None = yield Work(fn=self.row)
        kept = yield from keeping(self)
        if row is None or kept.graph is self.graph:
            return self.graph, config
        # Who held the session since may have ended the run: the next one is to be under the policies at hand.
        return kept.graph, {**config, "configurable": {**config.get("configurable", {}), AFTER: row.fence}}

    def kept(self) -> Caller:
        """Return who calls the graph that the next call is made to; see `at_hand`.

        Raises:
            Drift: As there.
        """
        return drive_sync(keeping(self), bridge=Bridge()) if self.keeps else self

    def trying(self, given: object) -> Steps[Outcome | None]:
        """Make a call; None when somebody else holds the session.

        Args:
            given: State keys, a `Command`, or None to go on.
        """
        try:
            outcome: Outcome = yield self.calling(given)
        except SessionBusy as busy:
            if is_held(busy, self.session):
                return None
            raise
        return outcome

    def _call(self, given: object, config: RunnableConfig) -> Outcome:
        graph, config = drive_sync(self.at_hand(config), bridge=Bridge())
        with suppress(GraphDrained):  # it ended after its step, and the outcome says where
            graph.invoke(given, config, context=self.context)
        return self.outcome()

    async def _acall(self, given: object, config: RunnableConfig) -> Outcome:
        graph, config = await drive_async(self.at_hand(config), threads=self.database.threads)
        with suppress(GraphDrained):
            await graph.ainvoke(given, config, context=self.context)
        return await self.aoutcome()

    def looking(self) -> Work:
        """Return the work of reading where the session stands."""
        return Work(fn=self.outcome, afn=self.aoutcome)

    async def aoutcome(self) -> Outcome:
        """Read where the session stands; see `outcome`."""
        snapshot = await drive_async(committed(self.graph, self.config), threads=self.database.threads)
        return self._at(snapshot)

    def outcome(self) -> Outcome:
        """Read where the session stands, from its latest checkpoint."""
        return self._at(self.latest())

    def _at(self, snapshot: StateSnapshot) -> Outcome:
        return outcome_of(self.session, snapshot.values, chart=self.graph.machine.chart)

    def latest(self) -> StateSnapshot:
        """Read the session's latest checkpoint."""
        return drive_sync(committed(self.graph, self.config), bridge=Bridge())

    def row(self) -> SessionRow | None:
        """Return the session's row, or None when it was never started, or is not the caller's."""
        try:
            self.refuse_stranger()
            return self.database.sessions.get(self.session)
        except UnknownSession:
            return None
