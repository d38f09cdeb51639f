"""Names are paths, resolved from the inside out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from stateward.chart.definition import Node
from stateward.chart.transition import History, Target, Targets
from stateward.errors import DefinitionError, UnknownTarget


class Scope:
    """What names mean in one chart.

    A name written at a state is looked for beside the state, then beside the state around it, and so on to
    the top; if it is nowhere there, inside the state itself. The first place where the whole dotted name
    leads somewhere wins, and within one place it can lead to one state only, for siblings have different
    names.

    Args:
        nodes: All states of the chart, history states included.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._by_path: Mapping[str, int] = {node.path: node.index for node in nodes}

    def targets(self, targets: Targets, *, source: Node) -> tuple[int, ...]:
        """Return the states a transition written at `source` leads to.

        Raises:
            UnknownTarget: No state answers to a name.
            DefinitionError: `History` of a state that declares no such history, an empty sequence, or states that
                cannot be active together.
        """
        several = (targets,) if isinstance(targets, str | History) else tuple(targets)
        states = tuple(self._target(target, source=source) for target in several)
        self.together(states, where=source.path or "the chart")
        return states

    def together(self, states: tuple[int, ...], *, where: str) -> None:
        """Check that states can be entered together: any two are in different regions of a parallel state.

        Args:
            states: What is targeted; a history state stands for the inside of its parent.
            where: The state it is written at, for the message.

        Raises:
            DefinitionError: They cannot, or there is none.

        Source: SCXML 3.11, legal state specification.
        """
        if not states:
            raise DefinitionError(
                "An empty sequence of targets leads nowhere", where=where, fix="Name a state, or leave the target out."
            )
        for one, other in combinations(states, 2):
            if not self._in_different_regions(one, other):
                raise DefinitionError(
                    f"`{self._nodes[one].path}` and `{self._nodes[other].path}` cannot be active together",
                    where=where,
                    fix="Several targets have to be in different regions of a parallel state.",
                )

    def _in_different_regions(self, one: int, other: int) -> bool:
        ends = [
            self._nodes[n.parent if n.kind == "history" else n.index] for n in (self._nodes[one], self._nodes[other])
        ]
        if any(end.index <= state < end.end for end, state in zip(ends, (other, one), strict=True)):
            return False
        around = next(n for n in self._outwards(ends[0]) if n.index < ends[1].index < n.end)
        return around.kind == "parallel"

    def _target(self, target: Target, *, source: Node) -> int:
        if isinstance(target, History):
            return self._history(target, source=source)
        return self._resolve(target, source=source)

    def inside(self, name: str, *, superstate: Node) -> int:
        """Return the state that a relative path means inside a superstate.

        Raises:
            UnknownTarget: There is no such state inside.
        """
        found = self._by_path.get(_join(superstate.path, name))
        if found is None or self._nodes[found].kind == "history":
            raise self._unknown(name, where=superstate.path or "the chart", within=superstate)
        return found

    def _resolve(self, name: str, *, source: Node) -> int:
        for around in (*self._outwards(source), source):
            found = self._by_path.get(_join(around.path, name))
            if found and self._nodes[found].kind != "history":
                return found
        raise self._unknown(name, where=source.path or "the chart", within=self._nodes[0])

    def _outwards(self, source: Node) -> list[Node]:
        around: list[Node] = []
        while source.parent >= 0:
            source = self._nodes[source.parent]
            around.append(source)
        return around

    def _history(self, target: History, *, source: Node) -> int:
        superstate = self._nodes[self._resolve(target.superstate, source=source)]
        kept = [self._nodes[child] for child in superstate.children if self._nodes[child].kind == "history"]
        if not kept or target.deep not in (None, kept[0].deep):
            kind = "deep" if target.deep else "shallow"
            raise DefinitionError(
                f"{target!r} needs a state that remembers, but `{superstate.path}` declares "
                + (f"{'deep' if kept[0].deep else 'shallow'} history" if kept else "no history"),
                where=source.path,
                fix=f'Give it `history="{kind}"`.',
            )
        return kept[0].index

    def _unknown(self, name: str, *, where: str, within: Node) -> UnknownTarget:
        known = [n.path for n in self._nodes[within.index + 1 : within.end] if n.kind != "history"]
        return UnknownTarget(
            f"`{name}` is no state",
            where=where,
            fix="Known states: " + ", ".join(f"`{path}`" for path in known) + ".",
            target=name,
            known=tuple(known),
        )


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
