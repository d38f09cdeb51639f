"""Places for everything in a scene: each level by itself, the innermost first, then put into each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from stateward.picture.engine import Curve, Edge, Level, Point, Vertex, arrange
from stateward.picture.parting import Extent, parted
from stateward.picture.route import End, Routes, Segment, Side, routes
from stateward.picture.scene import Box, Line, Scene
from stateward.picture.size import MARGIN, closed, heading, text

GAP = 8.0
"""Between a text and the line it belongs to."""
TIP = 7.5
"""Length of an arrow's tip."""
TITLE = "title"

Frame = Literal["own", "column", "dashed"]
"""The border of a box: its own, none (a column between dashed lines), or a dashed one for a region."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A box with its place; `x` and `y` are those of its upper left corner."""

    box: Box
    x: float
    y: float
    width: float
    height: float
    frame: Frame = "own"
    inside: bool = False
    """Whether boxes lie in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stroke:
    """A chain of cubic curves, and the tip of an arrow at its end."""

    points: tuple[Point, ...]
    tip: Point | None = None
    taken: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Lines beside an arrow; `x` and `y` are those of the upper left corner."""

    lines: tuple[Line, ...]
    x: float
    y: float
    level: int
    """The number of the box whose ground they stand on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A picture whose every part has a place."""

    width: float
    height: float
    boxes: tuple[Placed, ...]
    strokes: tuple[Stroke, ...]
    texts: tuple[Text, ...]
    rules: tuple[tuple[Point, Point], ...]
    """Dashed lines around regions."""


@dataclass(slots=True)
class _Inside:
    """A level that is laid out: everything relative to its box's upper left corner."""

    width: float
    height: float
    places: dict[int, Point] = field(default_factory=dict[int, Point])
    strokes: list[Stroke] = field(default_factory=list[Stroke])
    texts: list[Text] = field(default_factory=list[Text])
    ports: dict[int, Point] = field(default_factory=dict[int, Point])
    """Where the lines to the level's own ports end; from there they run straight to the border."""
    marks: dict[int, Segment] = field(default_factory=dict[int, Segment])
    """For each of those ports one segment that meets it."""
    columns: list[float] = field(default_factory=list[float])
    """Where regions that stand side by side begin."""


def layout(scene: Scene) -> Layout:
    """Give everything in a scene its place.

    Args:
        scene: The scene.

    Returns:
        The layout; the same for the same scene.

    Raises:
        DefinitionError: The `draw` extra is not installed.
    """
    return _Architect(scene, routes(scene)).layout()


