"""The states of an XState machine, laid out: which has which id, and where a target leads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from stateward.chart.argument import of_kind
from stateward.chart.compiler import HISTORY_NAME
from stateward.chart.definition import Node, NodeKind
from stateward.errors import DefinitionError, UnknownTarget
from stateward.exchange.names import is_name, name_from, unused

Json = Mapping[str, object]
DEEPEST = 100
"""How deep states may be nested."""
TYPES = ("atomic", "compound", "parallel", "final", "history")


@dataclass(slots=True)
class Laid:
    """A state beside what the document says of it."""

    node: Node
    config: Json
    id: str
    key: str
    where: str
    """Its place in the document, keys joined by dots."""
    inside: dict[str, int] = field(default_factory=dict[str, int])
    """The states inside by key."""


class Tree:
    """The states of a machine.

    Args:
        machine: The machine.

    Raises:
        DefinitionError: It has no states, a type nobody knows, or two states of one id.
    """

    def __init__(self, machine: Json) -> None:
        self.laid: list[Laid] = []
        self.name = text_of(machine, "id", where="id") or "(machine)"
        self._by_id: dict[str, int] = {}
        if machine.get("type") == "parallel":
            self._wrap(machine)
        else:
            self._lay_out(machine, key="", name=self.name, parent=-1, id=self.name)
        self.top = 1 if machine.get("type") == "parallel" else 0
        if self.laid[0].node.kind != "compound":
            raise DefinitionError("The machine has no states", where="states", fix="Give it some.")

    @property
    def nodes(self) -> list[Node]:
        """The states as nodes, without transitions."""
        return [laid.node for laid in self.laid]

    def _wrap(self, machine: Json) -> None:
        """Put a machine that is parallel itself into a root that is not: the root of a chart has one state active."""
        name = name_from(self.name) if machine.get("id") else "machine"
        root = Node(index=0, name=self.name, path="", kind="compound", parent=-1, end=1)
        self.laid.append(Laid(node=root, config={"initial": name}, id="", key="", where="", inside={name: 1}))
        self._lay_out(machine, key="", name=name, parent=0, id=self.name)
        if self._can_end(1):
            end = len(self.laid)
            name = unused("done", taken=[name])
            final = Node(index=end, name=name, path=name, kind="final", parent=0, end=end + 1)
            self.laid.append(Laid(node=final, config={"type": "final"}, id="", key=name, where=""))
        children = tuple(laid.node.index for laid in self.laid if laid.node.parent == 0)
        self.laid[0].node = replace(root, children=children, end=len(self.laid))

    def _can_end(self, state: int) -> bool:
        node = self.laid[state].node
        inside = [child for child in node.children if self.laid[child].node.kind != "history"]
        if node.kind == "parallel":
            return all(self._can_end(child) for child in inside)
        return any(self.laid[child].node.kind == "final" for child in inside)

    def _lay_out(self, config: Json, *, key: str, name: str, parent: int, id: str) -> int:
        around = self.laid[parent] if parent >= 0 else None
        where = f"{around.where}.states.{key}".lstrip(".") if around and key else ""
        path = f"{around.node.path}.{name}".lstrip(".") if around else ""
        if where.count(".states.") > DEEPEST:
            raise DefinitionError(f"States are nested more than {DEEPEST} deep", where=where[:80], fix="Flatten it.")
        index = len(self.laid)
        kind = _kind(config, where=where)
        node = Node(index=index, name=name, path=path, kind=kind, parent=parent, end=index + 1)
        own = text_of(config, "id", where=where) or id
        self.laid.append(Laid(node=node, config=config, id=own, key=key, where=where))
        if own in self._by_id:
            raise DefinitionError(f"Two states have the id `{own}`", where=where, fix="Give one of them another.")
        self._by_id[own] = index
        states = mapping_of(config, "states", where=where)
        for inner, under in zip(states, _names(states, where=where), strict=True):
            child = as_mapping(states[inner], where=f"{where}.states.{inner}".lstrip("."))
            # An id that is not given is made of keys from the machine down, whatever ids stand between.
            self.laid[index].inside[inner] = self._lay_out(
                child, key=inner, name=under, parent=index, id=".".join((self.name, *self._keys(index), inner))
            )
        children = tuple(self.laid[index].inside.values())
        self.laid[index].node = replace(node, children=children, end=len(self.laid))
        return index

    def _keys(self, state: int) -> list[str]:
        keys: list[str] = []
        while state >= 0 and self.laid[state].key:
            keys.insert(0, self.laid[state].key)
            state = self.laid[state].node.parent
        return keys

    # Names

    def state_of(self, id: str, *, where: str) -> int:
        """Return the state with an id.

        Args:
            id: The id, without `#`.
            where: The place that names it, for messages.

        Raises:
            UnknownTarget: No state has it.
        """
        if id not in self._by_id:
            raise self._unknown(f"#{id}", where=where)
        return self._by_id[id]

    def target(self, text: str, *, source: int, where: str) -> int:
        """Return the state that a target means.

        Args:
            text: `#id`, `#id.child`, `.child` or a path beside the source.
            source: The state whose transition names it.
            where: The place in the document, for messages.

        Raises:
            UnknownTarget: There is no such state.
        """
        if text.startswith("#"):
            id, *rest = split_path(text[1:])
            start = self.state_of(id, where=where)
        elif text.startswith("."):
            start, rest = source, split_path(text[1:])
        elif source == self.top:
            raise UnknownTarget(
                f"`{text}` is no target from the machine itself", where=where, fix=f"Write `.{text}`.", target=text
            )
        else:
            start, rest = self.laid[source].node.parent, split_path(text)
        return self._down(start, rest, text=text, where=where)

    def inside(self, text: str, *, state: int, where: str) -> int:
        """Return the state that a path means in a state.

        Args:
            text: Keys joined by dots, or `#id`.
            state: The state it is inside of.
            where: The place in the document, for messages.

        Raises:
            UnknownTarget: There is no such state.
        """
        if text.startswith("#"):
            return self.target(text, source=state, where=where)
        return self._down(state, split_path(text), text=text, where=where)

    def _down(self, state: int, keys: Sequence[str], *, text: str, where: str) -> int:
        for key in keys:
            if key not in self.laid[state].inside:
                raise self._unknown(text, where=where)
            state = self.laid[state].inside[key]
        return state

    def _unknown(self, text: str, *, where: str) -> UnknownTarget:
        known = [f"#{id}" for id in self._by_id]
        names = ", ".join(f"`{id}`" for id in known)
        return UnknownTarget(
            f"`{text}` leads to no state", where=where, fix=f"Known ids: {names}.", target=text, known=tuple(known)
        )


def split_path(text: str) -> list[str]:
    r"""Return the keys of a path; a backslash keeps the next character from dividing.

    Args:
        text: Keys joined by dots.

    >>> split_path(r"a.b\.c")
    ['a', 'b.c']
    """
    keys, escaped = [""], False
    for character in text:
        if escaped or character not in "\\.":
            keys[-1] += character
            escaped = False
        elif character == ".":
            keys.append("")
        else:
            escaped = True
    return keys


def load(text: str | bytes | Json) -> Json:
    """Return the machine of a JSON text; what is parsed already is taken as it is.

    Args:
        text: JSON, or what `json.loads` made of it.

    Raises:
        DefinitionError: It is no JSON, has a key twice, or is no object.
    """
    if isinstance(text, Mapping):
        return text
    expected = "a machine: JSON, as text or parsed to a mapping"
    document = of_kind(text, (str, bytes), name="machine", expected=expected, where="exchange")
    try:
        value: object = json.loads(document, object_pairs_hook=_without_twins)
    except (ValueError, RecursionError) as error:
        raise DefinitionError(f"The document is no JSON: {error}", fix="Mend it there.") from error
    return as_mapping(value, where="the document")


def as_mapping(value: object, *, where: str) -> Json:
    """Return a value that has to be an object.

    Args:
        value: The value.
        where: Its place, for messages.

    Raises:
        DefinitionError: It is none.
    """
    if not isinstance(value, Mapping):
        raise DefinitionError(f"{_shown(value)} is no object", where=where, fix="Write `{…}` there.")
    return cast("Json", value)


def mapping_of(config: Json, key: str, *, where: str) -> Json:
    """Return the object under a key, empty if it is not there.

    Args:
        config: The object around it.
        key: The key.
        where: The place of that, for messages.

    Raises:
        DefinitionError: It is no object.
    """
    return as_mapping(config.get(key) or {}, where=f"{where}.{key}".lstrip("."))


def text_of(config: Json, key: str, *, where: str) -> str:
    """Return the text under a key, empty if it is not there.

    Args:
        config: The object around it.
        key: The key.
        where: The place of that, for messages.

    Raises:
        DefinitionError: It is no text.
    """
    value = config.get(key)
    if value is not None and not isinstance(value, str):
        raise DefinitionError(f"`{key}` is {_shown(value)}, not a text", where=where, fix="Write a text.")
    return value or ""


def several(value: object) -> Iterator[tuple[int, object]]:
    """Yield what is one or a list of them, with its place.

    Args:
        value: One, a list, or None for none.
    """
    if value is None:
        return
    yield from enumerate(cast("list[object]", value) if isinstance(value, list | tuple) else [value])


def _kind(config: Json, *, where: str) -> NodeKind:
    said = config.get("type")
    if said is not None and said not in TYPES:
        raise DefinitionError(f"`type` is {_shown(said)}", where=where, fix=f"Write one of {', '.join(TYPES)}.")
    if said is not None:
        kind = said
    else:
        kind = "compound" if config.get("states") else "history" if config.get("history") else "atomic"
    if bool(config.get("states")) is not (kind in ("compound", "parallel")):
        raise DefinitionError(
            f"A state of type {kind} has {'' if config.get('states') else 'no '}states inside",
            where=where,
            fix="Correct its type.",
        )
    return kind


def _names(states: Json, *, where: str) -> list[str]:
    taken = [key for key in states if is_name(key)]
    names: list[str] = []
    for key, config in states.items():
        if not key:
            raise DefinitionError("A state's key is empty", where=f"{where}.states", fix="Give it one.")
        history = key == HISTORY_NAME and isinstance(config, Mapping)
        name = key if is_name(key) or history else unused(name_from(key), taken=taken)
        taken.append(name)
        names.append(name)
    return names


def _without_twins(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twin = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key `{twin}` stands twice in one object")
    return found


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
