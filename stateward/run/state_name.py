"""A state by its path, or by the end of it."""

from __future__ import annotations

from stateward.chart.definition import Definition
from stateward.errors import UnknownTarget


def states_named(chart: Definition, name: str) -> list[int]:
    """Find the states that a name may mean.

    Args:
        chart: The chart.
        name: A path, or the end of one.

    Returns:
        The state of that path; else all whose paths end so.
    """
    if name in chart.by_path:
        return [chart.by_path[name]]
    return [index for path, index in chart.by_path.items() if path.endswith(f".{name}")]


def named_state(chart: Definition, name: str) -> int:
    """Find the one state that a name means.

    Args:
        chart: The chart.
        name: A path, or the end of one.

    Raises:
        UnknownTarget: No state is called so, or several.
    """
    found = states_named(chart, name)
    if len(found) == 1:
        return found[0]
    paths = ", ".join(chart.nodes[index].path for index in found) or ", ".join(filter(None, sorted(chart.by_path)))
    raise UnknownTarget(
        f"{'Several states are' if found else 'No state is'} called `{name}`", where=chart.name, fix=f"States: {paths}."
    )
