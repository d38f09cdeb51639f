"""What a transition is called where one line has to name it: `A -> B`, and more only where that says too little.

Several transitions may lead from one state to another. A history that wrote the same of each could not be read back:
one would not know which was taken. There the event and the guard stand behind it, `A -> B on paid [is_large]`, and if
even these are the same a number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from stateward.chart.definition import Node, Transition
from stateward.chart.guard import Bound

STAYS = "(stays)"
"""In place of the target of a transition that has none."""


def arrows(transitions: Sequence[Transition], *, nodes: Sequence[Node], name: str) -> tuple[str, ...]:
    """Return what each transition is called: as shortly as no two are called the same.

    Args:
        transitions: All transitions of a chart.
        nodes: Its states.
        name: Its name, which stands for the root.
    """
    short = bare_arrows(transitions, nodes=nodes, name=name)
    if len(set(short)) == len(short):
        return short
    often, full = Counter(short), full_arrows(transitions, nodes=nodes, name=name)
    return tuple(one if often[one] == 1 else other for one, other in zip(short, full, strict=True))


def bare_arrows(transitions: Sequence[Transition], *, nodes: Sequence[Node], name: str) -> tuple[str, ...]:
    """Return per transition its ends alone, which several may share.

    Args:
        transitions: All transitions of a chart.
        nodes: Its states.
        name: Its name, which stands for the root.
    """
    return tuple(_ends(transition, nodes=nodes, name=name) for transition in transitions)


def full_arrows(transitions: Sequence[Transition], *, nodes: Sequence[Node], name: str) -> tuple[str, ...]:
    """Return per transition everything that tells it from others.

    Args:
        transitions: All transitions of a chart.
        nodes: Its states.
        name: Its name, which stands for the root.
    """
    said = [f"{_ends(one, nodes=nodes, name=name)}{_trigger(one)}{_guard(one)}" for one in transitions]
    often, seen = Counter(said), Counter[str]()
    numbered: list[str] = []
    for one in said:
        seen[one] += 1
        numbered.append(f"{one} #{seen[one]}" if often[one] > 1 else one)
    return tuple(numbered)


def _ends(transition: Transition, *, nodes: Sequence[Node], name: str) -> str:
    targets = ", ".join(nodes[target].path for target in transition.targets)
    return f"{nodes[transition.source].path or name} -> {targets or STAYS}"


def _guard(transition: Transition) -> str:
    return f" [{transition.guard_name}]" if transition.guard is not None else ""


def _trigger(transition: Transition) -> str:
    if transition.kind != "event":
        return " always" if transition.kind == "always" else ""
    if transition.delay is None:
        return f" on {' or '.join(transition.events)}"
    return f" after {transition.delay.name if isinstance(transition.delay, Bound) else f'{transition.delay:g} s'}"
