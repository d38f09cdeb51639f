"""Properties an author states of a chart, each as a small machine that watches which states are entered.

A watcher has a mark, which begins as 0 and changes as states are entered; `BROKEN` is the mark of a run that breaks the
property. So the same property is proven on the graph of a chart, where every run there is goes by, and watched in a
single run, as tests do.

States that are entered in the same microstep are entered at the same time, but for a state and what it lies in: there
the outer one is first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Protocol, cast, runtime_checkable

from stateward.chart.definition import Definition
from stateward.errors import DefinitionError, UnknownTarget

BROKEN = -1
"""The mark of a run that breaks the property."""


class Watcher(Protocol):
    """Watches one run."""

    def after(self, mark: int, *, entered: Sequence[int]) -> int:
        """Return the mark after a microstep.

        Args:
            mark: The mark before it; 0 at the beginning of a run.
            entered: The states it entered, in order.
        """
        ...


@runtime_checkable
class Safety(Protocol):
    """A property that one moment of a run can break."""

    def watch(self, chart: Definition) -> Watcher:
        """Return what watches a run of a chart.

        Args:
            chart: The chart.

        Raises:
            UnknownTarget: The property names a state the chart does not have.
        """
        ...


@dataclass(frozen=True, slots=True)
class Never:
    """A state is never entered, or never once another has been."""

    state: str
    after: str | None = None

    def __str__(self) -> str:
        return f"never({self.state!r})" if self.after is None else f"never({self.state!r}, after={self.after!r})"

    def watch(self, chart: Definition) -> Watcher:
        """Return what watches a run; `Safety.watch`."""
        before = None if self.after is None else state_of(self.after, chart=chart)
        return _Forbidden(chart, state_of(self.state, chart=chart), before)


@dataclass(frozen=True, slots=True)
class AlwaysBefore:
    """A state is entered only after another has been."""

    first: str
    then: str
    each: bool = False

    def __str__(self) -> str:
        each = ", each=True" if self.each else ""
        return f"always_before({self.first!r}, {self.then!r}{each})"

    def watch(self, chart: Definition) -> Watcher:
        """Return what watches a run; `Safety.watch`."""
        first, then = state_of(self.first, chart=chart), state_of(self.then, chart=chart)
        return _Ordered(chart, first, then, self.each)


@dataclass(frozen=True, slots=True)
class Separate:
    """No run enters states that may call tools of two groups."""

    groups: tuple[frozenset[str], ...]

    def __str__(self) -> str:
        return f"separate({', '.join(str(sorted(group)) for group in self.groups)})"

    def watch(self, chart: Definition) -> Watcher:
        """Return what watches a run; `Safety.watch`."""
        touched = {
            node.index: groups
            for node in chart.nodes
            if node.activity and (groups := self.groups_of(node.activity.tools))
        }
        return _Apart(touched)

    def groups_of(self, tools: Iterable[str]) -> int:
        """Return which groups some tools belong to, as bits.

        Args:
            tools: Names of tools.
        """
        return sum(1 << place for place, group in enumerate(self.groups) if _meets(tools, group))


@dataclass(frozen=True, slots=True)
class Eventually:
    """Every run that nobody and nothing stops comes to a state."""

    state: str

    def __str__(self) -> str:
        return f"eventually({self.state!r})"


Property = Never | AlwaysBefore | Separate | Eventually
"""What can be stated of a chart."""


def stated(properties: object, *, where: object) -> tuple[Property, ...]:
    """Return properties as given by an author.

    Args:
        properties: Any number of them.
        where: The chart's name, for the message.

    Raises:
        DefinitionError: Something is no property.
    """
    several = tuple(cast("Iterable[object]", properties)) if isinstance(properties, Iterable) else (properties,)
    for one in several:
        if not isinstance(one, Safety | Eventually):
            raise DefinitionError(
                f"`properties` has {one!r}, which is no property",
                where=f"Chart({where!r})",
                fix="Make them with the functions of `stateward.properties`.",
            )
    return cast("tuple[Property, ...]", several)


def never(state: str, *, after: str | None = None) -> Never:
    """State that a state is never entered.

    Args:
        state: Its path, or its name if only one state is called so. Of a superstate: nothing inside is entered.
        after: Only once this state has been entered; None for never at all.
    """
    return Never(state, after)


def always_before(first: str, then: str, *, each: bool = False) -> AlwaysBefore:
    """State that one state is entered only after another.

    Args:
        first: What comes before; a path, or a name if only one state is called so.
        then: What comes after.
        each: Whether every entry of `then` needs an entry of `first` of its own since the last one.
    """
    return AlwaysBefore(first, then, each)


def separate(*groups: Iterable[str]) -> Separate:
    """State that tools of different groups never meet in one run: no run enters states that declare tools of two.

    Args:
        groups: Tool names of each group; `*` and `?` stand for letters as in file names.
    """
    return Separate(tuple(frozenset(group) for group in groups))


def eventually(state: str) -> Eventually:
    """State that every run comes to a state, if its activities end and whoever sends events goes on.

    A run may still be ended by a failure or a fuse, and guards may do as they like, but not for ever: what only guards
    bound is not bounded.

    Args:
        state: Its path, or its name if only one state is called so.
    """
    return Eventually(state)


def state_of(name: str, *, chart: Definition) -> int:
    """Return the state a property names.

    Args:
        name: A path, or the end of one if only one state's path ends so.
        chart: The chart.

    Raises:
        UnknownTarget: No state is called so, or several are.
    """
    if name and name in chart.by_path:
        return chart.by_path[name]
    known = [node for node in chart.nodes[1:] if node.kind != "history"]
    found = [node for node in known if node.path.endswith(f".{name}")]
    if len(found) == 1:
        return found[0].index
    several = ", ".join(f"`{node.path}`" for node in found)
    raise UnknownTarget(
        f"Several states are called `{name}`: {several}" if found else f"A property names `{name}`, which is no state",
        where=chart.name,
        fix="Write the whole path. Known states: " + ", ".join(f"`{node.path}`" for node in known) + ".",
        target=name,
        known=tuple(node.path for node in known),
    )


def _meets(tools: Iterable[str], group: Iterable[str]) -> bool:
    return any(fnmatchcase(tool, pattern) for tool in tools for pattern in group)


@dataclass(frozen=True, slots=True)
class _Forbidden:
    chart: Definition
    state: int
    before: int | None

    def after(self, mark: int, *, entered: Sequence[int]) -> int:
        first = self.before is None or mark > 0
        arrives = self.before is not None and self.before in entered
        inside = arrives and self.chart.is_descendant(self.state, of=self.before or 0)
        if mark == BROKEN or (self.state in entered and (first or inside)):
            return BROKEN
        return 1 if arrives else mark


@dataclass(frozen=True, slots=True)
class _Ordered:
    chart: Definition
    first: int
    then: int
    each: bool

    def after(self, mark: int, *, entered: Sequence[int]) -> int:
        arrives = self.first in entered
        around = arrives and self.chart.is_descendant(self.then, of=self.first)
        if mark == BROKEN or (self.then in entered and not mark and not around):
            return BROKEN
        if self.then in entered and self.each:
            return int(arrives and not around)
        return 1 if arrives else mark


@dataclass(frozen=True, slots=True)
class _Apart:
    touched: dict[int, int]
    """Per state: the groups its tools belong to, as bits."""

    def after(self, mark: int, *, entered: Sequence[int]) -> int:
        if mark == BROKEN:
            return BROKEN
        for state in entered:
            mark |= self.touched.get(state, 0)
        return BROKEN if mark & (mark - 1) else mark
