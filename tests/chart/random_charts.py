"""Random charts as values: what is drawn can be read, built by our compiler, and built by another library.

A `Sketch` says everything about a chart: boxes inside boxes, arrows between them, guards and actions over a counter.
Whatever could go on for ever costs fuel, so that every step of nearly every sketch comes to rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from hypothesis import strategies as st

EVENTS = ("a", "b", "c")
RAISED = ("r", "q")
FUEL = 6
"""How often a chart may raise events, take eventless transitions and react to time."""

Kind = Literal["atomic", "final", "compound", "parallel"]
Memory = Literal["shallow", "deep"]


class Brief:
    """A dataclass that shows what differs from its defaults alone, so that a failing chart can be read."""

    def __repr__(self) -> str:
        shown = (
            f"{each.name}={value!r}"
            for each in fields(self)  # pyright: ignore[reportArgumentType]
            if each.repr and (value := getattr(self, each.name)) != each.default
        )
        return f"{type(self).__name__}({', '.join(shown)})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # Hypothesis asks for it
        printer.text(repr(self))


@dataclass(frozen=True)
class Guard:
    """True when the counter leaves this rest."""

    by: int
    rest: int

    def __call__(self, state: Any) -> bool:
        return state["n"] % self.by == self.rest


@dataclass(frozen=True, repr=False)
class Act(Brief):
    """An action: it writes a line, counts, and may raise an event."""

    line: str
    add: int = 0
    raises: str = ""

    def __call__(self, state: Any) -> Any:
        told = self.raises if self.raises and state["fuel"] > 0 else ""
        changed = {"log": [*state["log"], self.line], "n": state["n"] + self.add, "fuel": state["fuel"] - bool(told)}
        return [changed, told] if told else changed


def fuelled(state: Any) -> bool:
    """Tell whether there is fuel."""
    return state["fuel"] > 0


def burn(state: Any) -> dict[str, int]:
    """Spend fuel."""
    return {"fuel": state["fuel"] - 1}


@dataclass(frozen=True, repr=False)
class Arrow(Brief):
    """A transition; with neither event nor seconds it is eventless."""

    event: str = ""
    after_s: float | None = None
    targets: tuple[str, ...] = ()
    """Names of boxes; `name*` is the history of a box."""
    guard: Guard | None = None
    do: tuple[Act, ...] = ()
    internal: bool = False
    """Not of an eventless one: `when` has no word for it."""


@dataclass(frozen=True, repr=False)
class Box(Brief):
    """A state."""

    name: str
    kind: Kind
    inside: tuple[Box, ...] = ()
    initial: tuple[str, ...] = ()
    """Names of boxes at any depth; empty for the first inside."""
    history: Memory | None = None
    works: bool = False
    """Atomic: whether it has an activity."""
    to: tuple[Arrow, ...] = ()
    """What follows when it is complete; the last has no guard."""
    arrows: tuple[Arrow, ...] = ()
    entry: tuple[Act, ...] = ()
    exit: tuple[Act, ...] = ()


@dataclass(frozen=True)
class Sketch:
    """A whole chart."""

    root: Box
    boxes: dict[str, Box] = field(init=False, repr=False, compare=False)
    paths: dict[str, tuple[str, ...]] = field(init=False, repr=False, compare=False)
    """Per box: the names from the top down to it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "boxes", {box.name: box for box in walk(self.root)})
        object.__setattr__(self, "paths", dict(_paths(self.root, ())))

    @property
    def has_parallel(self) -> bool:
        """Whether some box has regions."""
        return any(box.kind == "parallel" for box in self.boxes.values())


def walk(box: Box) -> Iterator[Box]:
    """Yield a box and everything inside, in document order."""
    yield box
    for inner in box.inside:
        yield from walk(inner)


