"""The analysis of a whole chart: structure, policies, tools and properties in one report."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import Annotated, Any, cast, get_args, get_origin, get_type_hints

from langchain_core.runnables import Runnable
from pydantic import BaseModel
from typing_extensions import is_typeddict

from stateward.chart.check import structure
from stateward.chart.definition import Activity, Definition
from stateward.chart.explore import DEFAULT_BOUND, explore
from stateward.chart.finding import Finding
from stateward.chart.proof import Proof, prove
from stateward.chart.property import Property, stated
from stateward.chart.timing import timing
from stateward.govern.check import governance
from stateward.govern.effective import Effective
from stateward.govern.ground import Ground, ToolFacts, fuses
from stateward.govern.kinds.shape import Sensitivity
from stateward.govern.total import Total, totals
from stateward.run.door.role import ModelRole
from stateward.run.door.tool import Tool
from stateward.run.plan import Gate

COMMUTATIVE: Mapping[object, tuple[type[object], ...]] = {
    operator.add: (int, float, complex),
    operator.mul: (int, float, complex),
    operator.or_: (set, frozenset, int, bool),
    operator.and_: (set, frozenset, int, bool),
    operator.xor: (set, frozenset, int, bool),
    max: (int, float, str),
    min: (int, float, str),
}
"""Reducers that give the same in either order, with the types of which this is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What the analysis says of a chart."""

    graph: str
    states: int
    configurations: int
    """How many standings were explored; of innermost states if `exact` is false."""
    exact: bool
    findings: tuple[Finding, ...]
    proofs: tuple[Proof, ...]
    totals: tuple[Total, ...]

    def to_json(self) -> dict[str, object]:
        """Return the report as plain JSON; totals are left out."""
        return {
            "graph": self.graph,
            "states": self.states,
            "configurations": self.configurations,
            "exact": self.exact,
            "properties": [{"property": proof.property, "holds": proof.holds} for proof in self.proofs],
            "findings": [finding.to_json() for finding in self.findings],
        }


def analyse(
    chart: Definition,
    *,
    schema: type[Any],
    effectives: Mapping[int, Effective],
    tools: Mapping[str, Tool],
    models: Mapping[str, ModelRole] | None = None,
    properties: Iterable[Property] = (),
    bound: int = DEFAULT_BOUND,
) -> Report:
    """Analyse a chart under its policies.

    Args:
        chart: The chart.
        schema: Its state schema.
        effectives: Per state: the policy that holds there.
        tools: The tools that are known, by name.
        models: The models that are known, by role.
        properties: What is stated of it.
        bound: How many configurations to explore before a coarser graph is taken, at least 1.

    Raises:
        UnknownTarget: A property names a state the chart does not have.
        DefinitionError: Something is no property.
    """
    facts = {name: facts_of(tool) for name, tool in tools.items()}
    possible = fuses(chart, effectives, tools=facts)
    graph = explore(chart, fuses=possible, bound=bound)
    working = {node.index: node.activity for node in chart.nodes if node.activity}
    waiting = frozenset(state for state, activity in working.items() if _waits(activity.do))
    cleared: dict[str, Sensitivity] = {name: role.cleared for name, role in (models or {}).items()}
    ground = Ground(graph=graph, effectives=effectives, tools=facts, models=cleared, waiting=waiting)
    declared = stated(properties, where=chart.name)
    proofs = tuple(prove(graph, each, bounded=ground.bounded) for each in declared)
    findings = (
        *structure(graph, fuses=possible),
        *timing(graph, writes=_writes(working, schema), sensitive=dict(_sensitive(schema))),
        *governance(ground),
        *(finding for proof in proofs if (finding := proof.finding())),
    )
    return Report(
        graph=chart.name,
        states=sum(node.kind != "history" for node in chart.nodes[1:]),
        configurations=len({(standing.active, standing.memory) for standing in graph.nodes if standing.rests}),
        exact=graph.exact,
        findings=tuple(sorted(findings, key=lambda finding: ("error", "warning", "note").index(finding.severity))),
        proofs=proofs,
        totals=totals(ground),
    )


def facts_of(tool: Tool) -> ToolFacts:
    """Return what the proofs know of a tool.

    Args:
        tool: The tool.
    """
    return ToolFacts(
        effect=tool.effect,
        has_lookup=tool.lookup is not None,
        timeout_s=tool.timeout_s,
        cleared=tool.cleared,
        most={name: most for name, (is_number, most) in _numbers(tool.schema) if is_number},
        arguments=frozenset(tool.arguments.model_fields),
    )


def _numbers(schema: Mapping[str, Any]) -> Iterator[tuple[str, tuple[bool, float | None]]]:
    """Yield the arguments of a JSON schema, whether each is a number, and the most it may be."""
    for name, declared in cast("Mapping[str, Mapping[str, Any]]", schema.get("properties", {})).items():
        forms = [declared, *cast("list[Mapping[str, Any]]", declared.get("anyOf", []))]
        numbers = [form for form in forms if form.get("type") in ("integer", "number")]
        limits = [_most(form) for form in numbers]
        unlimited = None in limits
        most = None if unlimited or not numbers else max(limit for limit in limits if limit is not None)
        yield name, (bool(numbers), most)


def _most(form: Mapping[str, Any]) -> float | None:
    """Return the most a number may be; what it must be below counts as reached."""
    limits = [form[key] for key in ("maximum", "exclusiveMaximum") if key in form]
    return min(limits) if limits else None


def _waits(do: object) -> bool:
    call = getattr(do, "__call__", None)  # noqa: B004 - the method itself is asked whether it is async
    return isinstance(do, Runnable) or inspect.iscoroutinefunction(do) or inspect.iscoroutinefunction(call)


def _sensitive(schema: type[Any]) -> Iterator[tuple[str, str]]:
    """Yield the keys of a schema whose value depends on the order of writes, with the reason."""
    for key, declared in get_type_hints(schema, include_extras=True).items():
        if get_origin(declared) is not Annotated:
            yield key, "the last write wins"
            continue
        held, *extras = get_args(declared)
        reducer = next((extra for extra in reversed(extras) if callable(extra)), None)
        if reducer is None:
            yield key, "the last write wins"
        elif not _commutes(reducer, held):
            yield key, f"`{getattr(reducer, '__name__', reducer)}` is not known to give the same in either order"


def _commutes(reducer: Callable[..., Any], held: object) -> bool:
    kind = get_origin(held) or held
    return any(known is reducer and kind in kinds for known, kinds in COMMUTATIVE.items())


def _writes(working: Mapping[int, Activity], schema: type[Any]) -> dict[int, frozenset[str] | None]:
    return {state: _keys(activity, schema) for state, activity in working.items()}


def _keys(activity: Activity, schema: type[Any]) -> frozenset[str] | None:
    """Return the keys an activity may write, as its return type says; None if it does not."""
    fn = getattr(activity.do, "func", activity.do)
    try:
        returned = get_type_hints(fn).get("return", inspect.Parameter.empty)
    except (TypeError, NameError, AttributeError):
        return None
    gate = activity.output
    gated = frozenset([gate.key]) if isinstance(gate, Gate) and gate.key else frozenset[str]()
    named = _named(returned, schema)
    return None if named is None else named | gated


def _named(returned: object, schema: type[Any]) -> frozenset[str] | None:
    kinds = get_args(returned) or (returned,)
    named: set[str] = set()
    for kind in kinds:
        if kind is None or kind is NoneType:
            continue
        if kind is schema or not isinstance(kind, type) or not (is_typeddict(kind) or issubclass(kind, BaseModel)):
            return None
        named.update(get_type_hints(kind))
    return frozenset(named)
