"""How the kernel reaches the chart's data, and the plainest way to do so: one dictionary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, cast

from stateward.chart.definition import Action, Node, Transition
from stateward.chart.event import Event, Occurrence, occurrence_of


class Data(Protocol):
    """Calls the author's functions for the kernel, which knows nothing else of the data."""

    def test(self, transition: Transition, *, event: Occurrence | None) -> bool:
        """Evaluate a transition's guard on the present data."""
        ...

    def perform(self, action: Action, *, event: Occurrence | None) -> Sequence[Occurrence]:
        """Run an action, take in what it changes, and return the events it raised."""
        ...

    def result(self, final: Node, *, event: Occurrence | None) -> object:
        """Evaluate a final state's `data`; called only if it has one."""
        ...


class PlainData:
    """Data in a dictionary of its own: for the bare kernel, in tests and simulations.

    An action returns an update, which is merged key by key; an event, which is raised; a list of these; or
    None.

    Args:
        state: The initial values; copied.
    """

    def __init__(self, state: Mapping[str, object] | None = None) -> None:
        self.state: dict[str, object] = dict(state or {})

    def test(self, transition: Transition, *, event: Occurrence | None) -> bool:
        """Evaluate a transition's guard on the dictionary."""
        return transition.guard is None or bool(transition.guard(self.state, _value(event)))

    def perform(self, action: Action, *, event: Occurrence | None) -> Sequence[Occurrence]:
        """Run an action on the dictionary.

        Raises:
            TypeError: The action returned something that is neither update nor event.
        """
        returned = action.fn(self.state, _value(event))
        several = cast("list[object]", returned) if isinstance(returned, list) else [returned]
        raised: list[Occurrence] = []
        for each in several:
            if isinstance(each, Event | Occurrence):
                raised.append(occurrence_of(each))
            elif isinstance(each, Mapping):
                self.state.update(cast("Mapping[str, object]", each))
            elif each is not None:
                raise TypeError(f"`{action.name}` returned {each!r}, neither an update nor an event")
        return raised

    def result(self, final: Node, *, event: Occurrence | None) -> object:
        """Evaluate a final state's `data` on the dictionary."""
        return final.data(self.state, _value(event)) if final.data else None


def _value(event: Occurrence | None) -> object:
    return event.value if event else None
