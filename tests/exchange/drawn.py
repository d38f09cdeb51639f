"""Random charts of everything that can be carried over: what both formats have to bring back unchanged."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

import stateward as sw
from stateward.chart.compiler import build
from stateward.chart.definition import Action, Definition, Node, Transition
from stateward.chart.guard import Bound, bind_pure
from stateward.chart.tables import define
from stateward.errors import DefinitionError
from stateward.exchange.content import CancelSend, Combined, Constant, Inside, Raise, Send, action, bound


class Resume(sw.Event):
    """A typed event."""

    note: str = ""


def is_ready(state: Any) -> bool:
    """A guard."""
    return bool(state.get("ready"))


def is_above(state: Any, event: Any, *, limit: int) -> bool:
    """A guard with an argument."""
    return state.get("n", 0) > limit


def count(state: Any) -> dict[str, int]:
    """An action."""
    return {"n": state.get("n", 0) + 1}


def log(state: Any, *, label: str, expr: str) -> None:
    """An action that SCXML has a word for."""


def work(state: Any) -> None:
    """An activity."""


def patience(state: Any) -> float:
    """A delay."""
    return 2.0


def total(state: Any) -> int:
    """The data of a final state."""
    return 3


class Plan:
    """A contract."""


GUARDS = (is_ready, functools.partial(is_above, limit=3), functools.partial(is_above, limit=-1))
ACTIONS = (count, functools.partial(log, label="here", expr=""))
CONTENT = (Raise(event="go"), Send(event="go.on", after_s=0.25, id="later", data={"n": [1]}), CancelSend(id="later"))
NAMES = ("A", "B", "C", "b-2", "_d")
EVENTS: tuple[Any, ...] = ("stop", "go", "go.on", "error", "error.activity", Resume, "a.b.*", "done.state", "*")


@dataclass(frozen=True)
class Features:
    """What a drawn chart may have in it."""

    deep_initial: bool = True
    """Whether a superstate may begin further inside than in a child."""


@dataclass(frozen=True)
class Outline:
    """What transitions may name: the paths of states, and the kind of history of those that remember."""

    paths: tuple[str, ...]
    memories: dict[str, Any]
    deep_initial: bool


@st.composite
def charts(draw: st.DrawFn, features: Features = Features()) -> Definition:
    """Return a chart of up to about fifteen states."""
    tops = draw(st.lists(_trees(), min_size=1, max_size=3))
    trees = [(name, *_legal(tree)) for name, tree in zip(NAMES, tops, strict=False)]
    paths = [path for name, *tree in trees for path in _paths(tree, name)]
    memories = {
        path: kind
        for name, *tree in trees
        for path in _composite(tree, name)
        if (kind := draw(st.sampled_from([None, "shallow", "deep"])))
    }
    outline = Outline(tuple(paths), memories, features.deep_initial)
    children = [_state(draw, tree, name, outline) for name, *tree in trees]
    on = _reactions(draw, outline, most=1)
    try:
        chart = build("drawn", children, on=on, always=_choices(draw, outline, most=1, last=False))
    except DefinitionError as error:
        # One target may be that of the other, or inside of it.
        assume("cannot be active together" not in str(error))
        raise
    return _with_content(draw, chart)


def _trees() -> st.SearchStrategy[Any]:
    leaves = st.sampled_from([("atomic", ()), ("atomic", ()), ("final", ())])
    kinds = st.sampled_from(["compound", "compound", "parallel"])
    return st.recursive(leaves, lambda deep: st.tuples(kinds, st.lists(deep, min_size=1, max_size=3)), max_leaves=6)


def _legal(tree: Any, *, region: bool = False) -> Any:
    """Return a tree in which no region is final."""
    kind, deep = tree
    if kind == "final" and region:
        return ("atomic", ())
    return (kind, tuple(_legal(sub, region=kind == "parallel") for sub in deep))


def _beneath(path: str) -> list[str]:
    """Return paths inside: names come again in other branches, but none hides that of a state around it."""
    return [f"{path}.{name}{path.count('.') + 1}" for name in NAMES]


def _paths(tree: Any, path: str) -> list[str]:
    return [path, *(p for sub, name in zip(tree[1], _beneath(path), strict=False) for p in _paths(sub, name))]


def _composite(tree: Any, path: str) -> list[str]:
    own = [path] if tree[1] else []
    return own + [p for sub, name in zip(tree[1], _beneath(path), strict=False) for p in _composite(sub, name)]


def _state(draw: st.DrawFn, tree: Any, path: str, outline: Outline) -> Any:
    kind, deep = tree
    name = path.rpartition(".")[2]
    entry = draw(st.lists(st.sampled_from(ACTIONS), max_size=2))
    if kind == "final":
        return sw.Final(name, entry=entry, data=draw(st.sampled_from([None, total])))
    common: dict[str, Any] = {
        "entry": entry,
        "exit": draw(st.lists(st.sampled_from(ACTIONS), max_size=1)),
        "on": _reactions(draw, outline, most=3),
        "always": _choices(draw, outline, most=1, last=False),
        "to": _choices(draw, outline, most=2, last=draw(st.booleans())) or None,
    }
    if kind == "atomic":
        return sw.State(name, **common, **(_activity(draw) if draw(st.booleans()) else {}))
    common["history"] = outline.memories.get(path)
    inside = [_state(draw, sub, each, outline) for sub, each in zip(deep, _beneath(path), strict=False)]
    if kind == "parallel":
        return sw.Parallel(name, *inside, **common)
    within = [p.removeprefix(f"{path}.") for p in outline.paths if p.startswith(f"{path}.")]
    first = within if outline.deep_initial else [p for p in within if "." not in p]
    return sw.Superstate(name, *inside, initial=draw(st.sampled_from(first)), **common)


def _activity(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "do": work,
        "model": draw(st.sampled_from([None, "planner"])),
        "tools": draw(st.sampled_from([(), ("look", "pay-out")])),
        "output": draw(st.sampled_from([None, "refund", Plan])),
        "timeout_s": draw(st.sampled_from([None, 0.1, 30.0])),
        "asks": draw(st.booleans()),
    }


def _target(draw: st.DrawFn, outline: Outline) -> Any:
    states = st.sampled_from(outline.paths)
    if draw(st.integers(0, 19)) == 0:
        return [draw(states), draw(states)]
    histories = [sw.History(path) for path in outline.memories]
    return draw(st.one_of(states, st.sampled_from(histories)) if histories else states)


def _reactions(draw: st.DrawFn, outline: Outline, *, most: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(draw(st.integers(0, most))):
        target = None if draw(st.integers(0, 4)) == 0 else _target(draw, outline)
        said: dict[str, Any] = {
            "when": draw(st.sampled_from((None, *GUARDS))),
            "do": draw(st.lists(st.sampled_from(ACTIONS), max_size=2)),
            "internal": draw(st.integers(0, 3)) == 0,
        }
        if draw(st.integers(0, 3)) == 0:
            found.append(sw.after(draw(st.sampled_from([0, 0.1, 1.5, 1e-7, 86400, patience])), target, **said))
        else:
            names = (*EVENTS, *(f"done.state.{path}" for path in outline.paths[:2]))
            found.append(sw.on(draw(st.sampled_from(names)), target, **said))
    return found


def _choices(draw: st.DrawFn, outline: Outline, *, most: int, last: bool) -> list[Any]:
    guarded = [
        sw.when(draw(st.sampled_from(GUARDS)), _target(draw, outline)) for _ in range(draw(st.integers(0, most)))
    ]
    return [*guarded, _target(draw, outline)] if last else guarded


def _with_content(draw: st.DrawFn, chart: Definition) -> Definition:
    """Put in what only a document says: combined guards, events to raise and to send, plain data."""
    nodes = [_said_node(draw, node) for node in chart.nodes]
    transitions = [_said_transition(draw, transition, chart) for transition in chart.transitions]
    return define(chart.name, nodes=nodes, transitions=transitions, events=chart.events)


def _said_node(draw: st.DrawFn, node: Node) -> Node:
    if node.data and draw(st.booleans()):
        node = replace(node, data=bound(Constant(value={"said": ["<&>", None, 1.5]})))
    return replace(node, entry=_more(draw, node.entry)) if node.entry else node


def _said_transition(draw: st.DrawFn, transition: Transition, chart: Definition) -> Transition:
    transition = replace(transition, actions=_more(draw, transition.actions))
    if transition.guard is None or draw(st.booleans()):
        return transition
    guard = _combined(draw, chart)
    return replace(transition, guard=guard, guard_name=guard.name)


def _more(draw: st.DrawFn, actions: tuple[Action, ...]) -> tuple[Action, ...]:
    return (*actions, *(action(said) for said in draw(st.lists(st.sampled_from(CONTENT), max_size=1))))


def _combined(draw: st.DrawFn, chart: Definition) -> Bound:
    inside = [bound(Inside(path=node.path)) for node in chart.nodes[1:] if node.kind != "history"]
    plain = st.sampled_from([*inside, *(bind_pure(guard, where="") for guard in GUARDS)])
    return draw(st.recursive(plain, _around, max_leaves=4))


def _around(part: st.SearchStrategy[Bound]) -> st.SearchStrategy[Bound]:
    several = st.lists(part, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        part.map(lambda each: bound(Combined(by="not", parts=(each,)))),
        several.map(lambda parts: bound(Combined(by="and", parts=parts))),
        several.map(lambda parts: bound(Combined(by="or", parts=parts))),
    )
