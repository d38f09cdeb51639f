"""Which checkpoints of a line must stay for others to be read, and where the writes of the rest go.

A delta channel is stored as writes: its value at a checkpoint is made of the nearest full copy among its ancestors and
of the writes in between. To delete ancestors and leave every kept checkpoint as it reads, the writes of a deleted
stretch move to the kept checkpoint before it. That is LangGraph's own place for writes of steps that were never stored
(with `durability="exit"`), and nothing has to be computed: reading folds the same writes in the same order.

Kept beside what was asked for:

- the checkpoint whose full copy a kept one starts from, or the first one of the line when there is none;
- where two lines part that are both read through that point: the checkpoint, and the first one of each line. Writes
  that move there would belong to one of them only.

A line that is started later from a checkpoint that holds moved writes begins with a full copy: LangGraph sees them as
writes that a child has consumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One checkpoint of one namespace, as far as its line is concerned."""

    id: str
    parent: str | None
    held: frozenset[str]
    """The channels that are stored in it in full."""
    missing: frozenset[str]
    """The delta channels that have a value and are not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """What stays of a namespace, and how it hangs together."""

    kept: frozenset[str]
    parents: Mapping[str, str | None]
    """The new parent of each kept checkpoint whose parent goes."""
    stretches: Mapping[str, tuple[str, ...]]
    """Kept checkpoint to those after it whose writes move to it, the oldest first."""


def thinned(nodes: Iterable[Node], *, wanted: Iterable[str]) -> Lineage:
    """Decide what stays.

    Args:
        nodes: All checkpoints of one namespace.
        wanted: The ids of those that must read as they do now; unknown ones are ignored.

    Returns:
        What is kept, and what has to be written for it.
    """
    by_id = {node.id: node for node in nodes}
    kept = {name for name in wanted if name in by_id}
    while True:
        read = _read(by_id, kept=kept)
        if read.ends | _partings(read) <= kept:
            break
        kept |= read.ends | _partings(read)
    cut = {name: _stretch(by_id, name, kept=kept) for name in kept if _loses_parent(by_id[name], kept=kept)}
    return Lineage(
        kept=frozenset(kept),
        parents={name: home for name, (home, _) in cut.items()},
        stretches={home: gone for name, (home, gone) in cut.items() if home is not None and name in read.through},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """What is looked at when the kept checkpoints are read."""

    through: Mapping[str, str]
    """Checkpoint to the ancestor whose writes are looked at next."""
    ends: set[str]
    """Those with a full copy that is used, and the first ones of their lines."""


def _read(by_id: Mapping[str, Node], *, kept: set[str]) -> _Reading:
    through: dict[str, str] = {}
    ends: set[str] = set()
    for name in kept:
        wanting = set(by_id[name].missing)
        for node in _line(by_id, name):
            if node.id != name and wanting & node.held:
                wanting -= node.held
                ends.add(node.id)
            if not wanting:
                break
            if node.parent is None or node.parent not in by_id:
                ends.add(node.id)
            else:
                through[node.id] = node.parent
    return _Reading(through=through, ends=ends)


def _partings(read: _Reading) -> set[str]:
    """Where two lines part that are both read through that point, and the first checkpoint of each."""
    children: dict[str, list[str]] = {}
    for name, parent in read.through.items():
        children.setdefault(parent, []).append(name)
    parting = {parent: names for parent, names in children.items() if len(names) > 1}
    return parting.keys() | {name for names in parting.values() for name in names}


def _loses_parent(node: Node, *, kept: set[str]) -> bool:
    return node.parent is not None and node.parent not in kept


def _line(by_id: Mapping[str, Node], name: str) -> Iterator[Node]:
    """A checkpoint and its ancestors, the nearest first; a damaged line that runs in a circle ends."""
    seen: set[str] = set()
    at: str | None = name
    while at is not None and at in by_id and at not in seen:
        seen.add(at)
        yield by_id[at]
        at = by_id[at].parent


def _stretch(by_id: Mapping[str, Node], name: str, *, kept: set[str]) -> tuple[str | None, tuple[str, ...]]:
    """The nearest kept ancestor, and what lies between, the oldest first."""
    gone: list[str] = []
    for node in _line(by_id, name):
        if node.id != name and node.id in kept:
            return node.id, tuple(reversed(gone))
        if node.id != name:
            gone.append(node.id)
    return None, ()
