"""The way of every arrow through the borders it crosses: one segment per level, joined at ports.

A level is the inside of one superstate. An arrow from deep inside to somewhere else leaves each superstate on its way
at a port of the border, runs on the level that holds both ends, and enters at ports again. So each level can be laid
out by itself, as a flat graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from stateward.picture.scene import Arrow, Line, Scene

Side = Literal["top", "bottom"]
"""Where a port is on its box."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """A place on the border of a box at which arrows cross it."""

    box: int
    number: int
    side: Side


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """One end of a segment: a box of the level, or a port of such a box or of the level's own border."""

    box: int
    port: Port | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """The part of an arrow that lies on one level."""

    level: int
    tail: End
    head: End
    forward: bool
    """Whether it leads onward in the level's order: the layout puts its tail above its head."""
    tip: bool
    """Whether the arrow ends here."""
    lines: tuple[Line, ...] = ()
    taken: bool = False
    main: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Routes:
    """All segments and ports of a scene."""

    segments: tuple[Segment, ...]
    ports: tuple[Port, ...]

    def on(self, level: int) -> tuple[Segment, ...]:
        """Return the segments of one level.

        Args:
            level: The number of the box whose inside it is.
        """
        return tuple(segment for segment in self.segments if segment.level == level)

    def of(self, box: int) -> tuple[Port, ...]:
        """Return the ports of one box.

        Args:
            box: The box's number.
        """
        return tuple(port for port in self.ports if port.box == box)


def routes(scene: Scene) -> Routes:
    """Find the way of every arrow of a scene.

    Args:
        scene: The scene.

    Returns:
        The segments; arrows that say the same and lead to the same state share what they can.
    """
    return _Router(scene).routes()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """An arrow, the level that holds both its ends, and the boxes from there to each end, outermost first."""

    arrow: Arrow
    level: int
    down: tuple[int, ...]
    """To the source; empty if the level itself is the source."""
    up: tuple[int, ...]
    """To the target; empty if the level itself is the target."""


class _Router:
    def __init__(self, scene: Scene) -> None:
        self.chains = _chains(scene)
        self.ways = [self._way(arrow) for arrow in scene.arrows]
        self.back = _back(scene, self.ways)
        self.ports: dict[tuple[object, ...], Port] = {}
        self.found: dict[tuple[int, End, End], Segment] = {}

    def routes(self) -> Routes:
        for way in self.ways:
            for segment in self._segments(way):
                key = (segment.level, segment.tail, segment.head)
                known = self.found.get(key)
                self.found[key] = _both(known, segment) if known else segment
        return Routes(segments=tuple(self.found.values()), ports=tuple(self.ports.values()))

    def _way(self, arrow: Arrow) -> _Way:
        source, target = self.chains[arrow.source], self.chains[arrow.target]
        if arrow.source == arrow.target:
            return _Way(arrow=arrow, level=source[-2], down=source[-1:], up=target[-1:])
        shared = sum(1 for a, b in zip(source, target, strict=False) if a == b)
        return _Way(arrow=arrow, level=source[shared - 1], down=source[shared:], up=target[shared:])

    def _segments(self, way: _Way) -> Iterator[Segment]:
        arrow = way.arrow
        forward = not (way.down and way.up and (way.level, way.down[0], way.up[0]) in self.back)
        tail, head = self._tail(way, forward=forward), self._head(way, forward=forward)
        inner = Segment(
            level=way.level,
            tail=tail,
            head=head,
            forward=forward,
            tip=len(way.up) < 2,
            taken=arrow.taken,
            main=arrow.main,
        )
        for level, inside in zip(way.down, way.down[1:], strict=False):
            end = End(box=inside, port=self._exit(way, inside, forward=forward) if inside != arrow.source else None)
            border = End(box=level, port=self._exit(way, level, forward=forward))
            yield replace(inner, level=level, tail=end, head=border, tip=False)
        yield replace(inner, lines=arrow.lines)
        for level, inside in zip(way.up, way.up[1:], strict=False):
            end = End(box=inside, port=self._entry(way, inside, forward=forward) if inside != arrow.target else None)
            border = End(box=level, port=self._entry(way, level, forward=forward))
            yield replace(inner, level=level, tail=border, head=end, tip=inside == arrow.target)

    def _tail(self, way: _Way, *, forward: bool) -> End:
        if not way.down:
            return End(box=way.level, port=self._port(way.level, "top", "from", way.arrow.target))
        first = way.down[0]
        return End(box=first, port=self._exit(way, first, forward=forward) if len(way.down) > 1 else None)

    def _head(self, way: _Way, *, forward: bool) -> End:
        if not way.up:
            return End(box=way.level, port=self._port(way.level, "bottom", "to", way.arrow.lines))
        first = way.up[0]
        return End(box=first, port=self._entry(way, first, forward=forward) if len(way.up) > 1 else None)

    def _exit(self, way: _Way, box: int, *, forward: bool) -> Port:
        texts = tuple(line.text for line in way.arrow.lines)
        return self._port(box, "bottom" if forward else "top", "out", way.arrow.target, texts)

    def _entry(self, way: _Way, box: int, *, forward: bool) -> Port:
        return self._port(box, "top" if forward else "bottom", "in", way.arrow.target)

    def _port(self, box: int, side: Side, *why: object) -> Port:
        key = (box, side, *why)
        return self.ports.setdefault(key, Port(box=box, number=len(self.ports), side=side))


def _both(known: Segment, other: Segment) -> Segment:
    """Return one segment for two arrows that share it."""
    lines = tuple(
        replace(line, taken=line.taken or (i < len(other.lines) and other.lines[i].taken))
        for i, line in enumerate(known.lines)
    )
    return replace(
        known, lines=lines, tip=known.tip or other.tip, taken=known.taken or other.taken, main=known.main or other.main
    )


def _chains(scene: Scene) -> dict[int, tuple[int, ...]]:
    """Return for each box the boxes around it and itself, outermost first; the root is around itself, too."""
    parents = {box.number: box.parent for box in scene.boxes}
    chains: dict[int, tuple[int, ...]] = {}
    for number in parents:
        chain, at = [number], number
        while (at := parents[at]) >= 0:
            chain.append(at)
        chains[number] = (*reversed(chain),)
    return chains


def _back(scene: Scene, ways: Sequence[_Way]) -> set[tuple[int, int, int]]:
    """Return the pairs of boxes, with their level, whose arrows lead back to where the flow came from."""
    after: dict[tuple[int, int], list[int]] = {}
    for way in ways:
        if way.down and way.up and way.down[0] != way.up[0]:
            after.setdefault((way.level, way.down[0]), []).append(way.up[0])
    back: set[tuple[int, int, int]] = set()
    for level in {level for level, _ in after}:
        starts = sorted(scene.inside(level), key=lambda box: box.kind != "initial")
        seen: set[int] = set()
        for box in starts:
            if box.number not in seen:
                back |= {(level, a, b) for a, b in _returning(box.number, level=level, after=after, seen=seen)}
    return back


def _returning(
    start: int, *, level: int, after: dict[tuple[int, int], list[int]], seen: set[int]
) -> Iterator[tuple[int, int]]:
    """Walk depth first, without recursion, and yield the arrows that lead to a box on the present path."""
    path = {start: iter(after.get((level, start), ()))}
    seen.add(start)
    while path:
        at, following = next(reversed(path.items()))
        target = next(following, None)
        if target is None:
            del path[at]
        elif target in path:
            yield at, target
        elif target not in seen:
            seen.add(target)
            path[target] = iter(after.get((level, target), ()))