class _Architect:
    def __init__(self, scene: Scene, ways: Routes) -> None:
        self.scene = scene
        self.ways = ways
        self.boxes = {box.number: box for box in scene.boxes}
        self.children = {box.number: scene.inside(box.number) for box in scene.boxes}
        self.insides: dict[int, _Inside] = {}
        self.sizes: dict[int, Point] = {}

    def layout(self) -> Layout:
        # Children have higher numbers than what is around them, but for dots and forks, which have nothing inside.
        for box in reversed(self.scene.boxes):
            if not self.children[box.number]:
                self.sizes[box.number] = closed(box)
        for box in reversed(self.scene.boxes):
            if self.children[box.number]:
                inside = self._columns(box) if self._stands(box) else self._arranged(box)
                self.insides[box.number] = inside
                self.sizes[box.number] = (inside.width, inside.height)
        return self._composed()

    def _stands(self, box: Box) -> bool:
        """Tell whether a parallel state can show its regions as columns: all its arrows cross it straight through."""
        return box.kind == "parallel" and all(
            not segment.lines
            and box.number in (segment.tail.box, segment.head.box)
            and (self.boxes[end.box].kind != "compound" or end.port is not None)
            for segment in self.ways.on(box.number)
            for end in (segment.tail, segment.head)
        )

    def _columns(self, box: Box) -> _Inside:
        """Put the regions side by side, as high as the highest, and a history into a column of its own at the end."""
        wide, top = heading(box)
        top += MARGIN
        children = sorted(self.children[box.number], key=lambda child: child.kind == "history")
        sizes = {child.number: self._cell(child) for child in children}
        regions = [child.number for child in children if child.kind != "history"]
        # A heading wider than what is below it widens the last region.
        rest = max(0.0, wide + 2 * MARGIN - sum(width for width, _ in sizes.values()))
        sizes[regions[-1]] = (sizes[regions[-1]][0] + rest, sizes[regions[-1]][1])
        height = max(high for _, high in sizes.values())
        inside = _Inside(width=sum(width for width, _ in sizes.values()), height=top + height)
        left = 0.0
        for child in children:
            width, _ = sizes[child.number]
            if child.kind == "compound":
                self.sizes[child.number] = (width, height)
            inside.places[child.number] = (left + (width - self.sizes[child.number][0]) / 2, top + self._sunk(child))
            inside.columns += [left] if child.kind != "history" else []
            left += width
        self._cross(inside, box)
        return inside

    def _cell(self, child: Box) -> Point:
        width, height = self.sizes[child.number]
        return (width, height) if child.kind == "compound" else (width + 2 * MARGIN, height + 2 * MARGIN)

    def _sunk(self, child: Box) -> float:
        return 0.0 if child.kind == "compound" else MARGIN

    def _cross(self, inside: _Inside, box: Box) -> None:
        """Draw the arrows that run straight down or up between the border and a column."""
        for segment in self.ways.on(box.number):
            own, other = sorted((segment.tail, segment.head), key=lambda end: end.box != box.number)
            assert own.port is not None
            (left, up), (width, height) = inside.places[other.box], self.sizes[other.box]
            x = left + (round(self.insides[other.box].ports[other.port.number][0]) if other.port else width / 2)
            y = up if own.port.side == "top" else up + height
            self._meet(inside, own, segment, (x, y))

    def _arranged(self, box: Box) -> _Inside:
        segments = self.ways.on(box.number)
        level = arrange([*self._vertices(box)], [*self._edges(box, segments)])
        inside = _Inside(width=round(level.width + 2 * MARGIN), height=round(level.height + 2 * MARGIN))
        for child in self.children[box.number]:
            x, y = level.middles[_name(child)]
            width, height = self.sizes[child.number]
            inside.places[child.number] = (x - width / 2 + MARGIN, y - height / 2 + MARGIN)
        for segment, curve in zip(segments, self._parted(box, segments, level), strict=True):
            if curve is not None:
                self._draw(inside, segment, _moved(curve, MARGIN, MARGIN))
                self._meet_border(inside, box, segment, curve)
        return inside

    def _parted(self, box: Box, segments: Sequence[Segment], level: Level) -> Sequence[Curve | None]:
        extents: dict[int, Extent] = {}
        for child in self.children[box.number]:
            if child.kind in ("atomic", "compound", "parallel"):
                (x, y), (width, height) = level.middles[_name(child)], self.sizes[child.number]
                extents[child.number] = ((x - width / 2, y - height / 2), (x + width / 2, y + height / 2))
        # After the segments' curves come those of edges that are not drawn.
        return parted(segments, level.curves[: len(segments)], extents=extents)

    def _vertices(self, box: Box) -> Iterator[Vertex]:
        for child in self.children[box.number]:
            width, height = self.sizes[child.number]
            top, bottom = tuple(self._ports(child, "top")), tuple(self._ports(child, "bottom"))
            shape = "circle" if child.kind in ("history", "initial") else "box"
            yield Vertex(name=_name(child), width=width, height=height, shape=shape, top=top, bottom=bottom)
        wide, high = heading(box)
        yield Vertex(name=TITLE, width=wide, height=high - MARGIN / 2, rank="source")
        for port in self.ways.of(box.number):
            yield Vertex(name=f"p{port.number}", width=2, height=2, rank="source" if port.side == "top" else "sink")

    def _ports(self, box: Box, side: Side) -> Iterator[tuple[int, int]]:
        for port in self.ways.of(box.number):
            if port.side == side:
                yield port.number, round(self.insides[box.number].ports[port.number][0])

    def _edges(self, box: Box, segments: Sequence[Segment]) -> Iterator[Edge]:
        for segment in segments:
            tail, head = self._end(box, segment.tail, is_tail=True), self._end(box, segment.head, is_tail=False)
            upper, lower = (tail, head) if segment.forward else (head, tail)
            # An arrow that ends at this level's own border gets its tip there.
            tipped = segment.tip and segment.head.box != box.number
            tip = ("lower" if segment.forward else "upper") if tipped else "none"
            size = text(segment.lines)
            label = (size[0] + GAP, size[1]) if segment.lines else None
            yield Edge(upper=upper, lower=lower, tip=tip, label=label, weight=_weight(self.boxes, segment))
        for port in self.ways.of(box.number):
            if port.side == "top":
                yield Edge(upper=TITLE, lower=f"p{port.number}", hidden=True)

    def _end(self, level: Box, end: End, *, is_tail: bool) -> str:
        if end.box == level.number and end.port is not None:
            return f"p{end.port.number}:{'s' if end.port.side == 'top' else 'n'}"
        name = _name(self.boxes[end.box])
        if end.port is not None:
            return f"{name}:p{end.port.number}:{'n' if end.port.side == 'top' else 's'}"
        return f"{name}:n" if self.boxes[end.box].kind == "final" and not is_tail else name

    def _draw(self, inside: _Inside, segment: Segment, curve: Curve) -> None:
        points = curve.points if segment.forward else curve.points[::-1]
        inside.strokes.append(Stroke(points=points, tip=curve.tip, taken=segment.taken))
        if curve.label is not None and segment.lines:
            width, height = text(segment.lines)
            x, y = curve.label
            inside.texts.append(Text(lines=segment.lines, x=x - width / 2, y=y - height / 2, level=segment.level))

    def _meet_border(self, inside: _Inside, box: Box, segment: Segment, curve: Curve) -> None:
        ends = (curve.points[0], curve.points[-1]) if segment.forward else (curve.points[-1], curve.points[0])
        for end, (x, y) in zip((segment.tail, segment.head), ends, strict=True):
            if end.box == box.number and end.port is not None:
                self._meet(inside, end, segment, (x + MARGIN, y + MARGIN))

    def _meet(self, inside: _Inside, end: End, segment: Segment, at: Point) -> None:
        assert end.port is not None
        known = inside.marks.get(end.port.number)
        inside.ports[end.port.number] = at
        inside.marks[end.port.number] = replace(segment, taken=segment.taken or (known is not None and known.taken))

    def _composed(self) -> Layout:
        boxes: list[Placed] = []
        strokes: list[Stroke] = []
        texts: list[Text] = []
        rules: list[tuple[Point, Point]] = []
        waiting: list[tuple[Box, Point, Frame]] = [(self.boxes[0], (0.0, 0.0), "own")]
        while waiting:
            box, (x, y), frame = waiting.pop()
            width, height = self.sizes[box.number]
            inside = self.insides.get(box.number)
            boxes.append(Placed(box=box, x=x, y=y, width=width, height=height, frame=frame, inside=inside is not None))
            if inside is None:
                continue
            strokes += [_shifted(stroke, x, y) for stroke in (*inside.strokes, *self._stubs(box, inside))]
            texts += [replace(one, x=one.x + x, y=one.y + y) for one in inside.texts]
            if inside.columns:
                top = y + heading(box)[1] + MARGIN
                rules.append(((x, top), (x + width, top)))
                rules += [((x + left, top), (x + left, y + height)) for left in inside.columns[1:]]
            for child, (left, up) in reversed(inside.places.items()):
                waiting.append((self.boxes[child], (x + left, y + up), _frame(box, inside, self.boxes[child])))
        return Layout(
            width=self.sizes[0][0],
            height=self.sizes[0][1],
            boxes=tuple(boxes),
            strokes=tuple(strokes),
            texts=tuple(texts),
            rules=tuple(rules),
        )

    def _stubs(self, box: Box, inside: _Inside) -> Iterator[Stroke]:
        """Yield the straight lines from the ports to the border."""
        for port in self.ways.of(box.number):
            if port.number in inside.ports:
                (x, y), mark = inside.ports[port.number], inside.marks[port.number]
                border = 0.0 if port.side == "top" else self.sizes[box.number][1]
                # Ports of a vertex stand at whole numbers.
                yield _stub((x, y), (round(x), border), mark, level=box.number, columns=bool(inside.columns))


