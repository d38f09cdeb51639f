"""From an XState v5 machine to a definition.

What a machine has and a chart has not is an error that names its place; nothing is dropped. The differences in meaning
are translated: a transition into its own source leaves it only with `reenter`; of several descriptors that match an
event the exact one wins, then the longest; `onDone` that no guard lets through does nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from stateward.chart.argument import texts
from stateward.chart.definition import Action, Definition, Node, Transition
from stateward.chart.delay import AFTER
from stateward.chart.event import Event, normal
from stateward.chart.guard import Bound
from stateward.chart.tables import STATE_DONE, define
from stateward.errors import DefinitionError
from stateward.exchange.registry import Registry
from stateward.exchange.xstate_content import (
    only,
    own_meta,
    read_actions,
    read_activity,
    read_data,
    read_guard,
    seconds,
)
from stateward.exchange.xstate_domain import refuse_hidden, refuse_late, refuse_skipped, shows
from stateward.exchange.xstate_events import inward
from stateward.exchange.xstate_reactions import Reactions, Said
from stateward.exchange.xstate_target import aim, history_default, initial_of
from stateward.exchange.xstate_tree import Json, Laid, Tree, as_mapping, load, mapping_of, several, text_of

IGNORABLE = frozenset({"context", "description", "tags", "meta", "version", "types", "schemas", "input", "output"})
"""What says nothing of states and transitions, and is skipped if the caller says so."""
COMMON = ("type", "id")
REACTIONS = ("on", "always", "after", "entry", "exit")
KEYS: Mapping[str, tuple[str, ...]] = {
    "compound": (*COMMON, *REACTIONS, "states", "initial", "onDone"),
    "parallel": (*COMMON, *REACTIONS, "states", "onDone"),
    "atomic": (*COMMON, *REACTIONS, "invoke"),
    "final": (*COMMON, "entry", "exit", "output"),
    "history": (*COMMON, "history", "target"),
}
"""What is carried over, by the type of a state."""


def read_xstate(
    machine: str | bytes | Mapping[str, object],
    *,
    registry: Registry | None = None,
    ignoring: Iterable[str] = (),
) -> Definition:
    """Return the chart that a machine describes.

    Args:
        machine: The machine as JSON text, or as what `json.loads` makes of it.
        registry: What the names of functions and typed events in it mean; none if left out.
        ignoring: Keys to skip: `context`, `description`, `tags`, `meta`, `version`, `types`, `schemas`, `input`,
            `output`.

    Returns:
        The definition.

    Raises:
        UnknownTarget: A target leads to no state.
        DefinitionError: It is no machine, or has something that cannot be carried over; the message names the place.
    """
    skipped = frozenset(texts(ignoring, name="ignoring", expected="keys, as text", where="exchange"))
    wrong = sorted(skipped - IGNORABLE)
    if wrong:
        raise DefinitionError(
            f"`{wrong[0]}` cannot be ignored", where="ignoring", fix=f"What can be: {', '.join(sorted(IGNORABLE))}."
        )
    return _Reader(load(machine), registry=Registry.given(registry), ignoring=skipped).definition()


class _Reader:
    """One machine while it is read."""

    def __init__(self, machine: Json, *, registry: Registry, ignoring: frozenset[str]) -> None:
        self._machine = machine
        self._registry = registry
        self._ignoring = ignoring
        self._tree = Tree(machine)
        self._paths = {laid.node.path for laid in self._tree.laid}
        self._actors = dict(self._invoked())
        own = own_meta(machine, where="")
        only(own, "version", "events", "spelling", "activity", "data", where="meta.stateward")
        spelling = mapping_of(own, "spelling", where="meta.stateward")
        self._spelling = frozenset(map(str, spelling.values()))
        self._reactions = Reactions(self._tree, inward=self._inward, spelling=spelling)
        self._typed = None if "version" not in own else frozenset(str(e) for _, e in several(own.get("events")))
        self._transitions: list[Transition] = []
        self._events: dict[str, type[Event] | None] = {}
        self._reenters: list[bool] = []

    def definition(self) -> Definition:
        for name in self._typed or ():
            if name not in self._registry.events:
                raise DefinitionError(
                    f"The event `{name}` has a type, but the registry has none of this name",
                    where="meta.stateward.events",
                    fix="Give its class to `Registry.of(events=[…])`.",
                )
        nodes = [self._node(laid) for laid in self._tree.laid]
        for node in nodes:
            if node.kind == "history":
                nodes[node.index] = self._with_default(node, parent=nodes[node.parent])
        if self._tree.top:
            self._end_of_parallel(nodes)
        self._check_domains(nodes)
        self._check_memory(nodes)
        refuse_hidden(nodes, self._transitions)
        refuse_skipped(nodes, self._transitions)
        self._check_spelling()
        return define(self._tree.name, nodes=nodes, transitions=self._transitions, events=self._events)

    # States

    def _node(self, laid: Laid) -> Node:
        node, config, where = laid.node, laid.config, laid.where
        if node.index < self._tree.top or (self._tree.top and laid.id == ""):
            return replace(node, initial=(self._tree.top,)) if node.index == 0 else node
        machine = ("context", "version") if node.index == self._tree.top else ()
        only(config, *KEYS[node.kind], where=where, ignoring=self._ignoring.union(_nothing(config, *machine)))
        if node.kind == "history":
            return replace(node, deep=_is_deep(config, where=where))
        own = own_meta(config, where=where)
        if node.index != self._tree.top:
            only(own, "activity", "data", where=f"{where}.meta.stateward")
        invokes = list(several(config.get("invoke")))
        if len(invokes) > 1:
            raise DefinitionError(
                "There is a second `invoke`", where=where, fix="A state has one activity; use a parallel region."
            )
        if invokes:
            invoke = as_mapping(invokes[0][1], where=f"{where}.invoke")
            only(invoke, "src", "id", "onDone", "onError", where=f"{where}.invoke", ignoring=self._ignoring)
            activity = read_activity(invoke, own=own, registry=self._registry, where=f"{where}.invoke")
            node = replace(node, activity=activity)
        begin = len(self._transitions)
        if node.kind not in ("final", "history"):
            self._react(laid)
        entry, exit = (self._actions(config.get(name), where=f"{where}.{name}") for name in ("entry", "exit"))
        if node.kind == "final" and node.parent == 0:
            # XState leaves everything when the machine ends, and here it stays in its end; the machine comes last.
            last = self._actions(self._tree.laid[0].config.get("exit"), where="exit")
            entry, exit = (*entry, *exit, *last), ()
        elif node.index == 0:
            exit = ()
        return replace(
            self._with_initial(node, config=config, where=where),
            entry=entry,
            exit=exit,
            data=read_data(config, own=own, registry=self._registry, where=where) if node.kind == "final" else None,
            transitions=tuple(range(begin, len(self._transitions))),
        )

    def _with_initial(self, node: Node, *, config: Json, where: str) -> Node:
        if node.kind != "compound":
            return node
        target, actions = initial_of(config, tree=self._tree, state=node.index, where=where)
        return replace(
            node,
            initial=(target,),
            initial_actions=self._actions(actions, where=f"{where}.initial.actions"),
        )

    def _with_default(self, node: Node, *, parent: Node) -> Node:
        laid = self._tree.laid[node.index]
        targets = history_default(laid, tree=self._tree)
        if targets:
            return replace(node, default=targets)
        if parent.kind == "compound":
            return replace(node, default=parent.initial, default_actions=parent.initial_actions)
        return replace(node, default=tuple(c for c in parent.children if self._tree.nodes[c].kind != "history"))

    def _actions(self, value: object, *, where: str) -> tuple[Action, ...]:
        return read_actions(value, registry=self._registry, inward=self._inward, where=where.lstrip("."))

    def _end_of_parallel(self, nodes: list[Node]) -> None:
        """Lead a machine that is parallel itself to its end when all its regions are complete."""
        ends = [node.index for node in nodes if node.parent == 0 and node.kind == "final"]
        if ends:
            top = nodes[self._tree.top]
            refuse_late(nodes, self._transitions, parallel=top)
            index = len(self._transitions)
            done = Transition(
                index=index, source=top.index, kind="completion", events=(STATE_DONE + top.path,), targets=(ends[0],)
            )
            self._transitions.append(done)
            self._reenters.append(False)
            nodes[top.index] = replace(top, transitions=(*top.transitions, index))

    # Transitions

    def _react(self, laid: Laid) -> None:
        numbers: dict[tuple[str, int], int] = {}
        for each in self._reactions.of(laid):
            number = numbers.setdefault(each.timer, len(numbers)) if each.timer else 0
            self._transition(each, laid=laid, number=number)

    def _transition(self, said: Said, *, laid: Laid, number: int) -> None:
        only(said.config, "target", "guard", "actions", "reenter", where=said.where, ignoring=self._ignoring)
        own = own_meta(said.config, where=said.where)
        only(own, "at", "completion", "internal", where=f"{said.where}.meta.stateward")
        aimed = aim(said.config, tree=self._tree, source=laid.node.index, where=said.where)
        guard = read_guard(said.config, registry=self._registry, locate=self._located, where=said.where)
        events, delay = said.events, None
        if said.timer:
            events = (f"{AFTER}{laid.node.path}.{number}".replace("..", "."),)
            delay = self._delay(said) if said.timed else None
        elif said.kind == "event":
            self._events.update({event: self._type(event) for event in events})
        transition = Transition(
            index=len(self._transitions),
            source=laid.node.index,
            kind=said.kind,
            events=tuple(normal(event) for event in events),
            guard=guard,
            guard_name=guard.name if guard else "",
            actions=self._actions(said.config.get("actions"), where=f"{said.where}.actions"),
            targets=aimed.targets,
            internal=aimed.internal or bool(own.get("internal")),
            delay=delay,
        )
        self._transitions.append(transition)
        self._reenters.append(aimed.reenter)

    def _delay(self, said: Said) -> float | Bound:
        delay = said.timer[0] if said.timer else ""
        if delay.strip() and not delay.strip()[0].isalpha() and delay not in self._registry.things["delays"]:
            return seconds(delay, where=said.where)
        return self._registry.function("delays", delay, params={}, where=said.where)

    # Names

    def _invoked(self) -> Iterator[tuple[str, str]]:
        """Yield the ids of actors, each with the path of its state."""
        for laid in self._tree.laid:
            for place, invoke in several(laid.config.get("invoke")):
                where = f"{laid.where}.invoke"
                said = text_of(as_mapping(invoke, where=where), "id", where=where)
                yield said or f"{place}.{laid.id}", laid.node.path

    def _inward(self, descriptor: str, where: str) -> str:
        def find(kind: str, id: str) -> str:
            if kind == "state":
                return self._tree.nodes[self._tree.state_of(id, where=where)].path
            if id not in self._actors:
                known = ", ".join(f"`{each}`" for each in self._actors) or "none"
                raise DefinitionError(f"No `invoke` has the id `{id}`", where=where, fix=f"Known ids: {known}.")
            return self._actors[id]

        return inward(descriptor, find=find, where=where)

    def _located(self, path: str) -> str:
        if path not in self._paths:
            raise DefinitionError(f"`{path}` is no state", where=f"In({path!r})", fix="Write the state's path.")
        return path

    def _type(self, event: str) -> type[Event] | None:
        return self._registry.events.get(event) if self._typed is None or event in self._typed else None

    # What XState means otherwise

    def _check_domains(self, nodes: list[Node]) -> None:
        timed = frozenset(t.source for t in self._transitions if t.delay is not None)
        for transition, reenter in zip(self._transitions, self._reenters, strict=True):
            parallel = shows(nodes, transition, reenter=reenter, timed=timed)
            if parallel:
                raise DefinitionError(
                    f"A transition of `{nodes[transition.source].path}` would leave the parallel state "
                    f"`{parallel.path}` here and does not in XState",
                    where=self._tree.laid[transition.source].where,
                    fix=f"Move what entering and leaving `{parallel.path}` does to a state around it.",
                )

    def _check_memory(self, nodes: list[Node]) -> None:
        """Check that no `reenter` sets the machine's own history, for the machine is never left here."""
        mine = {child for child in nodes[0].children if nodes[child].kind == "history"}
        asked = any(mine.intersection(transition.targets) for transition in self._transitions)
        for transition, reenter in zip(self._transitions, self._reenters, strict=True):
            if asked and reenter and transition.source == 0:
                raise DefinitionError(
                    "`reenter` at the machine itself sets its history in XState",
                    where=f"on.{', '.join(transition.events)}",
                    fix="Remove it, or move the history into a state inside.",
                )

    def _check_spelling(self) -> None:
        """Check that no event is matched here by a descriptor that means another event alone in XState."""
        names = {normal(name): name for name in self._events}
        for name in sorted(names):
            longer = next((other for other in names if other.startswith(f"{name}.")), None)
            exact = not names[name].endswith("*") and name not in self._spelling
            if longer and exact and not name.startswith(("done", "error")):
                raise DefinitionError(
                    f"The event `{longer}` begins with the tokens of `{name}`, which here means both",
                    where=f"on.{name}",
                    fix="Rename one of them.",
                )


def _is_deep(config: Json, *, where: str) -> bool:
    kind = config.get("history", "shallow")
    if kind not in ("shallow", "deep", True):
        raise DefinitionError(f"`history` is {kind!r}", where=where, fix="Write `shallow` or `deep`.")
    return kind == "deep"


def _nothing(config: Json, *keys: str) -> set[str]:
    """Return the keys that are there and say nothing."""
    return {key for key in keys if key in config and config[key] in ({}, None)}
