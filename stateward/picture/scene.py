"""What is to be seen: boxes in boxes and arrows between them, before anything has a place.

States keep their index as the box's number; what statecharts draw besides (initial dots, forks) is numbered after them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from stateward.chart.definition import Block, Definition, Node, Transition
from stateward.chart.label import condition, label, short, trigger
from stateward.chart.note import Notes
from stateward.picture.trail import Trail

BoxKind = Literal["compound", "parallel", "atomic", "final", "history", "initial", "fork"]
"""What a box is: a kind of state, the dot that marks where a superstate begins, or the bar where an arrow parts."""

Sign = Literal["", "fuse", "ask", "clock"]
"""A small drawing before a line: a flash, a person, a clock."""

ASKED = "after answers"
"""Beside the arrow of a state whose calls may wait for a person: it ends when each of its asks has an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of text."""

    text: str
    sign: Sign = ""
    taken: bool = False
    """Whether the run took the transition that it speaks of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """Something with a place and a size."""

    number: int
    kind: BoxKind
    title: str
    """What is written at its top; `H` or `H*` in a history's circle."""
    path: str
    parent: int
    lines: tuple[Line, ...] = ()
    active: bool = False
    visited: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrow:
    """All transitions from one box to another."""

    source: int
    target: int
    lines: tuple[Line, ...] = ()
    taken: bool = False
    main: bool = False
    """Whether it tells how things go on by themselves: such arrows are kept straight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A whole picture; the box with number 0 is the chart."""

    name: str
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]

    def inside(self, number: int) -> tuple[Box, ...]:
        """Return the boxes directly inside one, in document order.

        Args:
            number: The box's number.
        """
        return tuple(box for box in self.boxes if box.parent == number)


def scene(chart: Definition, *, notes: Notes | None = None, trail: Trail | None = None) -> Scene:
    """Say what a picture of a chart shows.

    Args:
        chart: The chart.
        notes: What is written inside boxes besides.
        trail: Where a run stands and which way it took; None for no run.

    Returns:
        The scene; the same for the same chart.
    """
    return _Painter(chart, notes=notes or {}, trail=trail or Trail()).scene()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Key:
    """What transitions have in common that share a line."""

    bare: bool
    rest: str
    sign: Sign
    taken: bool
    """Whether the run took them: of two events on one line it may have been one."""


@dataclass(slots=True)
class _Drawn:
    """An arrow in the making: its lines by what they have in common, each with its triggers."""

    source: int
    target: int
    lines: dict[_Key, list[str]] = field(default_factory=dict[_Key, list[str]])
    taken: bool = False
    main: bool = False

    def arrow(self) -> Arrow:
        lines = tuple(
            # A plain completion says nothing, and among others it would vanish behind what they say.
            Line(text=_joined(triggers, key.rest) or "done", sign=key.sign, taken=key.taken)
            for key, triggers in self.lines.items()
            if len(self.lines) > 1 or _joined(triggers, key.rest)
        )
        return Arrow(source=self.source, target=self.target, lines=lines, taken=self.taken, main=self.main)


