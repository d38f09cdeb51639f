"""From an SCXML document to a definition.

What a document has and a chart has not is an error that names the element; nothing is dropped. The words of our own
namespace tell what SCXML cannot say: which transition is a completion, which timer is one of `after`, what belongs to
the chart as a whole. Without them a document means what SCXML says it means.

Source: SCXML 1.0, sections 3 and 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from stateward.chart.argument import texts
from stateward.chart.definition import Action, Definition, Node, Transition
from stateward.chart.event import Event, normal
from stateward.chart.guard import Bound
from stateward.chart.scope import Scope
from stateward.chart.tables import ACTIVITY_DONE, STATE_DONE, define
from stateward.errors import DefinitionError
from stateward.exchange.element import Element, parse
from stateward.exchange.registry import Registry
from stateward.exchange.scxml_content import OWN, SCXML, NamedContent, ScxmlContent, is_scxml, only
from stateward.exchange.scxml_ids import ScxmlIds
from stateward.exchange.scxml_shape import (
    ATTRIBUTES,
    STATES,
    check_generated,
    check_shape,
    cleaned,
    kind_of,
    mark,
    names_beside,
    own,
    walk,
)


def read_scxml(
    text: str | bytes,
    *,
    registry: Registry | None = None,
    content: ScxmlContent | None = None,
    ignoring: Iterable[str] = (),
) -> Definition:
    """Return the chart that a document describes.

    Args:
        text: The document.
        registry: What the names of functions and typed events in it mean; none if left out.
        content: Interprets what the document computes, in place of names from the registry.
        ignoring: Namespaces of elements and attributes to skip, such as those of an editor.

    Returns:
        The definition.

    Raises:
        UnknownTarget: An id is that of no state.
        DefinitionError: It is no SCXML, or has something that cannot be carried over; the message names the element.

    Source: SCXML 1.0, sections 3 and 5.
    """
    known = Registry.given(registry)
    skipped = texts(ignoring, name="ignoring", expected="namespaces, as text", where="exchange")
    root = cleaned(parse(text), ignoring=skipped)
    if root.name != "scxml" or not is_scxml(root):
        raise DefinitionError(
            f"The document's root is <{root.name}>", where=root.where, fix=f'Begin with `<scxml xmlns="{SCXML}">`.'
        )
    return _Reader(root, content=content or NamedContent(known), events=known.events).definition()


@dataclass(slots=True)
class _Laid:
    """A node beside the element it comes from."""

    node: Node
    element: Element
    id: str


@dataclass(slots=True)
class _Timers:
    """What the writer made of a state's `after`: the seconds by the event in the document."""

    delays: dict[str, float | Bound] = field(default_factory=dict[str, "float | Bound"])


