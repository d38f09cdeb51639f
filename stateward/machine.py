"""The façade: a chart as its author sees it, with compile, check, draw and simulate."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, Literal, TypeVar, overload

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableBinding
from langchain_core.tools import BaseTool
from langgraph.cache.base import BaseCache
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore

from stateward.analysis import Report, analyse
from stateward.chart.argument import of_kind
from stateward.chart.compiler import build
from stateward.chart.definition import Definition
from stateward.chart.explore import DEFAULT_BOUND
from stateward.chart.extract import extract
from stateward.chart.finding import Finding
from stateward.chart.property import Property, stated
from stateward.chart.state import AnyState, Superstate
from stateward.chart.transition import Choices, Reactions
from stateward.embedding import embedded, renaming
from stateward.errors import DefinitionError
from stateward.exchange.registry import Registry
from stateward.exchange.scxml_reader import read_scxml
from stateward.exchange.scxml_writer import write_scxml
from stateward.exchange.xstate_reader import read_xstate
from stateward.exchange.xstate_writer import write_xstate
from stateward.govern.effective import Effective, effectives
from stateward.govern.note import notes
from stateward.govern.policy import Policy
from stateward.opening import audit_keys_here, keys_here
from stateward.picture.picture import picture
from stateward.run.carried import with_carried
from stateward.run.door.role import ModelRole
from stateward.run.door.tool import Tool
from stateward.run.graph import ChartGraph
from stateward.run.lower import finish, lower
from stateward.run.override import roles
from stateward.run.plan import chain
from stateward.run.state import declared_types, is_mapping_schema
from stateward.run.store.database import Database
from stateward.run.tables import Tables
from stateward.simulation import Simulation
from stateward.teams.blocks import refuse_records_of_one_name, refuse_unknown_contracts
from stateward.teams.declared_keys import refuse_undeclared_keys

S = TypeVar("S")

TABLES_VARIABLE = "STATEWARD_DB"


class Chart(Generic[S]):
    """A statechart over a state schema: states inside states, and the policies that hang on them.

    Args:
        name: The chart's name; also the compiled graph's.
        schema: The state: a TypedDict, dataclass or Pydantic model.
        children: The top states, in document order.
        initial: Where the chart begins, by name or dotted path, or several of them; default the first child.
        on: Event transitions that hold in every state.
        always: Eventless transitions that hold in every state, tested after every step.
        policy: The policy of the whole chart.
        context: LangGraph's context schema, when runs take `context=`.
        properties: What is stated of it, from `stateward.properties`; `check` proves it.

    Raises:
        UnknownTarget: A transition or initial state names a state that does not exist.
        DefinitionError: The tree is not a legal chart.

    Source: SCXML 3.2; DESIGN section 3.
    """

    def __init__(
        self,
        name: str,
        schema: type[S],
        *children: AnyState[S],
        initial: str | Sequence[str] | None = None,
        on: Reactions[S] | None = None,
        always: Choices[S] | None = None,
        policy: Policy | None = None,
        context: type[Any] | None = None,
        properties: Iterable[Property] = (),
    ) -> None:
        self.name = name
        self.properties = stated(properties, where=name)
        self.schema = schema
        self.policy = policy
        self.context = context
        _refuse_schema(schema, where=name)
        self.definition: Definition = build(name, children, initial=initial, on=on, always=always)
        refuse_records_of_one_name(name, children)
        self._tree: Superstate[Any] | None = Superstate(name, *children, initial=initial, on=on, always=always)

    @classmethod
    def from_definition(
        cls, definition: Definition, schema: type[S], *, policy: Policy | None = None, context: type[Any] | None = None
    ) -> Chart[S]:
        """Make a chart of frozen tables, from another format or a part of another chart.

        Args:
            definition: The tables.
            schema: The state, as for a chart written in Python.
            policy: The policy of the whole chart.
            context: LangGraph's context schema.
        """
        made = "a definition, as `build` makes it"
        of_kind(definition, Definition, name="definition", expected=made, where="Chart.from_definition(…)")
        _refuse_schema(schema, where=definition.name)
        chart = cls.__new__(cls)
        chart.properties = ()
        chart.name, chart.schema, chart.policy, chart.context = definition.name, schema, policy, context
        chart.definition, chart._tree = definition, None
        return chart

    @classmethod
    def from_scxml(
        cls,
        text: str | bytes,
        *,
        schema: type[S],
        registry: Registry | None = None,
        policy: Policy | None = None,
        context: type[Any] | None = None,
        ignoring: Iterable[str] = (),
    ) -> Chart[S]:
        """Read a chart from an SCXML document; what cannot be carried over is an error, see docs/exchange.md.

        Args:
            text: The document.
            schema: The state, as for a chart written in Python.
            registry: The functions and typed events that its names mean.
            policy: The policy of the whole chart.
            context: LangGraph's context schema.
            ignoring: Namespaces of elements and attributes to skip, such as those of an editor.
        """
        chart = read_scxml(text, registry=registry, ignoring=ignoring)
        return cls.from_definition(chart, schema, policy=policy, context=context)

    @classmethod
    def from_xstate(
        cls,
        machine: str | bytes | Mapping[str, object],
        *,
        schema: type[S],
        registry: Registry | None = None,
        policy: Policy | None = None,
        context: type[Any] | None = None,
        ignoring: Iterable[str] = (),
    ) -> Chart[S]:
        """Read a chart from an XState v5 machine; what cannot be carried over is an error, see docs/exchange.md.

        Args:
            machine: The machine as JSON, text or parsed.
            schema: The state, as for a chart written in Python.
            registry: The functions and typed events that its names mean.
            policy: The policy of the whole chart.
            context: LangGraph's context schema.
            ignoring: Keys to skip, such as `description` and `tags`.
        """
        chart = read_xstate(machine, registry=registry, ignoring=ignoring)
        return cls.from_definition(chart, schema, policy=policy, context=context)

    def to_scxml(self, *, registry: Registry | None = None, without_policies: bool = False) -> str:
        """Write the chart as an SCXML document.

        Args:
            registry: Names for functions that have none, or not the wanted one.
            without_policies: Whether to leave policies out, which SCXML cannot say; else they are an error.
        """
        return write_scxml(self.definition, registry=registry, policy=self.policy, without_policies=without_policies)

    def to_xstate(self, *, registry: Registry | None = None, without_policies: bool = False) -> dict[str, object]:
        """Write the chart as an XState v5 machine, as plain JSON.

        Args:
            registry: Names for functions that have none, or not the wanted one.
            without_policies: Whether to leave policies out, which XState cannot say; else they are an error.
        """
        return write_xstate(self.definition, registry=registry, policy=self.policy, without_policies=without_policies)

    def superstate(self, path: str, *, exit_key: str | None = None) -> Chart[S]:
        """Return one superstate as a chart of its own: to compile it alone, as a node of your own LangGraph graph.

        State paths, policies around it and its history are those of the whole chart. A transition that leads out of it
        ends the run.

        Args:
            path: The superstate's path.
            exit_key: The state key that gets the path of the target outside, for your conditional edges.

        Raises:
            UnknownTarget: The chart has no such state.
            DefinitionError: It has no states inside, or the schema does not declare `exit_key`.
        """
        if exit_key is not None and exit_key not in (known := tuple(declared_types(self.schema))):
            raise DefinitionError(
                f"`exit_key` is {exit_key!r}, which the chart's schema does not declare",
                where=f"{self.name}.superstate({path!r})",
                fix=f"Declare it as text, or take another of its keys: {', '.join(sorted(known))}.",
            )
        name = f"{self.name}-{str(path).replace('.', '-')}"
        part = extract(self.definition, path, name=name, exit_key=exit_key)
        return type(self).from_definition(part, self.schema, policy=self.policy, context=self.context)

    def as_superstate(
        self,
        name: str,
        *,
        input: Mapping[str, str] | None = None,
        output: Mapping[str, str] | None = None,
        **outside: Any,
    ) -> Superstate[Any]:
        """Return the chart as a superstate for another chart; its states are flattened into that one.

        Args:
            name: The superstate's name.
            input: The chart's key to the one outside that it is read from; the same name when it is not given.
            output: The chart's key to the one outside that it is written to, and read from without one in `input`.
            outside: `to`, `on`, `always`, `entry`, `exit` and `history`, as for `Superstate`.

        Raises:
            DefinitionError: A map names a key the chart does not declare, or the chart was not written in Python.
        """
        if self._tree is None:
            raise DefinitionError(
                "Only a chart that was written as a tree can be put into another",
                where=self.name,
                fix="Compile it and use it as a node of a LangGraph graph.",
            )
        keys = renaming(name, self.schema, input=input, output=output)
        return embedded(self._tree, keys=keys, policy=self.policy, **outside)

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
            tools: The tools its states may declare, besides those that agents bring along.
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
            tools=with_carried(self.definition, tools),
            roles=roles(models or {}),
            context=self.context,
        )
        refuse_unknown_contracts(self._tree, machine.effectives, places=self.definition.by_path)
        refuse_undeclared_keys(self.definition, machine.schema.channels)
        graph = finish(
            replace(machine, properties=self.properties),
            builder,
            schema=self.schema,
            checkpointer=checkpointer,
            store=store,
            cache=cache,
            tables=Tables(url=os.environ.get(TABLES_VARIABLE), keys=keys_here, audit_keys=audit_keys_here),
        )
        if database is None:
            return graph
        made = {"name": "database", "expected": "a database, from `stateward.open`", "where": "compile(database=…)"}
        return graph.attach(of_kind(database, Database, **made))

    def check(self, *properties: Property, tools: Iterable[Tool | BaseTool] = ()) -> tuple[Finding, ...]:
        """Look for what cannot work, before any run, and prove what is stated.

        Args:
            properties: What is stated besides the chart's own `properties`, from `stateward.properties`.
            tools: The tools its states declare, as for `compile`; of others the effects are not known.

        Returns:
            The findings, errors first, each with a state path and a shortest witness; empty for a clean chart.

        Raises:
            UnknownTarget: A property names a state the chart does not have.
            PolicyLoosened: A policy is weaker than one around it.
        """
        return self.analyse(*properties, tools=tools).findings

    def analyse(
        self, *properties: Property, tools: Iterable[Tool | BaseTool] = (), bound: int = DEFAULT_BOUND
    ) -> Report:
        """Do what `check` does, and say as well what was proven and what a run can come to in total.

        Args:
            properties: As for `check`.
            tools: As for `check`.
            bound: How many configurations to explore before a coarser graph is taken, at least 1.

        Returns:
            The report.

        Raises:
            UnknownTarget: A property names a state the chart does not have.
            PolicyLoosened: A policy is weaker than one around it.
        """
        box = with_carried(self.definition, tools)
        declared = {tool for node in self.definition.nodes if node.activity for tool in node.activity.tools}
        held, proven = self._effectives(tools=declared | box.keys()), (*self.properties, *properties)
        return analyse(self.definition, schema=self.schema, effectives=held, tools=box, properties=proven, bound=bound)

    def _effectives(self, *, tools: Iterable[str] = ()) -> dict[int, Effective]:
        root = _policy_of(self.name, self.policy)
        chains = {n.index: (n.path, chain(self.definition, n.index, root=root)) for n in self.definition.nodes}
        return effectives(chains, tools=tuple(tools))

    @overload
    def draw(
        self, *, format: Literal["mermaid", "svg"] = "mermaid", highlight: Iterable[str] = (), path: Iterable[str] = ()
    ) -> str: ...
    @overload
    def draw(self, *, format: Literal["png"], highlight: Iterable[str] = (), path: Iterable[str] = ()) -> bytes: ...
    def draw(
        self,
        *,
        format: Literal["mermaid", "svg", "png"] = "mermaid",
        highlight: Iterable[str] = (),
        path: Iterable[str] = (),
    ) -> str | bytes:
        """Draw the chart with its policies: nested boxes, regions, history, guards, timers, fuses and approvals.

        Args:
            format: `mermaid`, `svg` or `png`; the last two need the `draw` extra.
            highlight: Paths of active states.
            path: What a run did, in order: transitions as a history writes them (`PLAN -> ACT`), or state paths.

        Returns:
            A Mermaid state diagram, an SVG document, or the bytes of a PNG file.

        Raises:
            DefinitionError: The format is unknown, `highlight` or `path` names something that the chart does not have,
                or the `draw` extra is not installed.
            PolicyLoosened: A policy is weaker than one around it.
        """
        told = notes(self.definition, self._effectives())
        return picture(self.definition, format=format, notes=told, highlight=highlight, path=path)

    def simulate(self, state: Mapping[str, Any] | None = None) -> Simulation:
        """Step the chart by hand: no model, no activity runs.

        Args:
            state: The data that guards and actions see, as an instance of the schema if that is a class of its own.

        Returns:
            A simulation in the initial configuration.

        Raises:
            InputRefused: The data does not fit the schema.
        """
        present = None if is_mapping_schema(self.schema) else self._instance
        return Simulation(self.definition, state=state, present=present, schema=self.schema)

    def _instance(self, values: Mapping[str, object]) -> S:
        return self.schema(**values)


def _policy_of(chart: str, policy: object) -> Policy | None:
    if policy is None or isinstance(policy, Policy):
        return policy
    raise DefinitionError(f"`policy` is {policy!r}, not a policy", where=chart, fix="Use `sw.load_policy(…)`.")


def _refuse_schema(schema: object, *, where: object) -> None:
    if not isinstance(schema, type):
        raise DefinitionError(
            f"The chart's schema is no class but {schema!r}",
            where=f"Chart({where!r})",
            fix="Give a TypedDict, dataclass or Pydantic model: after the name and before the states, or as `schema`.",
        )
