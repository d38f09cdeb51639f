"""Where a run stands and which way it took, found again in the chart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from stateward.chart.argument import texts
from stateward.chart.arrow import bare_arrows, full_arrows
from stateward.chart.definition import Definition, Transition
from stateward.errors import DefinitionError

ARROW = " -> "
"""Between the ends of a transition, as histories write it: `WORKING.PLAN -> DONE`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """What a picture marks."""

    active: frozenset[str] = frozenset()
    """Paths of the states the run is in, and of those around them."""
    visited: frozenset[str] = frozenset()
    """Paths of the states it came through."""
    taken: frozenset[int] = frozenset()
    """Indexes of the transitions it took."""


def trail(chart: Definition, *, highlight: Iterable[str] = (), path: Iterable[str] = ()) -> Trail:
    """Find a configuration and a path in a chart.

    Args:
        chart: The chart.
        highlight: Paths of active states; those around them are marked with them.
        path: What the run did, in order: transitions as a history writes them (`PLAN -> ACT`; of several between two
            states that is all of them, unless event and guard are there), or state paths. Between two different states
            that follow each other the transitions that lead from one to the other are marked; an empty text between
            them says that they do not follow each other.

    Returns:
        What to mark.

    Raises:
        DefinitionError: Something names a state or a transition that the chart does not have.
    """
    where = f"drawing `{chart.name}`"
    steps = texts(path, name="path", expected="what a run did, as text", where=where)
    lit = texts(highlight, name="highlight", expected="paths of states, as text", where=where)
    active = [chart.nodes[i].path for name in lit for i in chart.tables.chains[_state(chart, name)]]
    told = {t.index for step in steps if ARROW in step for t in _transitions(chart, step)}
    states = [None if not step or ARROW in step else _state(chart, step) for step in steps]
    led = {t.index for a, b in pairwise(states) for t in _leading(chart, a, b)}
    ends = [end for i in told for end in _ends(chart.transitions[i])]
    visited = [chart.nodes[i].path for i in (*ends, *(state for state in states if state is not None))]
    return Trail(active=frozenset(active) - {""}, visited=frozenset(visited) - {""}, taken=frozenset(told | led))


def _state(chart: Definition, path: str) -> int:
    if path not in chart.by_path:
        known = ", ".join(f"`{known}`" for known in chart.by_path if known)
        raise DefinitionError(
            f"`{path}` is no state", where=f"drawing `{chart.name}`", fix=f"States: {known}. Transitions are `A -> B`."
        )
    return chart.by_path[path]


def is_step(chart: Definition, step: str) -> bool:
    """Tell whether `trail` finds a step of a path in a chart.

    Args:
        chart: The chart.
        step: A state path, a transition, or the empty text between two.
    """
    return not step or step in chart.by_path or bool(_named(chart, step))


def _named(chart: Definition, step: str) -> Sequence[Transition]:
    """Return the transitions a history can mean, which may have been written by an earlier form of the chart.

    What says more than is needed names one; what says less, all that it could be.
    """
    for names in _namings(chart):
        found = [chart.transitions[i] for i, arrow in enumerate(names) if arrow == step]
        if found:
            return found
    return ()


def _namings(chart: Definition) -> Iterator[Sequence[str]]:
    """Yield what its transitions are called, most likely first; nearly always the first is enough."""
    yield chart.tables.arrows
    yield full_arrows(chart.transitions, nodes=chart.nodes, name=chart.name)
    yield bare_arrows(chart.transitions, nodes=chart.nodes, name=chart.name)


def _transitions(chart: Definition, step: str) -> Sequence[Transition]:
    found = _named(chart, step)
    if not found:
        raise DefinitionError(
            f"`{step}` is no transition",
            where=f"drawing `{chart.name}`",
            fix=f"Transitions: {', '.join(f'`{arrow}`' for arrow in dict.fromkeys(chart.tables.arrows))}.",
        )
    return found


def _leading(chart: Definition, source: int | None, target: int | None) -> Sequence[Transition]:
    """Return the transitions of one state or of those around it that enter another state, or what is around that."""
    if source is None or target is None or source == target:
        return ()
    sources, targets = chart.tables.chains[source], chart.tables.chains[target][1:]
    return [t for t in chart.transitions if t.source in sources and any(end in targets for end in _entered(chart, t))]


def _entered(chart: Definition, transition: Transition) -> Sequence[int]:
    """Return its targets, a history's superstate for the history."""
    nodes = chart.nodes
    return [nodes[end].parent if nodes[end].kind == "history" else end for end in transition.targets]


def _ends(transition: Transition) -> tuple[int, ...]:
    return (transition.source, *transition.targets)