class _Reader:
    """One document while it is read."""

    def __init__(self, root: Element, *, content: ScxmlContent, events: Mapping[str, type[Event]]) -> None:
        self._root = root
        self._content = content
        self._types = events
        self._own = (OWN, "version") in root.foreign
        self._laid: list[_Laid] = []
        self._transitions: list[Transition] = []
        self._events: dict[str, type[Event] | None] = {}

    def definition(self) -> Definition:
        self._lay_out(self._top(), name=self._root.get("name", "chart"), parent=-1, path="")
        self._ids = self._make_ids()
        self._scope = Scope([laid.node for laid in self._laid])
        nodes = [self._node(laid) for laid in self._laid]
        nodes[0] = replace(nodes[0], entry=(*self._document(), *nodes[0].entry))
        self._check_events()
        return define(nodes[0].name, nodes=nodes, transitions=self._transitions, events=self._events)

    # States

    def _top(self) -> Element:
        """Return the element whose content is the chart's: the root, or the state that stands for it."""
        check_shape(self._root)
        wrappers = [child for child in self._root.children if mark(child, "root") == "root"]
        others = [c for c in self._root.children if c.name in STATES and not mark(c, "root")] if wrappers else []
        if len(wrappers) > 1 or others:
            raise DefinitionError(
                "A state beside the one that stands for the chart",
                where=(others or wrappers)[-1].where,
                fix="Put it inside, or drop the mark `root`.",
            )
        return wrappers[0] if wrappers else self._root

    def _lay_out(self, element: Element, *, name: str, parent: int, path: str) -> int:
        index = len(self._laid)
        kind = kind_of(element) if parent >= 0 else "compound"
        node = Node(index=index, name=name, path=path, kind=kind, parent=parent, end=index + 1)
        self._laid.append(_Laid(node=node, element=element, id=element.get("id") if parent >= 0 else ""))
        inside = own(element, *STATES)
        check_shape(element)
        children = tuple(
            self._lay_out(child, name=inner, parent=index, path=f"{path}.{inner}" if path else inner)
            for child, inner in zip(inside, names_beside(inside), strict=True)
        )
        self._laid[index].node = replace(node, children=children, end=len(self._laid))
        return index

    def _make_ids(self) -> ScxmlIds:
        top = self._top().get("id")
        paths: dict[str, str] = {top: ""} if top else {}
        indexes: dict[str, int] = {top: 0} if top else {}
        activities: dict[str, str] = {}
        for laid in self._laid[1:]:
            if laid.id in paths:
                raise DefinitionError(
                    f"Two states have the id `{laid.id}`", where=laid.element.where, fix="Give one of them another."
                )
            if laid.id:
                paths[laid.id], indexes[laid.id] = laid.node.path, laid.node.index
            for invoke in laid.element.named("invoke"):
                activities.setdefault(invoke.get("id"), laid.node.path)
        activities.pop("", None)
        return ScxmlIds(paths=paths, indexes=indexes, activities=activities, own=self._own)

    def _node(self, laid: _Laid) -> Node:
        node, element = laid.node, laid.element
        if node.kind == "history":
            return self._history(node, element=element)
        blocks = {name: own(element, name) for name in ("onentry", "onexit")}
        for each in (*blocks["onentry"], *blocks["onexit"]):
            only(each)
            check_generated(each)
        timers = self._generated(blocks["onentry"])
        begin = len(self._transitions)
        node = self._with_activity(node, element=element)
        for child in element.named("transition"):
            if is_scxml(child) and not mark(child, "root"):
                self._transition(child, source=node, timers=timers)
        if timers.delays:
            raise DefinitionError(
                f"No transition reacts to {', '.join(timers.delays)}",
                where=element.where,
                fix="Write the transition, or drop the mark `generated` of what sends it.",
            )
        entry, exit = (self._block(blocks[name]) for name in ("onentry", "onexit"))
        if node.kind == "final" and node.parent == 0:
            # SCXML leaves everything when the session ends (appendix D, exitInterpreter); here it stays in its end.
            entry, exit = (*entry, *exit), ()
        return replace(
            self._with_initial(node, element=element),
            transitions=tuple(range(begin, len(self._transitions))),
            entry=entry,
            exit=exit,
            data=self._data(element),
        )

    def _block(self, containers: Sequence[Element]) -> tuple[Action, ...]:
        written = [container for container in containers if not mark(container, "generated")]
        return self._content.block(written, ids=self._ids) if written else ()

    def _generated(self, entries: Sequence[Element]) -> _Timers:
        timers = _Timers()
        for entry in entries:
            if mark(entry, "generated"):
                sends = [send for send in entry.named("send")]
                timers.delays.update({send.get("event"): self._content.delay(send, ids=self._ids) for send in sends})
        return timers

    def _data(self, element: Element) -> Bound | None:
        found = own(element, "donedata")
        return self._content.result(found[0], ids=self._ids) if found else None

    def _with_activity(self, node: Node, *, element: Element) -> Node:
        invokes = own(element, "invoke")
        if not invokes:
            return node
        activity = self._content.activity(invokes, path=node.path, ids=self._ids)
        if activity is not None and node.kind != "atomic":
            raise DefinitionError(
                f"<{invokes[0].name}> stands in a state with states inside",
                where=invokes[0].where,
                fix="An activity belongs to a state without; add a parallel region for it.",
            )
        return replace(node, activity=activity)

    def _with_initial(self, node: Node, *, element: Element) -> Node:
        initials = own(element, "initial")
        if node.kind != "compound":
            if initials or "initial" in element.attributes:
                raise DefinitionError("`initial` needs states inside", where=element.where, fix="Remove it.")
            return node
        if initials:
            targets, actions = self._plain_arrow(initials[0], node=node)
            if "initial" in element.attributes:
                raise DefinitionError(
                    "There are both an attribute and an element `initial`", where=element.where, fix="Keep one."
                )
            return replace(node, initial=targets, initial_actions=actions)
        named = self._inside(element.get("initial"), node=node, element=element)
        first = next((c for c in node.children if self._laid[c].node.kind != "history"), None)
        if not named and first is None:
            raise DefinitionError("There is no state inside to begin in", where=element.where, fix="Add one.")
        return replace(node, initial=named or (first or 0,))

    def _history(self, node: Node, *, element: Element) -> Node:
        kind = element.get("type", "shallow")
        if kind not in ("shallow", "deep"):
            raise DefinitionError(
                f"`{kind}` is no type of <history>", where=element.where, fix="Write shallow or deep."
            )
        parent = self._laid[node.parent].node
        targets, actions = self._plain_arrow(element, node=parent)
        return replace(node, deep=kind == "deep", default=targets, default_actions=actions)

    def _plain_arrow(self, element: Element, *, node: Node) -> tuple[tuple[int, ...], tuple[Action, ...]]:
        """Read the one transition of `<initial>` or `<history>`: it has a target and no condition."""
        arrows = own(element, "transition")
        if len(arrows) != 1 or set(arrows[0].attributes) != {"target"}:
            raise DefinitionError(
                f"<{element.name}> needs one transition, with a target and nothing else",
                where=element.where,
                fix='Write `<transition target="…"/>` inside.',
            )
        actions = self._content.block(arrows, ids=self._ids)
        return self._inside(arrows[0].get("target"), node=node, element=arrows[0]), actions

    def _inside(self, targets: str, *, node: Node, element: Element) -> tuple[int, ...]:
        states = self._ids.states(targets, where=element.where)
        for state in states:
            if not node.index < state < node.end:
                raise DefinitionError(
                    f"`{self._laid[state].id}` is not inside `{node.path or node.name}`",
                    where=element.where,
                    fix="Name a state inside.",
                )
        self._together(states, element=element)
        return states

    def _together(self, states: tuple[int, ...], *, element: Element) -> None:
        if len(states) > 1:
            self._scope.together(states, where=element.where)

    # Transitions

    def _transition(self, element: Element, *, source: Node, timers: _Timers) -> None:
        only(element, *ATTRIBUTES["transition"])
        if not {"event", "cond", "target"} & set(element.attributes):
            raise DefinitionError(
                "A transition needs an event, a condition or a target", where=element.where, fix="Add one."
            )
        kind = element.get("type", "external")
        if kind not in ("external", "internal"):
            raise DefinitionError(
                f"`{kind}` is no type of a transition", where=element.where, fix="Write external or internal."
            )
        targets = self._ids.states(element.get("target"), where=element.where)
        self._together(targets, element=element)
        guard = self._content.condition(element, ids=self._ids) if "cond" in element.attributes else None
        plain = Transition(
            index=len(self._transitions),
            source=source.index,
            kind="always",
            guard=guard,
            guard_name=guard.name if guard else "",
            actions=self._content.block([element], ids=self._ids) if element.children else (),
            targets=targets,
            internal=kind == "internal",
        )
        self._transitions.append(self._triggered(plain, element=element, source=source, timers=timers))

    def _triggered(self, transition: Transition, *, element: Element, source: Node, timers: _Timers) -> Transition:
        raw = self._ids.descriptors(element.get("event"), where=element.where)
        events = tuple(normal(each) for each in raw)
        if mark(element, "completion"):
            start = ACTIVITY_DONE if source.activity else STATE_DONE
            if events != (start + source.path,):
                raise DefinitionError(
                    "A completion speaks of its own state",
                    where=element.where,
                    fix="Correct its event, or drop the mark `completion`.",
                )
            return replace(transition, kind="completion", events=events)
        if mark(element, "after"):
            delay = timers.delays.pop(element.get("event"), None)
            if delay is None:
                raise DefinitionError(
                    f"Nothing sends `{element.get('event')}`, for which a transition waits as for a timer of its state",
                    where=element.where,
                    fix="Send it in an <onentry> that is marked as `generated`, or drop the mark `after`.",
                )
            return replace(transition, kind="event", events=events, delay=delay)
        self._events.update({each: self._type(each) for each in raw})
        return replace(transition, kind="event" if events else "always", events=events)

    # The document

    def _document(self) -> tuple[Action, ...]:
        models = [each for each in walk(self._root) if is_scxml(each) and each.name == "datamodel"]
        scripts = own(self._root, "script")
        return self._content.document(self._root, models=models, scripts=scripts, ids=self._ids)

    def _type(self, event: str) -> type[Event] | None:
        typed = not self._own or event in mark(self._root, "events").split()
        return self._types.get(event) if typed else None

    def _check_events(self) -> None:
        """Check that what was a typed event when the document was written is one now."""
        for name in mark(self._root, "events").split():
            if name not in self._types:
                raise DefinitionError(
                    f"The event `{name}` has a type, but the registry has none of this name",
                    where=self._root.where,
                    fix="Give its class to `Registry.of(events=[…])`.",
                )