def _paths(box: Box, around: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for inner in box.inside:
        path = (*around, inner.name)
        yield inner.name, path
        yield from _paths(inner, path)


@dataclass(frozen=True)
class Features:
    """What a sketch may have in it."""

    parallel: bool = True
    timers: bool = True
    works: bool = True
    initial: bool = True
    """Whether a superstate may begin elsewhere than in a box right inside it."""
    outer: bool = True
    """Whether the chart itself may have transitions."""
    instant: bool = True
    """Whether a state without activity may be left as soon as it is entered."""
    deep_completion: bool = True
    """Whether a parallel state may complete through a region that is parallel itself."""
    outward_history: bool = True
    """Whether a transition may lead to the history of a state around its source, which need not be left then."""
    loud_history: bool = True
    """Whether a transition to a history may have actions, and so be eventless or timed."""


ALL = Features()


MOST = 14
"""Boxes of a sketch."""

_some = st.booleans()
_seldom = st.sampled_from((False, False, False, True))
_kinds: dict[int, st.SearchStrategy[Kind]] = {
    1: st.sampled_from(("compound", "parallel", "atomic", "compound", "final")),
    2: st.sampled_from(("atomic", "compound", "parallel", "atomic", "final")),
    3: st.sampled_from(("atomic", "atomic", "atomic", "compound", "final")),
    4: st.sampled_from(("atomic", "atomic", "final")),
}
"""What a box may be at each depth."""
_memories: st.SearchStrategy[Memory | None] = st.sampled_from((None, "shallow", "deep"))
_guards = st.sampled_from((None, None, Guard(2, 0), Guard(2, 1), Guard(3, 0)))
_effects = st.sampled_from(((0, ""), (1, ""), (0, ""), (2, ""), (0, RAISED[0]), (1, RAISED[1]), (1, RAISED[0])))
_triggers = st.sampled_from((*EVENTS, *RAISED, *EVENTS, *RAISED, "always", "after"))
_delays = st.sampled_from((1.0, 0.0, 1.0, 2.5))


@st.composite
def sketches(draw: st.DrawFn, features: Features = ALL) -> Sketch:
    """Return a chart of up to about fifteen states and a dozen transitions."""
    bare = _laid_out(draw, features)
    plain = Sketch(bare)
    by_source: dict[str, list[Arrow]] = {}
    for _ in range(draw(st.integers(3, 10))):
        source, arrow = _arrow(draw, plain, features)
        by_source.setdefault(source, []).append(arrow)
    return Sketch(_dressed(draw, bare, plain, by_source, features))


def _laid_out(draw: st.DrawFn, features: Features) -> Box:
    count = iter(range(1, 100))
    tops = [_box(draw, next(count), features, count=count, around="compound", depth=1) for _ in range(draw(_width))]
    return Box(name="", kind="compound", inside=(*tops, Box(name=f"s{next(count)}", kind="atomic")))


_width = st.sampled_from((2, 1, 2, 3))


def _box(draw: st.DrawFn, number: int, features: Features, *, count: Iterator[int], around: Kind, depth: int) -> Box:
    kind = draw(_kinds[depth])
    if kind == "parallel" and not features.parallel:
        kind = "compound"
    if number >= MOST or (kind == "final" and around == "parallel"):
        kind = "atomic"  # a final state is no region
    if kind == "atomic":
        return Box(name=f"s{number}", kind=kind, works=features.works and draw(_some))
    if kind == "final":
        return Box(name=f"s{number}", kind=kind)
    inside = [_box(draw, next(count), features, count=count, around=kind, depth=depth + 1) for _ in range(draw(_width))]
    return Box(name=f"s{number}", kind=kind, inside=tuple(inside), history=draw(_memories))


def _dressed(draw: st.DrawFn, box: Box, sketch: Sketch, by_source: dict[str, list[Arrow]], features: Features) -> Box:
    inside = tuple(_dressed(draw, inner, sketch, by_source, features) for inner in box.inside)
    initial = _initial(draw, box, sketch, features) if box.kind == "compound" else ()
    box = replace(box, inside=inside, arrows=tuple(by_source.get(box.name, ())), initial=initial)
    if not box.name:
        return box
    return replace(
        box,
        entry=_acts(draw, f"+{box.name}"),
        exit=() if box.kind == "final" else _acts(draw, f"-{box.name}"),
        to=_to(draw, box, sketch, features),
    )


def _acts(draw: st.DrawFn, line: str) -> tuple[Act, ...]:
    add, raises = draw(_effects)
    return (Act(line, add=add, raises=raises),)


def _initial(draw: st.DrawFn, box: Box, sketch: Sketch, features: Features) -> tuple[str, ...]:
    if not draw(_seldom):
        return ()
    if not box.name or not features.initial:
        return (draw(st.sampled_from([inner.name for inner in box.inside])),)
    far = [inner.name for inner in walk(box) if inner is not box]
    return _with_second(draw, sketch, draw(st.sampled_from(far)), far)


def _with_second(draw: st.DrawFn, sketch: Sketch, first: str, among: list[str]) -> tuple[str, ...]:
    beside = [name for name in among if are_orthogonal(sketch, first, name)]
    if not beside or draw(_some):
        return (first,)
    return (first, draw(st.sampled_from(beside)))


def are_orthogonal(sketch: Sketch, one: str, other: str) -> bool:
    """Tell whether two boxes are in different regions of one parallel box."""
    left, right = sketch.paths[one], sketch.paths[other]
    depth = 0
    while depth < min(len(left), len(right)) and left[depth] == right[depth]:
        depth += 1
    if depth in (0, len(left), len(right)):
        return False
    return sketch.boxes[left[depth - 1]].kind == "parallel"


def _to(draw: st.DrawFn, box: Box, sketch: Sketch, features: Features) -> tuple[Arrow, ...]:
    instant = box.kind == "atomic" and not box.works
    if box.kind == "final" or (instant and not (features.instant and draw(_seldom))) or not draw(_some):
        return ()
    if not features.deep_completion and box.kind == "parallel" and any(i.kind == "parallel" for i in box.inside):
        return ()
    last = Arrow(targets=_targets(draw, sketch, box.name, features)[:1])
    guard = draw(_guards)
    return (
        (last,) if guard is None else (Arrow(targets=_targets(draw, sketch, box.name, features)[:1], guard=guard), last)
    )


def _arrow(draw: st.DrawFn, sketch: Sketch, features: Features) -> tuple[str, Arrow]:
    sources = [box.name for box in sketch.boxes.values() if box.name and box.kind != "final"]
    source = draw(st.sampled_from((*sources, "") if features.outer else sources))
    trigger = draw(_triggers)
    targets = () if draw(_seldom) else _targets(draw, sketch, source, features)
    silent = not features.loud_history and any(name.endswith("*") for name in targets)
    trigger = "a" if silent and trigger in ("always", "after") else trigger
    arrow = Arrow(
        targets=targets,
        guard=draw(_guards),
        do=_acts(draw, f"{trigger}@{source}") if not silent and draw(_some) else (),
        internal=trigger != "always" and _is_internal(draw, sketch, source, targets),
    )
    if trigger == "always":
        return source, arrow
    if trigger == "after" and features.timers:
        return source, replace(arrow, after_s=draw(_delays))
    return source, replace(arrow, event="a" if trigger == "after" else trigger)


def _is_internal(draw: st.DrawFn, sketch: Sketch, source: str, targets: tuple[str, ...]) -> bool:
    if not source or sketch.boxes[source].kind != "compound" or not targets:
        return False
    return all(source in sketch.paths[target.rstrip("*")][:-1] for target in targets) and draw(_some)


def _targets(draw: st.DrawFn, sketch: Sketch, source: str, features: Features) -> tuple[str, ...]:
    names = [box.name for box in sketch.boxes.values() if box.name]
    around = () if features.outward_history or not source else sketch.paths[source][:-1]
    memories = [f"{box.name}*" for box in sketch.boxes.values() if box.history and box.name not in around]
    first = draw(st.sampled_from((*names, *memories, *memories)))
    return (first,) if first.endswith("*") else _with_second(draw, sketch, first, names)
