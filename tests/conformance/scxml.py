"""SCXML documents as definitions: what the authoring tree cannot say (parallel, several targets) included."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from stateward.chart.definition import Action, Definition, Node, NodeKind, Transition
from stateward.chart.event import normal
from stateward.chart.guard import Bound
from stateward.chart.tables import define
from tests.conformance.content import action, block, names_of, tag
from tests.conformance.script import NotSupportedError, evaluate, literal

STATES = ("state", "parallel", "final", "history")


def load(path: Path) -> tuple[Definition, list[Element]]:
    """Return a document as a definition, with its data elements.

    Raises:
        NotSupportedError: It uses something that is not understood here.
    """
    root = ElementTree.parse(path).getroot()
    loader = _Loader(folder=path.parent)
    loader.lay_out(root, parent=-1)
    data = [d for model in root.iter() if tag(model) == "datamodel" for d in model]
    scripts = [child for child in root if tag(child) == "script"]
    chart = loader.definition(path.stem, on_load=block(scripts, folder=path.parent))
    return chart, data


@dataclass
class _Loader:
    folder: Path
    nodes: list[Node] = field(default_factory=list)
    elements: list[Element] = field(default_factory=list)
    transitions: list[Transition] = field(default_factory=list)

    def lay_out(self, element: Element, *, parent: int) -> int:
        index = len(self.nodes)
        name = element.get("id") or f"#{index}"
        path = name if parent >= 0 else ""
        kind = _kind(element)
        self.nodes.append(Node(index=index, name=name, path=path, kind=kind, parent=parent, end=index + 1))
        self.elements.append(element)
        children = tuple(self.lay_out(c, parent=index) for c in element if tag(c) in STATES)
        self.nodes[index] = replace(self.nodes[index], children=children, end=len(self.nodes))
        return index

    def definition(self, name: str, *, on_load: tuple[Action, ...]) -> Definition:
        ids = {node.name: node.index for node in self.nodes}
        nodes = [self._node(node, ids=ids) for node in self.nodes]
        nodes[0] = replace(nodes[0], entry=(*on_load, *nodes[0].entry))
        return define(name, nodes=nodes, transitions=self.transitions, events={})

    def _node(self, node: Node, *, ids: dict[str, int]) -> Node:
        element = self.elements[node.index]
        if any(tag(child) == "invoke" for child in element):
            raise NotSupportedError("<invoke>")
        if node.kind == "history":
            arrow = _child(element, "transition")
            default = _ids(arrow.attrib["target"], ids=ids) if arrow is not None else ()
            actions = block(list(arrow), folder=self.folder) if arrow is not None else ()
            deep = element.get("type") == "deep"
            return replace(node, deep=deep, default=default, default_actions=actions)
        begin = len(self.transitions)
        for child in element:
            if tag(child) == "transition":
                self._transition(child, source=node.index, ids=ids)
        mine = tuple(range(begin, len(self.transitions)))
        node = self._with_initial(replace(node, transitions=mine), element=element, ids=ids)
        return self._with_content(node, element=element)

    def _with_initial(self, node: Node, *, element: Element, ids: dict[str, int]) -> Node:
        if node.kind != "compound":
            return node
        initial = _child(element, "initial")
        if initial is not None:
            arrow = initial[0]
            actions = block(list(arrow), folder=self.folder)
            return replace(node, initial=_ids(arrow.attrib["target"], ids=ids), initial_actions=actions)
        first = next(child for child in node.children if self.nodes[child].kind != "history")
        return replace(node, initial=_ids(element.get("initial", ""), ids=ids) or (first,))

    def _with_content(self, node: Node, *, element: Element) -> Node:
        entry = [a for c in element if tag(c) == "onentry" for a in block(list(c), folder=self.folder)]
        leave = [a for c in element if tag(c) == "onexit" for a in block(list(c), folder=self.folder)]
        data = _done_data(element)
        come, go = _tracking(node.name)
        return replace(node, entry=(come, *entry), exit=(*leave, go), data=data)

    def _transition(self, element: Element, *, source: int, ids: dict[str, int]) -> None:
        events = tuple(normal(each) for each in element.get("event", "").split())
        if {"error", "error.execution"} & set(events):
            events = (*events, "error.guard", "error.action")
        cond = element.get("cond")
        transition = Transition(
            index=len(self.transitions),
            source=source,
            kind="event" if events else "always",
            events=events,
            guard=_condition(cond) if cond else None,
            guard_name=cond or "",
            actions=block(list(element), folder=self.folder),
            targets=_ids(element.get("target", ""), ids=ids),
            internal=element.get("type") == "internal",
        )
        self.transitions.append(transition)


def _kind(element: Element) -> NodeKind:
    name = tag(element)
    if name in ("parallel", "final", "history"):
        return name
    return "compound" if any(tag(child) in STATES for child in element) else "atomic"


def _ids(names: str, *, ids: dict[str, int]) -> tuple[int, ...]:
    return tuple(ids[name] for name in names.split())


def _child(element: Element, name: str) -> Element | None:
    return next((child for child in element if tag(child) == name), None)


def _condition(text: str) -> Bound:
    def test(state: dict[str, Any], event: Any) -> bool:
        return bool(evaluate(text, names=names_of(state, event)))

    return Bound(fn=test, name=text, positional=(0, 1), keyword=(), is_async=False)


def _tracking(name: str) -> tuple[Action, Action]:
    """Return actions that keep the set which the script function In() looks at."""

    def come(state: dict[str, Any], event: Any) -> None:
        state["#active"].add(name)

    def go(state: dict[str, Any], event: Any) -> None:
        state["#active"].discard(name)

    return action(come, name=f"enter {name}"), action(go, name=f"exit {name}")


def _done_data(element: Element) -> Bound | None:
    done = _child(element, "donedata")
    if done is None:
        return None

    def value(state: dict[str, Any], event: Any) -> object:
        names = names_of(state, event)
        content = _child(done, "content")
        if content is not None:
            return evaluate(content.attrib["expr"], names=names) if "expr" in content.attrib else literal(content.text)
        return {p.attrib["name"]: evaluate(p.get("expr") or p.attrib["location"], names=names) for p in done}

    return Bound(fn=value, name="donedata", positional=(0, 1), keyword=(), is_async=False)
