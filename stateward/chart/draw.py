"""A chart as a Mermaid state diagram: the same tables, for people."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from stateward.chart.definition import Definition, Node, Transition
from stateward.chart.label import label
from stateward.chart.note import Notes

INDENT = "    "
LOOKS = {
    "active": "fill:#ffe9ad,stroke:#b7791f,stroke-width:2px",
    "visited": "fill:#dcebff,stroke:#1f6feb,stroke-width:2px",
}


def mermaid(
    chart: Definition,
    *,
    notes: Notes | None = None,
    active: Collection[str] = (),
    visited: Collection[str] = (),
    taken: Collection[int] = (),
) -> str:
    """Return the text of a `stateDiagram-v2`; the same chart gives the same text.

    Args:
        chart: The chart.
        notes: What is written beside states besides: fuses, approvals.
        active: Paths of states to mark as active.
        visited: Paths of states to mark as visited, where they are not active.
        taken: Indexes of transitions to mark as taken, by a check mark: Mermaid cannot colour one arrow of a state
            diagram.

    Returns:
        Mermaid text.
    """
    picture = _Picture(chart, notes=notes or {}, taken=taken)
    anywhere = [f'{INDENT}state "any state" as any_state'] if picture.anywhere() else []
    lines = ["stateDiagram-v2", *anywhere, *picture.inside(chart.nodes[0], depth=1)]
    for look, paths in (("active", set(active)), ("visited", set(visited) - set(active))):
        marked = [picture.ids[node.index] for node in chart.nodes[1:] if node.path in paths]
        if marked:
            lines += [f"{INDENT}classDef {look} {LOOKS[look]}", f"{INDENT}class {','.join(marked)} {look}"]
    return "\n".join(lines) + "\n"


class _Picture:
    def __init__(self, chart: Definition, *, notes: Notes, taken: Collection[int]) -> None:
        self.chart = chart
        self.notes = notes
        self.taken = taken
        self.ids = _ids(chart)
        self.arrows = _by_home(chart)

    def anywhere(self) -> bool:
        """Tell whether something happens in every state, so that an arrow needs an origin of its own."""
        return any(self.chart.transitions[index].targets for index in self.chart.nodes[0].transitions)

    def inside(self, node: Node, *, depth: int) -> Iterator[str]:
        """Yield the lines of everything inside a state."""
        indent = INDENT * depth
        children = [self.chart.nodes[child] for child in node.children]
        if node.kind == "compound":
            yield from (f"{indent}[*] --> {self.ids[state]}" for state in node.initial)
        for place, child in enumerate(children):
            if place and node.kind == "parallel":
                yield f"{indent}--"
            yield from self._state(child, depth=depth)
        for transition in self.arrows.get(node.index, ()):
            yield from (f"{indent}{line}" for line in self._arrows(transition))

    def _state(self, node: Node, *, depth: int) -> Iterator[str]:
        indent, name = INDENT * depth, self.ids[node.index]
        title = {"history": "H*" if node.deep else "H"}.get(node.kind, node.name)
        opening = f'{indent}state "{title}" as {name}'
        if node.kind in ("compound", "parallel"):
            yield opening + " {"
            yield from self.inside(node, depth=depth + 1)
            yield indent + "}"
        else:
            yield opening
        if node.kind == "final":
            yield f"{indent}{name} --> [*]"
        notes = [*self._notes(node)]
        if notes:
            yield f"{indent}note right of {name}"
            yield from (f"{indent}{INDENT}{_plain(line)}" for line in notes)
            yield f"{indent}end note"

    def _notes(self, node: Node) -> Iterator[str]:
        for note in self.notes.get(node.path, ()):
            yield from note.text.splitlines()
        for index in node.transitions:
            if not self.chart.transitions[index].targets:
                yield self._label(self.chart.transitions[index])

    def _arrows(self, transition: Transition) -> Iterator[str]:
        """Yield an arrow; with several targets a bar at which it parts."""
        source, text = self.ids[transition.source], self._label(transition)
        ends = [self.ids[target] for target in transition.targets]
        if len(ends) > 1:
            fork = f"fork_{transition.index}"
            yield f"state {fork} <<fork>>"
            yield from (f"{fork} --> {end}" for end in ends)
            ends = [fork]
        yield from (f"{source} --> {end}{f' : {text}' if text else ''}" for end in ends)

    def _label(self, transition: Transition) -> str:
        mark = "✓ " if transition.index in self.taken else ""
        return mark + _plain(label(transition))


def _by_home(chart: Definition) -> dict[int, list[Transition]]:
    """Return the arrows by the innermost state around both ends: Mermaid wants them written there."""
    homes: dict[int, list[Transition]] = {}
    for transition in chart.transitions:
        if not transition.targets:
            continue
        ends = (transition.source, *transition.targets)
        homes.setdefault(_home(chart, ends), []).append(transition)
    return homes


def _home(chart: Definition, ends: tuple[int, ...]) -> int:
    around = chart.tables.ancestors[ends[0]]
    return next((s for s in around if all(chart.is_descendant(end, of=s) for end in ends)), 0)


def _plain(text: str) -> str:
    """Return text without what Mermaid would read as syntax."""
    return re.sub(r"\s+", " ", text.translate(str.maketrans('";<>{}#', "',()()-"))).strip()


def _ids(chart: Definition) -> dict[int, str]:
    ids = {0: "any_state"}
    for node in chart.nodes[1:]:
        name = re.sub(r"\W", "_", node.path.replace(".", "__"))
        ids[node.index] = f"{name}_{node.index}" if name in ids.values() else name
    return ids
