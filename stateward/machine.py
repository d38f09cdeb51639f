"""The façade: a chart as its author sees it, with compile, check, draw and simulate."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableBinding
from langchain_core.tools import BaseTool
from langgraph.cache.base import BaseCache
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore

from stateward.chart.check import Finding, check
from stateward.chart.compiler import build
from stateward.chart.definition import Definition
from stateward.chart.draw import mermaid
from stateward.chart.state import AnyState
from stateward.chart.transition import Choices, On
from stateward.errors import DefinitionError
from stateward.govern.policy import Policy
from stateward.run.door.role import ModelRole, role_of
from stateward.run.door.tool import Tool, toolbox
from stateward.run.graph import ChartGraph
from stateward.run.lower import finish, lower
from stateward.run.store.database import Database
from stateward.run.tables import Tables
from stateward.simulation import Simulation

S = TypeVar("S")

TABLES_VARIABLE = "STATEWARD_DB"


class Chart(Generic[S]):
    """A statechart over a state schema: states inside states, and the policies that hang on them.

    Args:
        name: The chart's name; also the compiled graph's.
        schema: The state: a TypedDict, dataclass or Pydantic model.
        children: The top states, in document order.
        initial: Where the chart begins, by name or dotted path; default the first child.
        on: Event transitions that hold in every state.
        always: Eventless transitions that hold in every state, tested after every step.
        policy: The policy of the whole chart.
        context: LangGraph's context schema, when runs take `context=`.

    Raises:
        UnknownTarget: A transition or initial state names a state that does not exist.
        DefinitionError: The tree is not a legal chart.

    Source: SCXML 3.2; DESIGN section 3.
    """

    def __init__(
        self,
        name: str,
        schema: type[S],
        *children: AnyState,
        initial: str | None = None,
        on: On | Sequence[On] = (),
        always: Choices = (),
        policy: Policy | None = None,
        context: type[Any] | None = None,
    ) -> None:
        self.name = name
        self.schema = schema
        self.policy = policy
        self.context = context
        self.definition: Definition = build(name, children, initial=initial, on=on, always=always)

    def compile(
        self,
        *,
        tools: Iterable[Tool | BaseTool] = (),
        models: Mapping[str, BaseChatModel | RunnableBinding[Any, Any] | ModelRole] | None = None,
        checkpointer: BaseCheckpointSaver[Any] | bool | None = None,
        store: BaseStore | None = None,
        cache: BaseCache[Any] | None = None,
        database: Database | None = None,
    ) -> ChartGraph:
        """Compile the chart to an ordinary LangGraph graph.

        Args:
            tools: The tools its states may declare.
            models: A chat model for each role its states declare, or what `.bind(…)` of one gives.
            checkpointer: A LangGraph saver. Leave it out for module-level graphs: `langgraph dev` brings its own.
            store: LangGraph's long-term store.
            cache: LangGraph's cache.
            database: From `stateward.open`: its saver, store and tables, in place of `checkpointer` and `store`.

        Returns:
            The graph.

        Raises:
            DefinitionError: An activity, tool, model, contract or policy is wrong.
            PolicyLoosened: A policy is weaker than one around it; names both places.
            UnknownTool: A state declares a tool that nobody registered.
        """
        machine, builder = lower(
            self.definition,
            schema=self.schema,
            root=_policy_of(self.name, self.policy),
            tools=toolbox(tools),
            roles={role: role_of(role, model) for role, model in (models or {}).items()},
            context=self.context,
        )
        graph = finish(
            machine,
            builder,
            schema=self.schema,
            checkpointer=checkpointer,
            store=store,
            cache=cache,
            tables=Tables(url=os.environ.get(TABLES_VARIABLE)),
        )
        return graph.attach(database) if database is not None else graph

    def check(self) -> tuple[Finding, ...]:
        """Look for what cannot work, before any run.

        Returns:
            The findings, each with a state path and a shortest witness path; empty for a clean chart.
        """
        return check(self.definition)

    def draw(self, *, highlight: Iterable[str] = ()) -> str:
        """Draw the chart.

        Args:
            highlight: Paths of states to mark.

        Returns:
            A Mermaid state diagram with nested boxes.
        """
        return mermaid(self.definition, highlight=tuple(highlight))

    def simulate(self, state: Mapping[str, Any] | None = None) -> Simulation:
        """Step the chart by hand: no model, no activity runs.

        Args:
            state: The data that guards and actions see.

        Returns:
            A simulation in the initial configuration.
        """
        return Simulation(self.definition, state=dict(state or {}))


def _policy_of(chart: str, policy: object) -> Policy | None:
    if policy is None or isinstance(policy, Policy):
        return policy
    raise DefinitionError(f"`policy` is {policy!r}, not a policy", where=chart, fix="Use `sw.load_policy(…)`.")
