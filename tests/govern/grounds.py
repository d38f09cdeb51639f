"""Charts with policies on their states, explored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stateward.chart.compiler import build
from stateward.chart.explore import explore
from stateward.govern.effective import Effective, effective
from stateward.govern.ground import Ground, ToolFacts, fuses
from stateward.govern.kinds.shape import Sensitivity
from stateward.govern.policy import Policy


def work(state: Any) -> None:
    """Stand for an activity."""


def ground(
    states: Sequence[Any],
    *,
    tools: Mapping[str, ToolFacts] | None = None,
    models: Mapping[str, Sensitivity] | None = None,
    waiting: tuple[str, ...] = (),
    bound: int = 1000,
) -> Ground:
    """Return a chart's graph with the policies on its states."""
    chart = build("chart", states)
    policies: dict[int, Effective] = {}
    for node in chart.nodes:
        around = [chart.nodes[state] for state in (*reversed(chart.ancestors(node.index)), node.index)]
        chain = [(each.path, each.policy) for each in around if isinstance(each.policy, Policy)]
        policies[node.index] = effective(chain, path=node.path, tools=["pay", "look"])
    facts = tools or {}
    return Ground(
        graph=explore(chart, fuses=fuses(chart, policies, tools=facts), bound=bound),
        effectives=policies,
        tools=facts,
        models=models or {},
        waiting=frozenset(chart.by_path[path] for path in waiting),
    )