class _Painter:
    def __init__(self, chart: Definition, *, notes: Notes, trail: Trail) -> None:
        self.chart = chart
        self.notes = notes
        self.trail = trail
        self.boxes: list[Box] = []
        self.drawn: dict[tuple[int, int], _Drawn] = {}

    def scene(self) -> Scene:
        self.boxes = [self._box(node) for node in self.chart.nodes]
        for node in self.chart.nodes:
            self._begin(node)
        for transition in self.chart.transitions:
            self._transition(transition)
        arrows = tuple(drawn.arrow() for drawn in self.drawn.values())
        return Scene(name=self.chart.name, boxes=tuple(self.boxes), arrows=arrows)

    def _box(self, node: Node) -> Box:
        title = {"history": "H*" if node.deep else "H"}.get(node.kind, node.name) if node.path else self.chart.name
        return Box(
            number=node.index,
            kind=node.kind,
            title=title,
            path=node.path,
            parent=node.parent,
            lines=() if node.kind == "history" else tuple(self._lines(node)),
            active=node.path in self.trail.active,
            visited=node.path in self.trail.visited,
        )

    def _lines(self, node: Node) -> Iterator[Line]:
        signs: dict[str, Sign] = {"fuse": "fuse", "ask": "ask"}
        for note in self.notes.get(node.path, ()):
            yield from (Line(text=text, sign=signs.get(note.kind, "")) for text in note.text.splitlines())
        if node.activity is not None and node.activity.timeout_s is not None:
            yield Line(text=f"at most {node.activity.timeout_s:g}s", sign="clock")
        for word, actions in (("entry", node.entry), ("exit", node.exit)):
            if actions:
                yield Line(text=f"{word} / {_names(actions)}")
        for index in node.transitions:
            transition = self.chart.transitions[index]
            if not transition.targets:
                yield Line(text=label(transition) or "done", sign=_sign(transition), taken=index in self.trail.taken)

    def _begin(self, node: Node) -> None:
        """Draw where an entry leads: the dot of a superstate, the arrow of a history."""
        if node.kind == "compound":
            dot = self._pseudo("initial", parent=node.index)
            for state in node.initial:
                drawn = self._between(dot, state)
                drawn.main = True
                self._say(drawn, "", f"/ {_names(node.initial_actions)}" if node.initial_actions else "", "")
        if node.kind == "history" and node.default != self._usual(self.chart.nodes[node.parent]):
            for state in node.default:
                self._say(self._between(node.index, state), "", "", "")

    def _usual(self, node: Node) -> tuple[int, ...]:
        """Return where a plain entry leads."""
        if node.kind != "parallel":
            return node.initial
        return tuple(child for child in node.children if self.chart.nodes[child].kind != "history")

    def _transition(self, transition: Transition) -> None:
        if not transition.targets:
            return
        target = transition.targets[0]
        taken = transition.index in self.trail.taken
        if len(transition.targets) > 1:
            around = self._around((transition.source, *transition.targets))
            target = self._pseudo("fork", parent=around, visited=taken)
            for state in transition.targets:
                self._between(target, state).taken = taken
        drawn = self._between(transition.source, target)
        drawn.taken |= taken
        drawn.main |= transition.kind == "completion"
        asks = transition.kind == "completion" and self._asks(transition.source)
        event, sign = (ASKED, "ask") if asks else (trigger(transition), _sign(transition))
        self._say(drawn, event, condition(transition), sign, taken=taken)

    def _asks(self, state: int) -> bool:
        return any(note.kind == "ask" for note in self.notes.get(self.chart.nodes[state].path, ()))

    def _say(self, drawn: _Drawn, event: str, rest: str, sign: Sign, *, taken: bool = False) -> None:
        key = _Key(bare=not event, rest=rest, sign=sign, taken=taken)
        triggers = drawn.lines.setdefault(key, [])
        if event not in triggers:
            triggers.append(event)

    def _between(self, source: int, target: int) -> _Drawn:
        return self.drawn.setdefault((source, target), _Drawn(source=source, target=target))

    def _pseudo(self, kind: BoxKind, *, parent: int, visited: bool = False) -> int:
        number = len(self.boxes)
        self.boxes.append(Box(number=number, kind=kind, title="", path="", parent=parent, visited=visited))
        return number

    def _around(self, states: Sequence[int]) -> int:
        """Return the innermost state around several."""
        first, *others = (frozenset(self.chart.tables.ancestors[state]) for state in states)
        return max(first.intersection(*others), default=0)


def _sign(transition: Transition) -> Sign:
    if transition.delay is not None:
        return "clock"
    return "fuse" if any(event.split(".")[0] == "fuse" for event in transition.events) else ""


def _joined(triggers: Sequence[str], rest: str) -> str:
    return " ".join(part for part in (", ".join(triggers), rest) if part)


def _names(actions: Block) -> str:
    return ", ".join(short(action.name) for action in actions)
