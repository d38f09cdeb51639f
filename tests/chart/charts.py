"""Random charts for property tests: nested, parallel, with history, and transitions from anywhere to anywhere."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from stateward.chart.definition import Definition, Node, Transition
from stateward.chart.tables import define

EVENTS = ("a", "b", "c")
Tree = tuple[str, tuple[Any, ...]]

_leaves = st.sampled_from([("atomic", ()), ("atomic", ()), ("final", ())])
_trees = st.recursive(
    _leaves,
    lambda inner: st.tuples(
        st.sampled_from(["compound", "compound", "parallel"]),
        st.lists(inner, min_size=1, max_size=3).map(tuple),
    ),
    max_leaves=10,
)


@st.composite
def charts(draw: st.DrawFn) -> Definition:
    """Return a chart of up to about twenty states and ten event transitions."""
    tops = draw(st.lists(_trees, min_size=1, max_size=3))
    nodes: list[Node] = []
    _lay_out(("compound", tuple(tops)), nodes=nodes, parent=-1, draw=draw)
    transitions = [_transition(index, nodes=nodes, draw=draw) for index in range(draw(st.integers(1, 10)))]
    for transition in transitions:
        source = nodes[transition.source]
        mine = (*source.transitions, transition.index)
        nodes[source.index] = replace(source, transitions=mine)
    return define("random", nodes=nodes, transitions=transitions, events=dict.fromkeys(EVENTS))


def _lay_out(tree: Tree, *, nodes: list[Node], parent: int, draw: st.DrawFn) -> int:
    kind, inside = tree
    index = len(nodes)
    name = f"s{index}" if parent >= 0 else ""
    # A region must be able to hold something: a final state is no region.
    kind = "atomic" if kind == "final" and parent >= 0 and nodes[parent].kind == "parallel" else kind
    nodes.append(Node(index=index, name=name, path=name, kind=kind, parent=parent, end=index + 1))  # pyright: ignore
    children = [_lay_out(child, nodes=nodes, parent=index, draw=draw) for child in inside]
    initial = (draw(st.sampled_from(children)),) if kind == "compound" else ()
    if initial and parent >= 0 and draw(st.booleans()):
        children.append(_history(nodes, parent=index, default=initial, deep=draw(st.booleans())))
    done = replace(nodes[index], children=tuple(children), end=len(nodes), initial=initial)
    nodes[index] = done
    return index


def _history(nodes: list[Node], *, parent: int, default: tuple[int, ...], deep: bool) -> int:
    index = len(nodes)
    path = f"h{index}"
    node = Node(index=index, name=path, path=path, kind="history", parent=parent, end=index + 1)
    nodes.append(replace(node, deep=deep, default=default))
    return index


def _transition(index: int, *, nodes: list[Node], draw: st.DrawFn) -> Transition:
    sources = [node.index for node in nodes if node.kind not in ("history", "final")]
    targets = [node.index for node in nodes[1:]]
    return Transition(
        index=index,
        source=draw(st.sampled_from(sources)),
        kind="event",
        events=(draw(st.sampled_from(EVENTS)),),
        targets=tuple(draw(st.lists(st.sampled_from(targets), max_size=1))),
        internal=draw(st.booleans()),
    )
