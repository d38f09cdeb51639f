"""Names are paths, resolved from the inside out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stateward.chart.definition import Node
from stateward.chart.transition import History, Target
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

    def target(self, target: Target, *, source: Node) -> int:
        """Return the state a transition written at `source` leads to.

        Raises:
            UnknownTarget: No state answers to the name.
            DefinitionError: `History` of a state that declares no such history.
        """
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
                f"{target!r} needs a superstate that remembers, but `{superstate.path}` declares "
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
