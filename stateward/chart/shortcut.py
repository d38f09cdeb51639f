"""The shortest step: one event happens, and the transition it leads to is nothing but a move.

Many steps of many charts are of this kind: no parallel states, no eventless transitions, no function of the author on
the way but guards. What is left of the whole algorithm is to ask the guards and to look up the route. `Macrostep` does
everything else, and would do the same here.
"""

from __future__ import annotations

from collections.abc import Sequence

from stateward.chart.configuration import Configuration, paths_of
from stateward.chart.data import Data
from stateward.chart.definition import Definition, Route, Transition
from stateward.chart.event import Occurrence
from stateward.chart.layered import layered
from stateward.chart.route import route
from stateward.chart.selection import reacting
from stateward.chart.tables import ACTIVITY_DONE
from stateward.chart.trace import Microstep, Step, Verdict

Move = tuple[Transition, Route, list[Verdict]]
"""The transition that is taken, what it comes to, and what guards said on the way to it."""


def shortcut(
    chart: Definition, configuration: Configuration, events: Sequence[Occurrence], *, data: Data
) -> Step | None:
    """Take the step if it is of the shortest kind.

    Args:
        chart: The chart; it keeps what was worked out.
        configuration: Where it stands.
        events: What happened.
        data: Evaluates the guards.

    Returns:
        The step; None if it is of another kind, if no guard is true, or if one raised: nothing has changed then, and
        guards, which are pure, may be asked again.
    """
    if len(events) != 1 or not configuration.active:
        return None
    event = events[0]
    candidates = plain(chart, event.name, state=configuration.active[-1])
    found = move(chart, configuration, event, candidates=candidates, data=data) if candidates else None
    return _step(configuration, event, found) if found is not None else None


def plain(chart: Definition, name: str, *, state: int) -> tuple[Transition, ...]:
    """Return the transitions that react to an event, if it can be of the shortest kind at all.

    So guards are seldom asked twice. Nothing follows the end of the chart, and of the completions only that of the
    state's own activity is fresh for certain.

    Args:
        chart: The chart.
        name: The event's name.
        state: The innermost active state.

    Returns:
        The transitions in the order in which they are tried; none if it is of another kind.
    """
    tables = chart.tables
    if tables.has_always or tables.has_parallel or state in tables.finals:
        return ()
    candidates = reacting(chart, name, state=state)
    if any([transition.actions for transition in candidates]):
        return ()
    owner = tables.completions.get(name)
    return candidates if owner is None or (owner == state and name.startswith(ACTIVITY_DONE)) else ()


def move(
    chart: Definition,
    configuration: Configuration,
    event: Occurrence,
    *,
    candidates: tuple[Transition, ...],
    data: Data,
) -> Move | None:
    """Find the move that one event comes to, without making a step of it.

    Args:
        chart: The chart; it keeps what was worked out.
        configuration: Where it stands.
        event: What happened.
        candidates: From `plain`, for this event and the innermost active state.
        data: Evaluates the guards.

    Returns:
        The move; None where `shortcut` returns None.
    """
    verdicts: list[Verdict] = []

    def active() -> frozenset[str]:
        return paths_of(chart, configuration.active)

    try:
        for transition in candidates:
            passed = transition.guard is None or data.test(transition, event=event, active=active)
            if transition.guard is not None:
                verdicts.append(Verdict(transition=transition.index, passed=passed))
            if passed:
                way = route(chart, (transition,), active=configuration.active, memory=configuration.history)
                return (transition, way, verdicts) if way.silent else None
    except Exception:  # noqa: BLE001 - the macrostep asks again and makes an event of it
        return None
    return None


def moved(configuration: Configuration, way: Route) -> Configuration:
    """Return where a chart stands after a move.

    Args:
        configuration: Where it stood.
        way: What the move comes to.
    """
    history = configuration.history
    if way.kept:
        history = layered(history).with_changes(way.kept)
    entries = layered(configuration.entries).counted(way.entered)
    return Configuration(active=way.active, history=history, entries=entries)


def _step(configuration: Configuration, event: Occurrence, found: Move) -> Step:
    transition, way, verdicts = found
    micro = Microstep(event=event.name, transitions=(transition.index,), exited=way.exited, entered=way.entered)
    return Step(
        configuration=moved(configuration, way),
        microsteps=(micro,),
        handled=True,
        unhandled=(),
        verdicts=tuple(verdicts),
        starts=way.started,
        exited=way.exited,
        final=way.final,
        output=None,
    )
