"""What an element holds of blocks: which of them have a record of their own, and where they keep what they call.

States inside blocks may be named alike, for every agent has a DECIDE. Blocks may not: they would share a record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, cast, runtime_checkable

from stateward.chart.state import AnyState, Parallel, State, Superstate
from stateward.errors import DefinitionError
from stateward.govern.effective import Effective
from stateward.teams.graph_agent import GraphAgent
from stateward.teams.loop import Loop

BEGIN = "BEGIN"
"""The state that a block begins with; its action is told the block's name, or is a method of what knows it."""


@runtime_checkable
class Leader(Protocol):
    """What makes a block that has members."""

    @property
    def members(self) -> Sequence[str]:
        """Their names."""
        ...


def asks_people(element: AnyState[Any]) -> bool:
    """Whether an activity in it puts questions of its own to people.

    Args:
        element: Any element.
    """
    if isinstance(element, State):
        return element.asks
    return any(asks_people(each) for each in _inside(element))


def refuse_shared_records(name: str, elements: Sequence[AnyState[Any]]) -> None:
    """Refuse blocks of one name, at whatever depth: task and answer of one would be the other's.

    Args:
        name: The block that they are to be in.
        elements: Its members.

    Raises:
        DefinitionError: Two blocks have one name.
    """
    found = {name: name}
    for element in elements:
        where = f"{name}.{element.name}"
        for block in _blocks(element):
            if block in found:
                raise DefinitionError(
                    f"Two blocks are named `{block}`, in `{found[block]}` and in `{where}`, and would share a record",
                    where=name,
                    fix="Name one of them otherwise: names of blocks are unique in a chart.",
                )
        found |= dict.fromkeys(_blocks(element), where)


def refuse_records_of_one_name(chart: str, elements: Sequence[AnyState[Any]]) -> None:
    """Refuse blocks of one name that no block holds together, wherever they are in a chart.

    Args:
        chart: The chart's name.
        elements: Its top states.

    Raises:
        DefinitionError: Two blocks have one name.
    """
    found: dict[str, str] = {}
    for name, path in (kept for element in elements for kept in _keepers(element)):
        if name in found:
            raise DefinitionError(
                f"Two blocks are named `{name}`, `{found[name]}` and `{path}`, and would share a record",
                where=chart,
                fix="Name one of them otherwise: names of blocks are unique in a chart.",
            )
        found[name] = path


def refuse_unknown_contracts(
    tree: AnyState[Any] | None, effectives: Mapping[int, Effective], *, places: Mapping[str, int]
) -> None:
    """Refuse a block that names a contract which no policy has: its first answer would find out.

    Args:
        tree: The chart, as its author wrote it; None for one that was read from another format, which has no blocks.
        effectives: The policies that bind each state, by its index.
        places: The index of each state, by its path.

    Raises:
        DefinitionError: No policy that binds the block has a contract of that name.
    """
    for path, maker in () if tree is None else _makers(tree, path=""):
        for name in getattr(maker, "contracts", ()):
            effectives[places[path]].contract(name)


def refuse_shared_conversations(name: str, elements: Sequence[AnyState[Any]]) -> None:
    """Refuse blocks beside each other that would keep their calls in one conversation.

    Args:
        name: The block that they are to be in.
        elements: Its members.

    Raises:
        DefinitionError: Two of them would; what one says would stand between call and result of the other.
    """
    talk: dict[str, list[str]] = {}
    calling = set[str]()
    for element in elements:
        loops = [maker for _, maker in _made(element) if isinstance(maker, Loop)]
        calling |= {loop.conversation for loop in loops if loop.tools or loop.aside is not None}
        for key in {loop.conversation for loop in loops}:
            talk.setdefault(key, []).append(element.name)
    for key, talkers in talk.items():
        if key in calling and len(talkers) > 1:
            several = " and ".join(f"`{each}`" for each in talkers)
            raise DefinitionError(
                f"The conversation `{key}` would be kept by {several} at the same time, calls between each other's",
                where=name,
                fix="Declare a state key of the type `sw.Messages` for each, and name it: `conversation=KEY`.",
            )


def _blocks(element: AnyState[Any]) -> list[str]:
    """Name a member, and the blocks inside it."""
    inside = list(_made(element))
    led = [each for _, maker in inside if isinstance(maker, Leader) for each in maker.members]
    return list(dict.fromkeys([element.name, *(name for name, _ in inside), *led]))


def _makers(element: AnyState[Any], *, path: str) -> Iterator[tuple[str, object]]:
    """Find what makes each block of an element, with the block's path."""
    yield from ((path, maker) for _, maker in _own(element))
    for each in _inside(element):
        yield from _makers(each, path=f"{path}.{each.name}".lstrip("."))


def _keepers(element: AnyState[Any], *, around: str = "", members: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """Find what has a record in an element: name and path of each block, and of each member that is a plain state.

    A chart that stands in this one keeps its records as its keys are renamed; its blocks are not among these.
    """
    path = f"{around}.{element.name}".lstrip(".")
    makers = [maker for _, maker in _own(element)]
    is_graph = isinstance(element, State) and isinstance(element.do, GraphAgent) and not element.do.is_renamed
    is_member = element.name in members
    if makers or is_graph or is_member:
        yield element.name, path
    led = [name for maker in makers if isinstance(maker, Leader) for name in maker.members]
    # Inside a member a plain state may be named like another member: it is none.
    inner = led or (() if is_member else members)
    for each in _inside(element):
        yield from _keepers(each, around=path, members=inner)


def _made(element: AnyState[Any]) -> Iterator[tuple[str, object]]:
    """Find the blocks of an element, itself among them: the name of each, and what makes it, where that is known."""
    yield from _own(element)
    for each in _inside(element):
        yield from _made(each)


def _own(element: AnyState[Any]) -> Iterator[tuple[str, object]]:
    """Tell whether an element is a block: its name then, and what makes it, where that is known."""
    for each in _inside(element):
        if isinstance(each, State) and each.name == BEGIN:
            yield from ((element.name, maker) for name, maker in _begun_by(each) if name == element.name)


def _inside(element: AnyState[Any]) -> Sequence[AnyState[Any]]:
    if isinstance(element, Superstate):
        return element.children
    return element.regions if isinstance(element, Parallel) else ()


def _begun_by(state: State[Any]) -> Iterator[tuple[object, object]]:
    entry: Any = state.entry
    for action in cast("Sequence[Any]", entry) if isinstance(entry, list | tuple) else (entry,):
        if isinstance(action, partial):
            yield cast("Mapping[str, Any]", action.keywords).get("name"), None
        else:
            maker = getattr(action, "__self__", None)
            yield getattr(maker, "name", None), maker
