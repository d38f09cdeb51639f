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
    if len(events) != 1 or not configuration.active or chart.tables.has_always or chart.tables.has_parallel:
        return None
    event, state = events[0], configuration.active[-1]
    candidates = reacting(chart, event.name, state=state)
    if not candidates or not _is_plain(chart, event.name, state=state, candidates=candidates):
        return None
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
                return _step(configuration, event, transition, way, verdicts) if way.silent else None
    except Exception:  # noqa: BLE001 - the macrostep asks again and makes an event of it
        return None
    return None


def _is_plain(chart: Definition, name: str, *, state: int, candidates: tuple[Transition, ...]) -> bool:
    """Tell whether an event can be of the shortest kind at all: so guards are seldom asked twice.

    Nothing follows the end of the chart, and of the completions only that of the state's own activity is fresh for
    certain.
    """
    if state in chart.tables.finals or any(transition.actions for transition in candidates):
        return False
    owner = chart.tables.completions.get(name)
    return owner is None or (owner == state and name.startswith(ACTIVITY_DONE))


def _step(
    configuration: Configuration, event: Occurrence, transition: Transition, way: Route, verdicts: list[Verdict]
) -> Step:
    history = configuration.history
    if way.kept:
        history = layered(history).with_changes(way.kept)
    entries = layered(configuration.entries).counted(way.entered)
    micro = Microstep(event=event.name, transitions=(transition.index,), exited=way.exited, entered=way.entered)
    return Step(
        configuration=Configuration(active=way.active, history=history, entries=entries),
        microsteps=(micro,),
        handled=True,
        unhandled=(),
        verdicts=tuple(verdicts),
        starts=way.started,
        exited=way.exited,
        final=way.final,
        output=None,
    )
