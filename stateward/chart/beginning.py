"""Where every run of a chart begins, whatever its functions do: read from the tables alone.

A block of states often begins in one that only prepares: an entry action, and a `to` without a guard. No function has a
say in where that leads. What an action raises would have one, if anything on the way reacted to events.
"""

from __future__ import annotations

from stateward.chart.definition import Definition, Route, Transition
from stateward.chart.route import route
from stateward.chart.selection import reacting
from stateward.chart.tables import STATE_DONE


def beginning(chart: Definition, *, limit: int) -> int | None:
    """Return the state with an activity in which every run begins.

    Args:
        chart: The chart; it keeps the routes that were worked out.
        limit: How many microsteps the start may take, at least 1.

    Returns:
        None where that depends on a guard, on history, or on what an action may raise; and where a run begins in
        several states, in one that waits, with a timer, or at its end.

    Source: SCXML appendix D, interpret and microstep.
    """
    if chart.tables.has_always:
        return None
    way, acts = route(chart, (), active=(), memory={}), False
    for _ in range(limit):  # each turn is a microstep; a circle ends with the last of them
        acts = acts or bool(way.exits) or any(stop.blocks for stop in way.entries)
        if len(way.atoms) != 1 or _is_unsure(chart, way, acts=acts):
            return None
        state = way.atoms[0]
        if chart.nodes[state].activity is not None:
            return state
        onward = reacting(chart, STATE_DONE + chart.nodes[state].path, state=state)[:1]
        if not onward or not _is_certain(chart, onward[0]):
            return None
        acts = acts or bool(onward[0].actions)
        way = route(chart, onward, active=way.active, memory={})
    return None


def _is_unsure(chart: Definition, way: Route, *, acts: bool) -> bool:
    """Tell whether more may happen than the news of what is complete: timers, an end, a reaction to what is raised."""
    state = way.atoms[0]
    if chart.nodes[state].kind == "final" or any(chart.tables.timers[entered] for entered in way.entered):
        return True
    return acts and any(transition.kind == "event" for transition in chart.tables.triggered[state])


def _is_certain(chart: Definition, transition: Transition) -> bool:
    """Tell whether a transition is taken whatever its chart's functions say, and leads where no history decides."""
    return transition.guard is None and chart.tables.plans[transition.index] is not None
