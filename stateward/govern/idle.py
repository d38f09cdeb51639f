"""Rules that hold for nothing: an argument that no tool has, a tool or a role that no state declares; misspelt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stateward.chart.definition import Activity
from stateward.chart.finding import Finding, Severity, listed
from stateward.govern.ground import Ground
from stateward.govern.kinds.arguments import ArgumentRule
from stateward.govern.kinds.tools import Rule
from stateward.govern.layer import Layer
from stateward.govern.pattern import is_one_of


def idle(ground: Ground) -> Iterator[Finding]:
    """Yield the rules of a chart's policies that hold for nothing in it.

    Args:
        ground: The chart's graph with its policies.
    """
    for layer, activities in _layers(ground):
        hidden = any(_may_hide_calls(activity) for activity in activities)
        tools = sorted({tool for activity in activities for tool in activity.tools})
        yield from _idle_tools(ground, layer, tools, hidden=hidden)
        yield from _idle_roles(layer, activities, hidden=hidden)


def _layers(ground: Ground) -> Iterator[tuple[Layer, list[Activity]]]:
    """Yield each policy once, with the activities that it binds."""
    found: dict[tuple[str, int], tuple[Layer, list[Activity]]] = {}
    for node in ground.chart.nodes:
        for layer in ground.effectives[node.index].layers if node.activity else ():
            bound = found.setdefault((layer.scope, id(layer.policy)), (layer, []))[1]
            if node.activity is not None:
                bound.append(node.activity)
    yield from found.values()


def _may_hide_calls(activity: Activity) -> bool:
    """Whether an activity is a graph or an agent, whose own tools and roles nobody declares."""
    return hasattr(activity.do, "invoke")


def _idle_tools(ground: Ground, layer: Layer, tools: list[str], *, hidden: bool) -> Iterator[Finding]:
    section = layer.policy.tools
    for number, rule in enumerate(section.rules if section is not None else ()):
        matched = [tool for tool in tools if is_one_of(tool, patterns=[rule.match])]
        if matched:
            yield from _idle_arguments(ground, layer, rule, matched, place=f"tools.rules[{number}]")
        elif rule.arguments and not hidden and section is not None and section.discovered is None:
            what = f"rules on arguments of `{rule.match}` hold for no tool that a state inside declares"
            yield _finding(layer, f"tools.rules[{number}]", what, known=tools)


def _idle_arguments(ground: Ground, layer: Layer, rule: Rule, matched: list[str], *, place: str) -> Iterator[Finding]:
    facts = [ground.tools[tool] for tool in matched if tool in ground.tools]
    if len(facts) < len(matched) or any(fact.arguments is None for fact in facts):
        return
    known = {name for fact in facts for name in fact.arguments or ()}
    for each in rule.arguments:
        if _first(each) not in known:
            what = f"no tool of `{rule.match}` ({listed(matched)}) has an argument `{_first(each)}`"
            yield _finding(layer, f"{place}.arguments.{each.name}", what, known=known)


def _first(rule: ArgumentRule) -> str:
    return rule.name.partition(".")[0]


def _idle_roles(layer: Layer, activities: list[Activity], *, hidden: bool) -> Iterator[Finding]:
    used = {activity.model for activity in activities if activity.model}
    window = layer.policy.window
    used |= {role for each in layer.policy.models if each.role in used for role in each.rule.fallback or ()}
    used |= {window.summary} if window is not None and window.summary else set()
    for each in layer.policy.models:
        if each.role not in used:
            what = f"no state inside uses the role `{each.role}`"
            yield _finding(layer, f"models.{each.role}", what, known=used, severity="note" if hidden else "warning")


def _finding(layer: Layer, key: str, what: str, *, known: Iterable[str], severity: Severity = "warning") -> Finding:
    return Finding(
        rule="idle-rule",
        severity=severity,
        path=layer.scope,
        message=f"{what[0].upper()}{what[1:]} ({layer.origin(key)}). Known are {listed(sorted(known)) or 'none'}.",
    )
