"""Who would see classified data without being cleared for it, found before any run (SYSTEMS D9)."""

from __future__ import annotations

from collections.abc import Iterator

from stateward.chart.definition import Activity, Node
from stateward.chart.finding import Finding, Severity
from stateward.govern.effective import Effective
from stateward.govern.ground import Ground
from stateward.govern.kinds.shape import Sensitivity
from stateward.govern.ruling import LESS_SENSITIVE


def exposures(ground: Ground) -> Iterator[Finding]:
    """Yield the tools and models that a state declares and that are not cleared for the data it works on.

    Args:
        ground: The chart's graph with its policies.
    """
    for node, activity, effective in ground.working():
        for severity, what, cleared in _used(ground, node, activity, effective):
            if effective.bars(cleared):
                yield _exposed(ground, node, effective, severity=severity, what=what, cleared=cleared)


def _used(
    ground: Ground, node: Node, activity: Activity, effective: Effective
) -> Iterator[tuple[Severity, str, Sensitivity]]:
    """Yield what a state calls that is known, and the most sensitive data it may see there."""
    for tool in ground.usable(node.index):
        if tool in ground.tools:
            cleared = LESS_SENSITIVE.meet(ground.tools[tool].cleared, effective.level(tool).cleared)
            yield "error", f"tool `{tool}`", cleared
    if not activity.model:
        return
    if activity.model in ground.models:
        yield "error", f"model `{activity.model}`", ground.models[activity.model]
    for other in effective.model_rule(activity.model).fallback or ():
        if other in ground.models:
            yield "warning", f"model `{other}`, which would answer for `{activity.model}`,", ground.models[other]


def _exposed(
    ground: Ground, node: Node, effective: Effective, *, severity: Severity, what: str, cleared: Sensitivity
) -> Finding:
    return Finding(
        rule="not-cleared",
        severity=severity,
        path=node.path,
        message=f"`{node.path}` works on {effective.sensitivity} data ({effective.origin_of('data.sensitivity')}), "
        f"and {what} is cleared for {cleared} data only: its calls are refused.",
        witness=ground.way_to(node),
    )
