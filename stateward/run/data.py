"""How the kernel reaches the state: guards and actions see the committed form of the update."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from stateward.chart.data import News, told
from stateward.chart.definition import Action, Definition, Node, Transition
from stateward.chart.event import Occurrence
from stateward.chart.guard import Active, Bound
from stateward.chart.step import Step
from stateward.errors import UpdateRefused
from stateward.run.handed import value_of
from stateward.run.view import View


class ViewData:
    """The kernel's `Data` over a view of the state.

    A guard of an `always` transition sees only messages that are newer than the moment its state was last left, so
    that history can lead back into a state that a message made the chart leave.

    Args:
        chart: Whose functions are called.
        view: The state they see; actions' updates are applied to it.
        marks: State path to the id of the last message when that state was left.
    """

    def __init__(self, *, chart: Definition, view: View, marks: Mapping[str, str]) -> None:
        self._chart = chart
        self._view = view
        self._marks = marks
        self.events: dict[str, Occurrence] = {}
        """What happened in this step, by name: the event that brings a state its activity is found here."""

    def test(self, transition: Transition, *, event: Occurrence | None, active: Active) -> bool:
        """Evaluate a transition's guard; one without a guard is true.

        Args:
            transition: The transition.
            event: What triggered it, or None.
            active: The paths of the active states.
        """
        if transition.guard is None:
            return True
        seen = self._since_mark(transition) if self._marks and transition.kind == "always" else self._view
        return bool(transition.guard(self._view.schema.present(seen), value_of(event), active=active))

    def _since_mark(self, transition: Transition) -> Mapping[str, Any]:
        mark = self._marks.get(self._chart.nodes[transition.source].path)
        return self._view if mark is None else _SinceMark(self._view, mark=mark)

    def perform(self, action: Action, *, event: Occurrence | None, active: Active) -> Sequence[News]:
        """Run an action, take its update in, and return what it tells the chart.

        Args:
            action: Returns an update, an event, a bare name, a `Delayed`, a `Cancel`, a list of these, or None.
            event: What triggered it, or None.
            active: The paths of the active states.
        """
        returned = action.fn(self._view.schema.present(self._view), value_of(event), active=active)
        news = told(returned, action=action, take=self._take)
        self.events.update((one.name, one) for one in news if isinstance(one, Occurrence))
        return news

    def _take(self, update: Mapping[str, Any]) -> None:
        try:
            self._view.apply(update)
        except UpdateRefused as misfit:
            # No StatewardError: the kernel makes `error.action` of it, as of everything else an action raises.
            raise ValueError(str(misfit)) from misfit

    def result(self, final: Node, *, event: Occurrence | None, active: Active) -> object:
        """Evaluate a final state's `data`.

        Args:
            final: The final state.
            event: What led there, or None.
            active: The paths of the active states.
        """
        if final.data is None:
            return None
        return final.data(self._view.schema.present(self._view), value_of(event), active=active)

    def delay(self, transition: Transition, *, event: Occurrence | None, active: Active) -> object:
        """Evaluate the seconds of an `after` transition.

        Args:
            transition: The transition.
            event: What led to its source, or None.
            active: The paths of the active states.
        """
        if not isinstance(transition.delay, Bound):
            return transition.delay
        return transition.delay(self._view.schema.present(self._view), value_of(event), active=active)

    def kept(self) -> Mapping[str, list[Any]]:
        """Return what was written so far."""
        return self._view.kept()

    def put_back(self, kept: object) -> None:
        """Forget what actions wrote since.

        Args:
            kept: From `kept`.
        """
        self._view.put_back(cast("Mapping[str, list[Any]]", kept))


class _SinceMark(Mapping[str, Any]):
    """A view whose messages begin after a marked one; all of them when the marked one is gone."""

    def __init__(self, view: View, *, mark: str) -> None:
        self._view = view
        self._mark = mark

    def __getitem__(self, key: str) -> Any:
        value = self._view[key]
        if key not in self._view.schema.messages:
            return value
        for place in range(len(value) - 1, -1, -1):
            if value[place].id == self._mark:
                return value[place + 1 :]
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._view)

    def __len__(self) -> int:
        return len(self._view)


def marks_after(step: Step, *, chart: Definition, view: View) -> dict[str, str]:
    """Say up to which message the `always` guards of the states that were left have seen the conversation.

    Args:
        step: What the kernel did.
        chart: Its definition.
        view: The state after it.

    Returns:
        State path to message id, for the states that were left and for the sources of `always` transitions taken.
    """
    last = _last_message(view)
    if last is None:
        return {}
    taken = (chart.transitions[index] for micro in step.microsteps for index in micro.transitions)
    sources = {transition.source for transition in taken if transition.kind == "always"}
    left = {state for state in step.exited if any(_is_always(chart, t) for t in chart.nodes[state].transitions)}
    return {chart.nodes[state].path: last for state in sorted(sources | left)}


def _is_always(chart: Definition, transition: int) -> bool:
    return chart.transitions[transition].kind == "always"


def _last_message(view: View) -> str | None:
    for key in view.schema.messages:
        messages = view.get(key)
        if messages:
            return cast("str | None", messages[-1].id)
    return None
