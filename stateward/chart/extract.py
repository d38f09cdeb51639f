"""One superstate as a chart of its own: everything inside it, and an end for each way out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from stateward.chart.definition import Action, Definition, Node, Transition
from stateward.chart.guard import bind_pure
from stateward.chart.tables import STATE_DONE, define
from stateward.errors import DefinitionError, UnknownTarget

DONE = "done"
"""The end of a superstate that completes and has no `to`."""


def extract(chart: Definition, path: str, *, name: str, exit_key: str | None = None) -> Definition:
    """Return a superstate as a chart of its own.

    The states around it stay as bare shells, with their entry actions, transitions and policies: state paths are those
    of the whole chart, and what binds the superstate there binds it here. A transition that leads out of it ends the
    new chart in a final state named after the target; its completion without `to` ends it in `done`.

    Args:
        chart: The whole chart.
        path: The superstate's path.
        name: The new chart's name.
        exit_key: The state key that gets the path of the target a way out leads to; None for none.

    Returns:
        The new chart.

    Raises:
        UnknownTarget: The chart has no such state.
        DefinitionError: It has no states inside.
    """
    return _Extraction(chart, _superstate(chart, path), exit_key=exit_key).definition(name)


def _superstate(chart: Definition, path: str) -> Node:
    known = tuple(node.path for node in chart.nodes[1:] if node.kind in ("compound", "parallel"))
    if not isinstance(cast("object", path), str) or path not in chart.by_path or not path:
        raise UnknownTarget(
            f"`{path}` is no state",
            where=chart.name,
            fix="Superstates: " + (", ".join(f"`{one}`" for one in known) or "none") + ".",
            target=path,
            known=known,
        )
    node = chart.node(path)
    if path not in known:
        raise DefinitionError(
            f"`{path}` has no states inside", where=chart.name, fix="Name a superstate; an activity is a function."
        )
    return node


class _Extraction:
    """The new chart while it is laid out."""

    def __init__(self, chart: Definition, superstate: Node, *, exit_key: str | None) -> None:
        self.chart = chart
        self.exit_key = exit_key
        self.chain = (*reversed(chart.tables.ancestors[superstate.index]), superstate.index)
        """The states around the superstate, outermost first, and itself."""
        memories = [child for around in self.chain[:-1] for child in chart.tables.histories[around]]
        self.kept = sorted({*self.chain, *memories, *range(superstate.index, superstate.end)})
        self.index: Mapping[int, int] = {old: new for new, old in enumerate(self.kept)}
        arrows = [chart.transitions[each] for old in self.kept for each in chart.nodes[old].transitions]
        self.arrows = {arrow.index: new for new, arrow in enumerate(arrows)}
        self.ends_itself = self._ends_itself(superstate)
        self.exits = self._exits(arrows)

    def definition(self, name: str) -> Definition:
        transitions = [self._transition(self.chart.transitions[old]) for old in self.arrows]
        if self.ends_itself:
            transitions.append(self._own_end())
        named = {event for transition in transitions for event in transition.events}
        return define(
            name,
            nodes=self._nodes(),
            transitions=transitions,
            events={event: kind for event, kind in self.chart.events.items() if event in named},
        )

    def _exits(self, arrows: Sequence[Transition]) -> dict[str, int]:
        """Where the ways out lead, by path, with the final state that stands for it."""
        outside = dict.fromkeys(path for arrow in arrows if (path := self._way_out(arrow)) is not None)
        if self.ends_itself:
            outside[DONE] = None
        return {path: len(self.kept) + place for place, path in enumerate(outside)}

    def _ends_itself(self, superstate: Node) -> bool:
        """Whether its completion is nobody's in the whole chart, and therefore the end of the new one."""
        arrows = (self.chart.transitions[each] for each in superstate.transitions)
        inside = self.chart.nodes[superstate.index + 1 : superstate.end]
        return not any(arrow.kind == "completion" for arrow in arrows) and any(n.kind == "final" for n in inside)

    def _way_out(self, arrow: Transition) -> str | None:
        """The first target that lies outside; a history stands for its superstate."""
        nodes = self.chart.nodes
        for target in arrow.targets:
            if target not in self.index:
                node = nodes[target]
                return nodes[node.parent].path if node.kind == "history" else node.path
        return None

    def _nodes(self) -> list[Node]:
        finals = [self._final(path, index) for path, index in self.exits.items()]
        nodes = [self._node(self.chart.nodes[old]) for old in self.kept]
        root = nodes[0]
        ends = tuple(final.index for final in finals)
        nodes[0] = replace(root, children=(*root.children, *ends), end=len(nodes) + len(finals))
        return [*nodes, *finals]

    def _node(self, node: Node) -> Node:
        shell = node.index in self.chain[:-1]
        within = self._inward(node) if shell else ()
        if shell and node.kind == "compound":
            node = replace(node, initial=within, initial_actions=())
        elif node.kind == "history" and node.parent in self.chain[:-1]:
            node = replace(node, default=self._inward(self.chart.nodes[node.parent]), default_actions=())
        last = max(old for old in self.kept if node.index <= old < node.end)
        return replace(
            node,
            index=self.index[node.index],
            parent=self.index.get(node.parent, -1),
            children=self._mapped(node.children),
            end=self.index[last] + 1,
            initial=self._mapped(node.initial),
            default=self._mapped(node.default),
            transitions=(*(self.arrows[each] for each in node.transitions), *self._added(node)),
        )

    def _added(self, node: Node) -> tuple[int, ...]:
        return (len(self.arrows),) if self.ends_itself and node.index == self.chain[-1] else ()

    def _inward(self, shell: Node) -> tuple[int, ...]:
        return (self.chain[self.chain.index(shell.index) + 1],)

    def _mapped(self, states: Sequence[int]) -> tuple[int, ...]:
        return tuple(self.index[state] for state in states if state in self.index)

    def _own_end(self) -> Transition:
        state = self.chart.nodes[self.chain[-1]]
        return Transition(
            index=len(self.arrows),
            source=self.index[state.index],
            kind="completion",
            events=(STATE_DONE + state.path,),
            targets=(self.exits[DONE],),
        )

    def _final(self, path: str, index: int) -> Node:
        name = path.replace(".", "--")
        entry = (_telling(self.exit_key, path),) if self.exit_key else ()
        return Node(index=index, name=name, path=name, kind="final", parent=0, end=index + 1, entry=entry)

    def _transition(self, arrow: Transition) -> Transition:
        out = self._way_out(arrow)
        targets = self._mapped(arrow.targets) if out is None else (self.exits[out],)
        return replace(arrow, index=self.arrows[arrow.index], source=self.index[arrow.source], targets=targets)


def _telling(key: str, path: str) -> Action:
    def tell(state: object) -> dict[str, str]:
        return {key: path}

    bound = bind_pure(tell, where=path)
    return Action(fn=bound, name=f"{key} = {path}")
