"""The shortest step: an activity has ended, and the transition it leads to is nothing but a move.

Most steps of most charts are of this kind: no parallel states, no eventless transitions, no function of the author on
the way but guards, no history. Where such a step leads depends on the event, the active states and the guards alone,
so all but the guards is worked out once and then looked up. `Macrostep` does everything else, and would do the same
here.
"""

from __future__ import annotations

from collections.abc import Sequence

from stateward.chart.configuration import Configuration, paths_of
from stateward.chart.data import Data
from stateward.chart.definition import Definition, Move, Moves, Transition
from stateward.chart.event import Occurrence
from stateward.chart.selection import inside, reacts
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
    if len(events) != 1 or events[0].name not in chart.tables.completions:
        return None
    moves = _moves(chart, events[0].name, active=configuration.active)
    if moves is None:
        return None
    verdicts: list[Verdict] = []

    def active() -> frozenset[str]:
        return paths_of(chart, configuration.active)

    try:
        for transition, move in moves:
            passed = transition.guard is None or data.test(transition, event=events[0], active=active)
            if transition.guard is not None:
                verdicts.append(Verdict(transition=transition.index, passed=passed))
            if passed:
                return _step(configuration, events[0], transition, move, verdicts=tuple(verdicts))
    except Exception:  # noqa: BLE001 - the macrostep asks again and makes an event of it
        return None
    return None


def _step(
    configuration: Configuration,
    event: Occurrence,
    transition: Transition,
    move: Move,
    *,
    verdicts: tuple[Verdict, ...],
) -> Step:
    entries = dict(configuration.entries)
    for state in move.entered:
        entries[state] = entries.get(state, 0) + 1
    micro = Microstep(event=event.name, transitions=(transition.index,), exited=move.exited, entered=move.entered)
    return Step(
        configuration=Configuration(active=move.active, history=configuration.history, entries=entries),
        microsteps=(micro,),
        handled=True,
        unhandled=(),
        verdicts=verdicts,
        starts=move.started,
        exited=move.exited,
        final=move.final,
        output=None,
    )


def _moves(chart: Definition, name: str, *, active: tuple[int, ...]) -> Moves | None:
    known = chart.tables.moves
    key = (name, active)
    if key not in known:
        known[key] = _work_out(chart, name, active=active)
    return known[key]


def _work_out(chart: Definition, name: str, *, active: tuple[int, ...]) -> Moves | None:
    tables = chart.tables
    ended = tables.completions[name]
    if tables.has_parallel or tables.has_always or not name.startswith(ACTIVITY_DONE) or ended != active[-1]:
        return None
    reacting = [t for t in tables.triggered[ended] if reacts(t, name=name, fresh=True)]
    moves = [(transition, _move(chart, transition, active=active)) for transition in reacting]
    plain = tuple([(transition, move) for transition, move in moves if move is not None])
    return plain if len(plain) == len(moves) else None


def _move(chart: Definition, transition: Transition, *, active: tuple[int, ...]) -> Move | None:
    tables = chart.tables
    within, plan = tables.domains[transition.index], tables.plans[transition.index]
    if within is None or plan is None or transition.actions:
        return None
    exited = inside(chart, within, active=active)[::-1]
    entered = tuple([state for state, _ in plan])
    if any(blocks for _, blocks in plan) or not all(_is_silent(chart, state) for state in entered):
        return None
    if any(chart.nodes[state].exit or tables.histories[state] for state in exited):
        return None
    if tables.has_timers and any(tables.timers[state] for state in (*exited, *entered)):
        return None
    return Move(
        exited=exited,
        entered=entered,
        active=tuple(sorted({*active}.difference(exited).union(entered))),
        started=tuple([state for state in entered if chart.nodes[state].activity]),
        final=not tables.finals.isdisjoint(entered),
    )


def _is_silent(chart: Definition, state: int) -> bool:
    """Tell whether entering a state raises no event and calls nobody."""
    node = chart.nodes[state]
    if node.kind == "final":
        return state in chart.tables.finals and node.data is None
    completes = any(chart.transitions[index].kind == "completion" for index in node.transitions)
    return node.kind == "compound" or (node.kind == "atomic" and (node.activity is not None or not completes))
