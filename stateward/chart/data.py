"""How the kernel reaches the chart's data, and the plainest way to do so: one dictionary."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any, Protocol, cast

from pydantic import BaseModel

from stateward.chart.definition import Action, Node, Transition
from stateward.chart.delay import Cancel, Delayed
from stateward.chart.event import Event, Occurrence, occurrence_of
from stateward.chart.guard import Active, Bound

News = Occurrence | Delayed | Cancel
"""What an action tells the chart: an event now, an event later, or that one is not wanted any more."""


class Data(Protocol):
    """Calls the author's functions for the kernel, which knows nothing else of the data.

    `active` of every method returns the paths of the active states, the root's left out; the kernel changes them while
    it goes on, so it is called at once or not at all.
    """

    def test(self, transition: Transition, *, event: Occurrence | None, active: Active) -> bool:
        """Evaluate a transition's guard on the present data."""
        ...

    def perform(self, action: Action, *, event: Occurrence | None, active: Active) -> Sequence[News]:
        """Run an action, take in what it changes, and return what it tells the chart, in its order."""
        ...

    def result(self, final: Node, *, event: Occurrence | None, active: Active) -> object:
        """Evaluate a final state's `data`; called only if it has one."""
        ...

    def delay(self, transition: Transition, *, event: Occurrence | None, active: Active) -> object:
        """Evaluate the seconds of an `after` transition; called only if they are a function.

        What is returned should be a number of seconds; the kernel makes `error.delay` of everything else.
        """
        ...

    def kept(self) -> object:
        """Return what `put_back` needs to know; called before the first action of a step."""
        ...

    def put_back(self, kept: object) -> None:
        """Forget what actions changed since, because the step has failed.

        Args:
            kept: From `kept`.
        """
        ...


class PlainData:
    """Data in a dictionary of its own: for the bare kernel, in tests and simulations.

    An action returns what `told` takes; an update is merged key by key. When a step fails, the dictionary is filled
    again with the values it had before; a value that an action has changed in place, against the rule, stays changed.

    Args:
        state: The initial values; copied.
        present: Makes of the dictionary what functions get as state, a dataclass for instance; None for the dictionary.
    """

    def __init__(
        self,
        state: Mapping[str, object] | None = None,
        *,
        present: Callable[[Mapping[str, object]], object] | None = None,
    ) -> None:
        self.state: dict[str, object] = dict(state or {})
        self._present = present

    def test(self, transition: Transition, *, event: Occurrence | None, active: Active) -> bool:
        """Evaluate a transition's guard on the dictionary."""
        return transition.guard is None or bool(transition.guard(self._seen(), _value(event), active=active))

    def perform(self, action: Action, *, event: Occurrence | None, active: Active) -> Sequence[News]:
        """Run an action on the dictionary.

        Raises:
            TypeError: The action returned something that `told` does not take.
        """
        returned = action.fn(self._seen(), _value(event), active=active)
        return told(returned, action=action, take=self.state.update)

    def result(self, final: Node, *, event: Occurrence | None, active: Active) -> object:
        """Evaluate a final state's `data` on the dictionary."""
        return final.data(self._seen(), _value(event), active=active) if final.data else None

    def delay(self, transition: Transition, *, event: Occurrence | None, active: Active) -> object:
        """Evaluate the seconds of an `after` transition on the dictionary."""
        seconds = transition.delay
        return seconds(self._seen(), _value(event), active=active) if isinstance(seconds, Bound) else seconds

    def kept(self) -> dict[str, object]:
        """Return a copy of the dictionary; the values in it are the same."""
        return self.state.copy()

    def put_back(self, kept: object) -> None:
        """Fill the dictionary with what it had before.

        Args:
            kept: From `kept`.
        """
        self.state.clear()
        self.state.update(cast("dict[str, object]", kept))

    def _seen(self) -> object:
        return self.state if self._present is None else self._present(self.state)


def told(returned: object, *, action: Action, take: Callable[[Mapping[str, object]], None]) -> list[News]:
    """Read what an action returned: updates are taken in, and what it tells the chart is returned, in order.

    Args:
        returned: An update, an event, a bare event name, a `Delayed`, a `Cancel`, a list or tuple that mixes them, or
            None.
        action: Who returned it, for the message.
        take: Takes an update in.

    Raises:
        TypeError: It is something else.
        DefinitionError: A bare name is not a legal event name.
    """
    if returned is None:
        return []
    if isinstance(returned, dict):  # by far the most frequent, so it is asked first
        take(cast("dict[str, object]", returned))
        return []
    several = cast("Sequence[object]", returned) if isinstance(returned, list | tuple) else (returned,)
    news: list[News] = []
    for each in several:
        if isinstance(each, Event | Occurrence | str):
            news.append(occurrence_of(each))
        elif isinstance(each, Delayed | Cancel):
            news.append(each)
        elif each is not None:
            update = update_of(each)
            if update is None:
                raise TypeError(f"`{action.name}` returned {each!r}, neither an update nor an event")
            take(update)
    return news


def update_of(returned: object) -> Mapping[str, Any] | None:
    """Return the update that a value stands for: a mapping, or an instance of a dataclass or Pydantic model.

    Args:
        returned: What the author's function returned.

    Returns:
        State key to value, of a Pydantic model only the fields that were set; None if it is no update.
    """
    if isinstance(returned, Mapping):
        return cast("Mapping[str, Any]", returned)
    if isinstance(returned, BaseModel):
        return {key: getattr(returned, key) for key in returned.model_fields_set}
    if is_dataclass(returned) and not isinstance(cast("object", returned), type):
        return asdict(cast("Any", returned))
    return None


def _value(event: Occurrence | None) -> object:
    return event.value if event else None
