"""Lowering: from a chart's frozen tables to one LangGraph graph (DESIGN decisions 3, 4, 15).

Superstates are flattened: each state with an activity is one node, so that a superstep and a checkpoint are a whole
macrostep of the chart. Nested LangGraph subgraphs were tried and count reducers twice, lose parallel results and break
time travel; see docs/design/lowering.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.cache.base import BaseCache
from langgraph.channels.base import BaseChannel
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore
from typing_extensions import TypedDict

from stateward.chart.argument import of_kind
from stateward.chart.beginning import beginning
from stateward.chart.definition import Definition
from stateward.chart.step import Step
from stateward.govern.effective import effectives
from stateward.govern.fingerprint import digest
from stateward.govern.policy import Policy
from stateward.run.allowlist import allowlist
from stateward.run.checkpoint import CHANNEL, Pins
from stateward.run.door.role import ModelRole
from stateward.run.door.tool import Tool
from stateward.run.graph import ChartGraph
from stateward.run.hub.hub import hub_steps
from stateward.run.hub.rest import rest_steps
from stateward.run.hub.single import heeding_steps
from stateward.run.node import Direct, StateNode, Values, activity_steps, begin, enter_steps
from stateward.run.plan import ENTER, HUB, REST, Machine, StatePlan, chain, plan_state
from stateward.run.resume import is_internal
from stateward.run.state import StateSchema, declared_types, schema_json, with_control
from stateward.run.stopped import stopped_steps
from stateward.run.straight import straight
from stateward.run.tables import Tables
from stateward.run.wait import ask_steps, wait_steps

LEAST_LIMIT = 1_000
"""Supersteps that any chart may take in one call: states without a model spend no turns."""
NO_FUSE_LIMIT = 10_000
"""Supersteps of one call of a graph whose policy has no turn fuse."""


def lower(
    definition: Definition,
    *,
    schema: type[Any],
    root: Policy | None,
    tools: Mapping[str, Tool],
    roles: Mapping[str, ModelRole],
    context: type[Any] | None = None,
) -> tuple[Machine, StateGraph[Any, Any, Any, Any]]:
    """Turn a definition into a machine and the builder of its LangGraph graph.

    Args:
        definition: The chart's frozen tables.
        schema: The user's state schema.
        root: The chart's own policy, or None.
        tools: All registered tools.
        roles: The models by role.
        context: LangGraph's context schema.

    Returns:
        The machine and the builder.

    Raises:
        DefinitionError: A state's activity cannot be called, or a contract is unknown.
        PolicyLoosened: A policy is weaker than one around it.
        UnknownTool: A state declares a tool that nobody registered.
    """
    hints = declared_types(schema)
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(
        _typed_dict(f"{definition.name}_state", with_control(hints)),
        context_schema=context,
        output_schema=_typed_dict(f"{definition.name}_output", hints),
    )
    machine = _machine(definition, schema=schema, hints=hints, builder=builder, root=root, tools=tools, roles=roles)
    _add_nodes(machine, builder)
    return machine, builder


def _typed_dict(name: str, hints: Mapping[str, Any]) -> type[Any]:
    """Make a TypedDict whose keys are known only when the chart is compiled, which its type cannot say."""
    make = cast("Callable[[str, dict[str, Any]], type[Any]]", TypedDict)
    return make(name, dict(hints))


def finish(
    machine: Machine,
    builder: StateGraph[Any, Any, Any, Any],
    *,
    schema: type[Any],
    checkpointer: BaseCheckpointSaver[Any] | bool | None = None,
    store: BaseStore | None = None,
    cache: BaseCache[Any] | None = None,
    tables: Tables,
) -> ChartGraph:
    """Compile the builder and make it a `ChartGraph`.

    Args:
        machine: From `lower`.
        builder: From `lower`.
        schema: The user's state schema.
        checkpointer: A LangGraph saver, or None.
        store: LangGraph's long-term store.
        cache: LangGraph's cache.
        tables: Where journal, ledger and asks live.

    Returns:
        The graph, with the hashes in every checkpoint's metadata and the recursion limit of the turn fuse.

    Raises:
        DefinitionError: Saver, store or cache is something else.
    """
    for name, given, kind, expected in (
        ("checkpointer", checkpointer, (BaseCheckpointSaver, bool), "a LangGraph saver"),
        ("store", store, BaseStore, "a LangGraph store"),
        ("cache", cache, BaseCache, "a LangGraph cache"),
    ):
        if given is not None:
            of_kind(given, kind, name=name, expected=expected, where=f"{machine.name}.compile(…)")
    compiled = builder.compile(checkpointer=checkpointer, store=store, cache=cache, name=machine.name)
    attributes = {key: value for key, value in vars(compiled).items() if key != "__orig_class__"}
    graph = ChartGraph(
        machine=machine,
        tables=tables,
        user_schema=schema,
        allowed=allowlist(dict(machine.schema.types)),
        **attributes,
    )
    return graph.with_config(recursion_limit=_recursion_limit(machine))


def _machine(
    definition: Definition,
    *,
    schema: type[Any],
    hints: Mapping[str, Any],
    builder: StateGraph[Any, Any, Any, Any],
    root: Policy | None,
    tools: Mapping[str, Tool],
    roles: Mapping[str, ModelRole],
) -> Machine:
    every = cast("dict[str, BaseChannel[Any, Any, Any]]", builder.channels)
    channels = {key: channel for key, channel in every.items() if key != CHANNEL}
    state = StateSchema(schema=schema, channels=channels, types=hints)
    nodes = [node for node in definition.nodes if node.kind != "history"]
    held = effectives({n.index: (n.path, chain(definition, n.index, root=root)) for n in nodes}, tools=tools)
    plans = {
        node.index: plan_state(node, node.activity, effective=held[node.index], tools=tools, schema=state)
        for node in definition.nodes
        if node.activity is not None
    }
    microsteps = min(policy.microsteps for policy in held.values())
    return Machine(
        chart=definition,
        schema=state,
        plans=plans,
        effectives=held,
        roles=roles,
        pins=Pins(
            chart=digest(definition.to_json()),
            policy=digest({definition.nodes[index].path: policy.hash for index, policy in held.items()}),
            schema=digest(schema_json(hints)),
            mode=held[0].mode,
        ),
        microsteps=microsteps,
        name=definition.name,
        heeding=frozenset(index for index in plans if _heeds(definition, index)),
        start=_known_start(definition, plans=plans),
        first=beginning(definition, limit=microsteps),
    )


def _heeds(definition: Definition, state: int) -> bool:
    """Whether something from outside may concern a state: an event that is not the chart's own news, or a timer."""
    reactions = [t for t in definition.tables.triggered[state] if t.kind == "event"]
    return any(t.delay is not None or not all(is_internal(name) for name in t.events) for t in reactions)


