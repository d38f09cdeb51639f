"""Keeping the policy a run began under: the chart at hand is compiled under the stored ones (DESIGN decision 8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol, TypeVar, cast

from langchain_core.runnables import RunnableConfig
from langgraph.types import StateSnapshot

from stateward.errors import Drift
from stateward.govern.policy import Policy
from stateward.run.called import committed
from stateward.run.checkpoint import TERMINAL
from stateward.run.drive import Steps, Work
from stateward.run.graph import ChartGraph
from stateward.run.lower import finish, lower
from stateward.run.pinned_policy import KIND, policies_in
from stateward.run.snapshot import control_in, pins_of
from stateward.run.store.database import Database


class Called(Protocol):
    """A session, or who makes its calls: a frozen dataclass."""

    @property
    def graph(self) -> ChartGraph:
        """The graph at hand."""
        ...

    @property
    def database(self) -> Database:
        """Where its tables are."""
        ...

    @property
    def config(self) -> RunnableConfig:
        """LangGraph's config of it."""
        ...


Some = TypeVar("Some", bound=Called)


def keeping(session: Some) -> Steps[Some]:
    """Let a session go on under the policies that its run began under.

    Args:
        session: The session, over the graph at hand.

    Returns:
        A generator of work that returns the session over a graph with those policies; the session itself when its run
        is under them already, or when no run of it is unfinished.

    Raises:
        Drift: The chart or the schema is another one, too, or the policies are not stored.
    """
    snapshot: StateSnapshot = yield from committed(session.graph, session.config)
    raw = control_in(snapshot)
    if not raw or (raw["status"] in TERMINAL and raw["status"] != "halted"):
        return session
    pinned, now = pins_of(raw), session.graph.machine.pins
    if pinned == now:
        return session
    where = f"run {raw['run']['id']}"
    if (pinned.chart, pinned.schema) != (now.chart, now.schema):
        raise Drift(
            "Only a policy can be kept, and the chart or the schema is another one as well",
            where=where,
            fix="Go on with the code that started the run, or adopt the new definition: `stateward migrate SESSION`.",
        )
    text: str | None = yield Work(fn=_text, args=(session, pinned.policy))
    graph = None if text is None else under(session.graph, policies_in(text))
    if graph is None or graph.machine.pins != pinned:
        raise Drift(
            f"The policies that the run began under are not known here: {pinned.policy[:12]}",
            where=where,
            fix="Go on with the policy file that started the run, or adopt the new one: `stateward migrate SESSION`.",
        )
    return cast("Some", replace(cast("Any", session), graph=graph))


def _text(session: Called, hash: str) -> str | None:
    return session.database.definitions.find(hash, kind=KIND)


def under(graph: ChartGraph, policies: Mapping[str, Policy]) -> ChartGraph:
    """Compile a graph's chart anew under other policies.

    Args:
        graph: The graph.
        policies: State path to policy; the chart's own under the empty path.

    Returns:
        A graph that is the same otherwise.
    """
    old = graph.machine
    nodes = tuple(replace(node, policy=policies.get(node.path) if node.path else None) for node in old.chart.nodes)
    machine, builder = lower(
        replace(old.chart, nodes=nodes),
        schema=graph.user_schema,
        root=policies.get(""),
        tools=old.tools,
        roles=old.roles,
        context=graph.builder.context_schema,
    )
    made = finish(
        replace(machine, properties=old.properties),
        builder,
        schema=graph.user_schema,
        checkpointer=cast("Any", graph.checkpointer),
        store=graph.store,
        cache=cast("Any", graph.cache),
        tables=graph.tables,
    )
    kept = {key: value for key, value in (graph.config or {}).items() if key != "recursion_limit"}
    return made.with_config(cast(Any, kept)) if kept else made
