"""The lowered machine: a definition with everything its nodes need, worked out once at compile time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.runnables import Runnable
from pydantic import BaseModel

from stateward.chart.declared import is_unasked
from stateward.chart.definition import Activity, Definition, Node
from stateward.chart.event import Occurrence
from stateward.chart.guard import Bound, bind
from stateward.chart.property import Property
from stateward.chart.tables import ACTIVITY_DONE
from stateward.errors import DefinitionError
from stateward.govern.effective import Effective
from stateward.govern.kinds.operator import LEAST
from stateward.govern.policy import Policy
from stateward.run.checkpoint import Pins
from stateward.run.door.role import ModelRole
from stateward.run.door.tool import Tool
from stateward.run.door.toolbox import select
from stateward.run.door.working import measured
from stateward.run.governor.found import (
    Graph,
    governors_in,
    graphs_of,
    may_ask,
    refused,
    restricts,
    tools_in,
    ungoverned,
)
from stateward.run.inner import graph_in, ready
from stateward.run.state import StateSchema

ENTER = "__enter__"
"""The node that enters a chart whose first state waits, or which begins in several states or with a timer."""
HUB = "__hub__"
"""The node that owns the activities of all regions while several states are active; no state can have this name."""
REST = "__rest__"
"""The node in which several regions wait when no activity of theirs is running."""
DEFAULT_RETRIES = 2


@dataclass(frozen=True, slots=True)
class Gate:
    """The contract on a state's output and what happens when it is not kept.

    Args:
        contract: A Pydantic model, or the name of a contract in the effective policy.
        key: The state key it covers; None to find the one key declared with the contract's type, else the whole update.
        retries: How often the activity is sent back with feedback, ≥ 0; None for the policy's number.
    """

    contract: type[BaseModel] | str
    key: str | None = field(default=None, kw_only=True)
    retries: int | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundGate:
    """A gate with its contract built."""

    contract: type[BaseModel]
    key: str | None
    retries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StatePlan:
    """One state with an activity, ready to run."""

    node: Node
    effective: Effective
    tools: Mapping[str, Tool]
    role: str | None
    timeout_s: float | None
    """How long the activity may take, by the state itself and by its policies."""
    is_measured: bool
    """Whether a policy limits for how long the run may work here, be it one that only observes."""
    bound: Bound | None
    runnable: Runnable[Any, Any] | None
    gate: BoundGate | None
    is_sync: bool
    """Whether the activity is a plain function, not a coroutine function nor a runnable."""
    takes_run: bool
    """Whether the activity names `run`."""
    done: Occurrence
    """What happens when the activity has ended well."""
    asks: bool = False
    """Whether the activity puts questions of its own to people."""
    has_agents: bool = False
    """Whether governed agents run inside."""
    agents_ask: bool = False
    """Whether a tool of theirs may need a person."""

    @property
    def can_ask(self) -> bool:
        """Whether a call of this activity may need a person."""
        if self.agents_ask or self.asks:
            return True
        restricted = any(self.effective.level(name).level == "restricted" for name in self.tools)
        return restricted or any(tool.asks for tool in self.tools.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Everything the nodes of one compiled chart read; frozen, and shared by all sessions."""

    chart: Definition
    schema: StateSchema
    plans: Mapping[int, StatePlan]
    effectives: Mapping[int, Effective]
    roles: Mapping[str, ModelRole]
    pins: Pins
    microsteps: int
    name: str
    heeding: frozenset[int] = frozenset()
    """The states that an event from outside, or a timer, may lead out of or concern otherwise."""
    properties: tuple[Property, ...] = ()
    """What the chart's author states of it."""
    start: int | None = None
    """The state with an activity that every run begins in, where no function of the author's is called before."""
    first: int | None = None
    """The same where functions are called on the way, which have no say in where it leads."""

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools of all states, by name."""
        return {name: tool for plan in self.plans.values() for name, tool in plan.tools.items()}

    def activity_node(self, state: int) -> str:
        """Return the LangGraph node that runs a state's activity.

        Args:
            state: The state's index.
        """
        return self.chart.nodes[state].path

    def wait_node(self, state: int) -> str:
        """Return the LangGraph node in which a state waits for events.

        Args:
            state: The state's index.
        """
        path = self.chart.nodes[state].path
        return f"{path}.wait" if state in self.plans else path

    def ask_node(self, state: int) -> str:
        """Return the LangGraph node in which a state waits for a person's answers.

        Args:
            state: The state's index.
        """
        return f"{self.chart.nodes[state].path}.ask"

    def waits(self, state: int) -> bool:
        """Whether some event is awaited while this state is active.

        Args:
            state: The state's index.
        """
        return any(t.kind == "event" for t in self.chart.tables.triggered[state])


def chain(definition: Definition, state: int, *, root: Policy | None) -> list[tuple[str, Policy]]:
    """List the policies that bind a state, outermost first.

    Args:
        definition: The chart.
        state: The state's index.
        root: The chart's own policy.

    Returns:
        Pairs of path and policy.

    Raises:
        DefinitionError: What stands as `policy=` is not a policy.
    """
    bound: list[tuple[str, Policy]] = [("", root)] if root is not None else []
    for index in (*reversed(definition.ancestors(state)), state):
        node = definition.nodes[index]
        if node.policy is None:
            continue
        if not isinstance(node.policy, Policy):
            raise DefinitionError(
                f"`policy` is {node.policy!r}, not a policy", where=node.path, fix="Use `sw.load_policy(…)`."
            )
        bound.append((node.path, node.policy))
    return bound


def plan_state(
    node: Node, activity: Activity, *, effective: Effective, tools: Mapping[str, Tool], schema: StateSchema
) -> StatePlan:
    """Make a state's activity ready to run.

    Args:
        node: The state.
        activity: What it declares.
        effective: Its folded policy.
        tools: All registered tools.
        schema: The state schema, for the gate.

    Returns:
        The plan.

    Raises:
        UnknownTool: It declares a tool that nobody registered.
        DefinitionError: `do` cannot be called, a sync activity declares a timeout, or a graph stands under a policy
            that it would not keep, or accumulates a key otherwise than the chart.
        PolicyLoosened: The policy of an agent in it is weaker than what binds the state.
    """
    selected = select(tools, activity.tools, where=node.path)
    agents = _agents(activity.do, tools=selected, effective=effective, where=node.path)
    given = cast("Runnable[Any, Any]", activity.do) if isinstance(activity.do, Runnable) else None
    runnable = None if given is None else ready(given, schema, where=node.path)
    bound = None if runnable else bind(cast("object", activity.do), where=node.path, allowed=("state", "event", "run"))
    if activity.timeout_s is not None and bound is not None and not bound.is_async:
        raise DefinitionError(
            "A sync activity cannot be stopped, so `timeout_s` would not hold",
            where=node.path,
            fix="Make the activity `async def`, or put timeouts on its tools.",
        )
    plan = StatePlan(
        node=node,
        effective=effective,
        tools=selected,
        role=activity.model,
        timeout_s=LEAST.meet(activity.timeout_s, effective.timeouts.activity_timeout_s),
        has_agents=bool(agents),
        agents_ask=any(may_ask(agent, effective, path=node.path, tools=selected) for agent in agents),
        asks=activity.asks,
        is_measured=bool(measured(effective)),
        bound=bound,
        runnable=runnable,
        gate=_gate(activity.output, effective=effective, schema=schema, where=node.path),
        is_sync=bound is not None and not bound.is_async,
        takes_run=bound is not None and bound.takes("run"),
        done=Occurrence(name=f"{ACTIVITY_DONE}{node.path}"),
    )
    if plan.can_ask and is_unasked(cast("object", activity.do)):
        raise _may_ask(plan)
    return plan


def _may_ask(plan: StatePlan) -> DefinitionError:
    names = [name for name in plan.tools if plan.effective.level(name).level == "restricted" or plan.tools[name].asks]
    told = ", ".join(f"`{name}`" for name in names)
    return DefinitionError(
        "The activity must not wait for a person, and "
        + (f"{told} may need one" if told else "a governed agent in it may need one"),
        where=plan.node.path,
        fix="Give the agent the memory `invocation` or `thread`, or take away what may ask: a restricted tool, or one"
        " that is `once` and has no `lookup`.",
        tools=tuple(names),
    )


def _agents(do: object, *, tools: Mapping[str, Tool], effective: Effective, where: str) -> Sequence[Graph]:
    """Look for governed agents, and refuse graphs whose calls would pass by this state's door (DESIGN decision 16).

    Raises:
        DefinitionError: The activity is such a graph, or one of its tools has one in it, under a policy that restricts
            anything.
        PolicyLoosened: An agent's own policy is weaker than what binds the state.
    """
    graph = graph_in(do)
    fns = {name: tool.fn for name, tool in tools.items()}
    inside = graphs_of(do) if graph is None else (graph,)
    agents = [
        each for each in (*inside, *(each for fn in fns.values() for each in graphs_of(fn))) if governors_in(each)
    ]
    if restricts(effective):
        if graph is not None and graph not in agents:
            raise refused("The activity is", graph, where=where)
        for name, each in (*ungoverned(fns), *(found for agent in agents for found in ungoverned(tools_in(agent)))):
            raise refused(f"The tool `{name}` calls", each, where=where)
    for agent in agents:
        for governor in governors_in(agent):
            known = {*tools, *tools_in(agent)}
            governor.bound_by(effective, path=f"{where}/{governor.agent}", tools=known, refuse=True)
    return agents


def _gate(output: object, *, effective: Effective, schema: StateSchema, where: str) -> BoundGate | None:
    if output is None:
        return None
    declared = output if isinstance(output, Gate) else _as_gate(output, where=where)
    if declared.key is not None and declared.key not in schema.channels:
        raise DefinitionError(
            f"The gate covers the key `{declared.key}`, which the state schema does not declare",
            where=where,
            fix=f"Known keys: {', '.join(sorted(schema.channels))}.",
        )
    retries = DEFAULT_RETRIES
    contract = declared.contract
    if isinstance(contract, str):
        retries = effective.contract(contract).retries
        contract = effective.model_of(contract)
    return BoundGate(
        contract=contract,
        key=declared.key or _key_of(contract, schema),
        retries=retries if declared.retries is None else declared.retries,
    )


def _as_gate(output: object, *, where: str) -> Gate:
    if isinstance(output, str) or (isinstance(output, type) and issubclass(output, BaseModel)):
        return Gate(output)
    raise DefinitionError(
        f"`output` is {output!r}, not a contract",
        where=where,
        fix="Pass a Pydantic model, the name of a contract in the policy, or `sw.Gate(…)`.",
    )


def _key_of(contract: type[BaseModel], schema: StateSchema) -> str | None:
    keys = [key for key, declared in schema.types.items() if declared is contract]
    return keys[0] if len(keys) == 1 else None
