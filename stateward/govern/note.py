"""What drawings say of policies: fuses where they hang, approvals where a tool needs them."""

from __future__ import annotations

from collections.abc import Mapping

from stateward.chart.definition import Definition
from stateward.chart.note import Note, Notes
from stateward.govern.effective import Effective


def notes(chart: Definition, effectives: Mapping[int, Effective]) -> Notes:
    """Say beside each state what limits it.

    Args:
        chart: The chart.
        effectives: The effective policy of each state, by index; states that are missing get no note of their own.

    Returns:
        The notes by path; only for paths that have any, limits on single tools left out.
    """
    told: dict[str, dict[Note, None]] = {}
    for policy in effectives.values():
        for limit in policy.limits:
            if not limit.unit.startswith("calls:"):
                note = Note(f"fuse {limit.unit} {limit.value:g}", "fuse")
                told.setdefault(limit.scope, {})[note] = None
    for index, policy in effectives.items():
        node = chart.nodes[index]
        if node.activity is not None and node.activity.asks:
            told.setdefault(node.path, {})[Note("asks people", "ask")] = None
        for tool in node.activity.tools if node.activity else ():
            if policy.level(tool).level == "restricted":
                told.setdefault(node.path, {})[Note(f"asks before {tool}", "ask")] = None
    return {path: tuple(lines) for path, lines in told.items()}