def _stub(at: Point, border: Point, mark: Segment, *, level: int, columns: bool) -> Stroke:
    """Return the straight line between a port's place and the border, with a tip where the arrow ends there."""
    outward = mark.head.box == level
    start, end = (at, border) if outward else (border, at)
    if not mark.tip or not (outward or columns):
        return Stroke(points=(start, start, end, end), taken=mark.taken)
    base = (end[0], end[1] + (TIP if end[1] < start[1] else -TIP))
    return Stroke(points=(start, start, base, base), tip=end, taken=mark.taken)


def _name(box: Box) -> str:
    return f"b{box.number}"


def _weight(boxes: dict[int, Box], segment: Segment) -> int:
    if boxes[segment.tail.box].kind == "initial" and segment.tail.port is None:
        return 6
    return 3 if segment.main else 1


def _frame(around: Box, inside: _Inside, box: Box) -> Frame:
    if around.kind != "parallel" or box.kind != "compound":
        return "own"
    return "column" if inside.columns else "dashed"


def _moved(curve: Curve, x: float, y: float) -> Curve:
    points = tuple((a + x, b + y) for a, b in curve.points)
    tip = None if curve.tip is None else (curve.tip[0] + x, curve.tip[1] + y)
    label = None if curve.label is None else (curve.label[0] + x, curve.label[1] + y)
    return Curve(points=points, tip=tip, label=label)


def _shifted(stroke: Stroke, x: float, y: float) -> Stroke:
    points = tuple((a + x, b + y) for a, b in stroke.points)
    tip = None if stroke.tip is None else (stroke.tip[0] + x, stroke.tip[1] + y)
    return Stroke(points=points, tip=tip, taken=stroke.taken)
