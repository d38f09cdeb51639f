"""A chart as a Mermaid state diagram: the same tables, for people."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from stateward.chart.definition import Block, Definition, Node, Transition

INDENT = "    "


def mermaid(chart: Definition, *, highlight: Collection[str] = (), notes: Mapping[str, str] | None = None) -> str:
    """Return the text of a `stateDiagram-v2`; the same chart gives the same text.

    Args:
        chart: The chart.
        highlight: Paths of states to mark, as active ones.
        notes: Per path, a text to write beside the state: a fuse, an approval.
    """
    picture = _Picture(chart, notes=notes or {})
    anywhere = [f'{INDENT}state "any state" as any_state'] if chart.nodes[0].transitions else []
    lines = ["stateDiagram-v2", *anywhere, *picture.inside(chart.nodes[0], depth=1)]
    marked = [picture.ids[node.index] for node in chart.nodes[1:] if node.path in highlight]
    if marked:
        lines.append(f"{INDENT}classDef active fill:#ffe8a3,stroke:#b8860b,stroke-width:2px")
        lines.append(f"{INDENT}class {','.join(marked)} active")
    return "\n".join(lines) + "\n"


class _Picture:
    def __init__(self, chart: Definition, *, notes: Mapping[str, str]) -> None:
        self.chart = chart
        self.notes = notes
        self.ids = _ids(chart)
        self.arrows = _by_home(chart)

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
        yield from (f"{indent}{self._arrow(transition)}" for transition in self.arrows.get(node.index, ()))

    def _state(self, node: Node, *, depth: int) -> Iterator[str]:
        indent, name = INDENT * depth, self.ids[node.index]
        label = {"history": "H*" if node.deep else "H"}.get(node.kind, node.name)
        opening = f'{indent}state "{label}" as {name}'
        if node.kind in ("compound", "parallel"):
            yield opening + " {"
            yield from self.inside(node, depth=depth + 1)
            yield indent + "}"
        else:
            yield opening
        if node.kind == "final":
            yield f"{indent}{name} --> [*]"
        if node.path in self.notes:
            yield f"{indent}note right of {name}"
            yield from (f"{indent}{INDENT}{_plain(line)}" for line in self.notes[node.path].splitlines())
            yield f"{indent}end note"

    def _arrow(self, transition: Transition) -> str:
        source = self.ids[transition.source]
        target = self.ids[transition.targets[0]] if transition.targets else source
        label = _label(transition)
        return f"{source} --> {target}" + (f" : {label}" if label else "")


def _by_home(chart: Definition) -> dict[int, list[Transition]]:
    """Return the arrows by the innermost state around both ends: Mermaid wants them written there."""
    homes: dict[int, list[Transition]] = {}
    for transition in chart.transitions:
        ends = (transition.source, *transition.targets[:1])
        homes.setdefault(_home(chart, ends), []).append(transition)
    return homes


def _home(chart: Definition, ends: tuple[int, ...]) -> int:
    around = chart.tables.ancestors[ends[0]]
    return next((s for s in around if all(chart.is_descendant(end, of=s) for end in ends)), 0)


def _label(transition: Transition) -> str:
    events = ", ".join(transition.events) if transition.kind == "event" else ""
    guard = f"[{_short(transition.guard_name)}]" if transition.guard_name else ""
    actions = f"/ {_short_names(transition.actions)}" if transition.actions else ""
    return _plain(" ".join(part for part in (events, guard, actions) if part))


def _short_names(actions: Block) -> str:
    return ", ".join(_short(action.name) for action in actions)


def _short(name: str) -> str:
    return name.rpartition(".")[2].replace("<lambda>", "lambda")


def _plain(text: str) -> str:
    """Return text without what Mermaid would read as syntax."""
    return re.sub(r"\s+", " ", text.translate(str.maketrans('";<>{}#', "',()()-"))).strip()


def _ids(chart: Definition) -> dict[int, str]:
    ids = {0: "any_state"}
    for node in chart.nodes[1:]:
        name = re.sub(r"\W", "_", node.path.replace(".", "__"))
        ids[node.index] = f"{name}_{node.index}" if name in ids.values() else name
    return ids
