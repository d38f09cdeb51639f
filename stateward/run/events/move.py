"""Which states a step has left and entered, from what it writes to the control channel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from typing import Any

from stateward.chart.tables import ACTIVITY_DONE
from stateward.run.events.event import StateEntered, StateLeft


def first_moves(begun: str) -> Iterator[StateEntered]:
    """Tell how a run begins: its first state is entered in the same step in which its activity runs.

    Args:
        begun: The first state; empty when there is none to tell.

    Yields:
        The states around it, and the state.
    """
    for path in _with_superstates([begun] if begun else []):
        yield StateEntered(path=path, activation=1, event="start")


def moves(
    before: Mapping[str, Any], delta: Mapping[str, Any], *, begun: str = ""
) -> Iterator[StateLeft | StateEntered]:
    """Tell a step's moves in the order in which they were made.

    A state that the step only went through is left before the next state is entered.

    Args:
        before: The control channel before the step.
        delta: What the step writes to it.
        begun: The first state of a run, of which was told that it is entered.

    Yields:
        A state that is left after those in it, and one that is entered before those in it.
    """
    if "at" not in delta:
        return
    last: Mapping[str, Any] = delta.get("last") or {}
    event = str(last.get("event") or "")
    event = "done" if event.startswith(ACTIVITY_DONE) else event
    active, rests = _with_superstates([begun] if begun else before.get("at") or ()), _with_superstates(delta["at"])
    after, parallels = set(rests), _parallels(active) | _parallels(rests)
    entries = _further(delta.get("entries") or {}, begun=begun)
    pending = set(entries)  # what is active and entered again has to be left before
    for path, activation in entries.items():
        goes = [each for each in active if each not in after or each in pending]
        yield from _left([each for each in goes if not _can_stay(each, path, parallels)], active, event)
        active.append(path)
        pending.discard(path)
        yield StateEntered(path=path, activation=activation, event=event)
    yield from _left([each for each in active if each not in after], active, event)


def _further(entries: Mapping[str, int], *, begun: str) -> dict[str, int]:
    """Leave out the chart itself, and what was entered on the way into the first state."""
    paths = list(entries)
    first = paths[: paths.index(begun) + 1] if begun in entries else []
    again = [path for path in first if entries[path] > 1]
    return {path: entries[path] for path in (*again, *paths[len(first) :]) if path}


def _left(gone: Iterable[str], active: list[str], event: str) -> Iterator[StateLeft]:
    for path in list(gone)[::-1]:
        active.remove(path)
        yield StateLeft(path=path, event=event)


def _can_stay(active: str, entered: str, parallels: set[str]) -> bool:
    """Whether a state may be active when another one is entered: as what is around it, or in another region."""
    common = _common(active, entered)
    return common != entered and (common == active or common in parallels)


def _parallels(active: Iterable[str]) -> set[str]:
    """Return the states in which several others stand at once."""
    around = [path.rpartition(".")[0] for path in active if "." in path]
    return {path for path in around if around.count(path) > 1}


def _common(one: str, other: str) -> str:
    """Return the path of what is around two states, which may be one of them; empty for the chart."""
    pairs = zip(one.split("."), other.split("."), strict=False)
    return ".".join(name for name, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _with_superstates(paths: Iterable[str]) -> list[str]:
    """Return states with all that is around them, each once, the outer ones first."""
    found = dict[str, None]()
    for path in paths:
        names = path.split(".")
        found.update(dict.fromkeys(".".join(names[: number + 1]) for number in range(len(names))))
    return list(found)