def _add_nodes(machine: Machine, builder: StateGraph[Any, Any, Any, Any]) -> None:
    for node in machine.chart.nodes:
        if node.index not in machine.chart.tables.atoms or node.index in machine.chart.tables.finals:
            continue  # a superstate may wait in its final state for an event of its own
        plan = machine.plans.get(node.index)
        if plan is not None:
            heeds = node.index in machine.heeding
            steps = partial(heeding_steps if heeds else activity_steps, machine, plan)
            name = machine.activity_node(node.index)
            direct = None if heeds else straight(machine, plan, starts=node.index == machine.start)
            _add(machine, builder, name, steps, direct=direct)
            if plan.tools or plan.has_agents or plan.asks:  # nothing else ever asks, or is asked about
                _add(machine, builder, machine.ask_node(node.index), partial(ask_steps, machine, node.index))
        if machine.waits(node.index):
            _add(machine, builder, machine.wait_node(node.index), partial(wait_steps, machine, node.index))
    if machine.chart.tables.has_parallel:
        _add(machine, builder, HUB, partial(hub_steps, machine))
        _add(machine, builder, REST, partial(rest_steps, machine))
    if machine.start is None:
        _add(machine, builder, ENTER, partial(enter_steps, machine))
    if machine.first is not None:
        builder.add_edge(START, machine.activity_node(machine.first))
    else:
        builder.add_conditional_edges(START, partial(_dispatch, machine))


def _known_start(definition: Definition, *, plans: Mapping[int, StatePlan]) -> int | None:
    """The state every run starts in, where neither a guard nor an action has a say in it."""
    tables = definition.tables
    if len([entered for entered, _ in tables.start if entered in tables.atoms]) > 1:
        return None
    state = tables.start[-1][0]
    acts = any(blocks or tables.timers[entered] for entered, blocks in tables.start)
    return None if tables.has_always or acts or state not in plans else state


def _add(
    machine: Machine, builder: StateGraph[Any, Any, Any, Any], name: str, steps: Any, *, direct: Direct | None = None
) -> None:
    """Add a node; `steps` makes its generator."""
    stopped = partial(stopped_steps, machine)
    made = StateNode(name, steps, schema=machine.schema, stopped=stopped, direct=direct)
    node = cast("Runnable[Any, Any]", made)
    builder.add_node(name, node, destinations=(END,))


def _dispatch(machine: Machine, values: Values, config: RunnableConfig) -> str:
    """Where an input leads: to the one first state's activity, or to the node that enters the chart."""
    step = cast(Step, begin(machine, values, where="the start").step)
    single = step.starts and not step.timers and len(step.configuration.atomic(machine.chart)) == 1
    return machine.activity_node(step.starts[0]) if single else ENTER


def _recursion_limit(machine: Machine) -> int:
    """Enough supersteps for every turn the fuse allows, each of them visiting every state and its ask once."""
    turns = [limit.value for policy in machine.effectives.values() for limit in policy.limits if limit.unit == "turns"]
    # Each event that comes from outside while activities run is a superstep too.
    open_ended = not turns or machine.heeding or machine.chart.tables.has_parallel
    least = NO_FUSE_LIMIT if open_ended else LEAST_LIMIT
    return max(least, int(max(turns, default=0) + 1) * (2 * len(machine.plans) + 2) + 25)
