"""Stepping a chart by hand: the pure kernel over plain data and a clock that only `wait` moves.

No activity runs and no model is needed. What an activity would have come to is said with `complete`, what happens
outside with `send`, and time passes with `wait`. What a run would refuse is refused here: keys and values that the
state schema does not have, events without the fields of their type, and completions and timers that somebody claims to
have happened. A step that raises has not happened: data, activities and timers are as they were before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from langgraph.graph import StateGraph
from typing_extensions import TypedDict

from stateward.chart.argument import unfit
from stateward.chart.configuration import Configuration
from stateward.chart.data import News, PlainData, told
from stateward.chart.definition import Action, Definition
from stateward.chart.delay import Schedule, is_delay
from stateward.chart.event import Event, Occurrence, fitting, occurrence_of
from stateward.chart.guard import Active
from stateward.chart.step import Step, advance, enabled, start
from stateward.chart.tables import ACTIVITY_DONE
from stateward.errors import InputRefused, MicrostepLimit, NotExpected, UpdateRefused
from stateward.run.state import Channels, StateSchema, declared_types
from stateward.run.update import as_update

_OWN = {"done": "Say that an activity has ended with `complete`.", "after": "Let time pass with `wait`."}
"""Events that only the simulation itself brings about, and how."""
MOST_AT_ONCE = 1000
"""How many timers may fall due one after the other without time passing."""


class Simulation:
    """A chart that is stepped by hand.

    Args:
        chart: The definition.
        state: The data that guards and actions see, key by key or as an instance of a schema; copied, and the copy is
            changed by actions and by `complete`. None for no data.
        present: Makes of the data what functions get as state; None if that is the dictionary itself.
        schema: The state schema, by which data is checked as in a run; None if any data will do.

    Raises:
        InputRefused: The state is no data, or does not fit the schema.
    """

    def __init__(
        self,
        chart: Definition,
        *,
        state: object,
        present: Callable[[Mapping[str, object]], object] | None = None,
        schema: type[Any] | None = None,
    ) -> None:
        self.chart = chart
        given = _input(state)
        self.data = (
            PlainData(given, present=present)
            if schema in (None, dict)
            else _Typed(given, present=present, schema=schema)
        )
        self.now = 0.0
        """Seconds since the start, which only `wait` adds to."""
        self._pending: list[tuple[float, Schedule]] = []
        self._working: set[int] = set()
        self.last: Step
        """The latest step of the kernel."""
        self.steps: list[Step] = []
        """Every step of the kernel, oldest first; what falls due on the way has steps of its own."""
        self._note(start(chart, self.data))
        self._deliver(until=self.now)

    @property
    def configuration(self) -> Configuration:
        """Where the chart stands."""
        return self.last.configuration

    @property
    def at(self) -> tuple[str, ...]:
        """The paths of the active innermost states, in document order."""
        return tuple(self.chart.nodes[index].path for index in self.configuration.atomic(self.chart))

    @property
    def enabled(self) -> tuple[str, ...]:
        """The events some active state reacts to; timers and completions are not among them."""
        return enabled(self.chart, self.configuration)

    @property
    def activities(self) -> tuple[str, ...]:
        """The paths of the active states whose activity has not ended, in document order."""
        return tuple(self.chart.nodes[index].path for index in sorted(self._working))

    @property
    def pending(self) -> tuple[tuple[float, str, Occurrence], ...]:
        """What time will bring: the moment it is due, its id and the event, in the order it will be delivered."""
        return tuple((due, timer.id, timer.event) for due, timer in sorted(self._pending, key=_due))

    def send(self, event: Event | Occurrence | str) -> tuple[str, ...]:
        """Let an event happen.

        Args:
            event: A typed event, or a bare name. Those of the chart's own, `timeout` for instance, may be sent as well.

        Returns:
            The active innermost states afterwards.

        Raises:
            NotExpected: It is a completion or a timer.
            InputRefused: Its data does not fit its type; nothing has changed.
            NoTransition: A completed state's `to` led nowhere.
        """
        happened = _sendable(occurrence_of(event))
        return self._take(fitting(happened, kind=self.chart.events.get(happened.name)))

    def complete(self, update: object = None, *, path: str | None = None) -> tuple[str, ...]:
        """Say that an activity has ended.

        Args:
            update: What it would have written: what an activity may return.
            path: Whose; None if only one is running.

        Returns:
            The active innermost states afterwards.

        Raises:
            NotExpected: No activity is running there, or several are and `path` does not say which.
            UpdateRefused: The update does not fit the state schema; nothing has changed.
            NoTransition: None of the state's `to` guards is true and it has no default; the activity has not ended.
        """
        path = self._activity(path)
        written = as_update(update, where=path)
        fitting = self.data.fitting(written, where=path) if isinstance(self.data, _Typed) else written
        return self._take(Occurrence(name=f"{ACTIVITY_DONE}{path}"), ended=path, update=fitting)

    def fail(self, event: Occurrence | str = "error.activity", *, path: str | None = None) -> tuple[str, ...]:
        """Say that an activity has ended badly.

        Args:
            event: What the chart gets: `error.activity`, `timeout` or a fuse for instance.
            path: Whose; None if only one is running.

        Returns:
            The active innermost states afterwards.

        Raises:
            NotExpected: No activity is running there, or several are and `path` does not say which, or the event is a
                completion or a timer.
            NoTransition: A completed state's `to` led nowhere.
        """
        path, happened = self._activity(path), _sendable(occurrence_of(event))
        event = happened if happened.data else Occurrence(name=happened.name, data={"state": path})
        return self._take(event, ended=path)

    def wait(self, seconds: float) -> tuple[str, ...]:
        """Let time pass, and deliver what becomes due, each when it is due, as an event of its own.

        Args:
            seconds: How long, at least 0; finite.

        Returns:
            The active innermost states afterwards.

        Raises:
            DefinitionError: `seconds` is no number of seconds from 0.
            MicrostepLimit: Timers without delay lead in a circle.
            NoTransition: A completed state's `to` led nowhere.
        """
        if not is_delay(seconds):
            raise unfit(seconds, name="seconds", expected="a finite number, at least 0", where="Simulation.wait(…)")
        until = self.now + seconds
        self._deliver(until=until)
        self.now = until
        return self.at

    def _activity(self, path: str | None) -> str:
        running = self.activities
        if path in running:
            return path
        if path is None and len(running) == 1:
            return running[0]
        known = ", ".join(f"`{each}`" for each in running) or "none"
        what = "It does not say which activity has ended" if path is None else f"`{path}` has no running activity"
        raise NotExpected(what, fix=f"Running: {known}.")

    def _take(
        self, event: Occurrence, *, ended: str | None = None, update: Mapping[str, object] | None = None
    ) -> tuple[str, ...]:
        kept = self.data.kept()
        self.data.state.update(update or {})
        try:
            step = advance(self.chart, self.configuration, [event], self.data)
        except BaseException:
            self.data.put_back(kept)
            raise
        if ended is not None:
            self._working.discard(self.chart.by_path[ended])
        self._note(step)
        self._deliver(until=self.now)
        return self.at

    def _note(self, step: Step) -> None:
        self.last = step
        self.steps.append(step)
        self._working.difference_update(step.exited)
        self._working.update(step.starts)
        for timer in step.timers:
            if isinstance(timer, Schedule):
                self._pending.append((self.now + timer.delay_s, timer))
            else:
                self._pending = [each for each in self._pending if each[1].id != timer.id]
        if step.final:
            self._pending.clear()

    def _deliver(self, *, until: float) -> None:
        at_once = 0
        while self._pending and (first := min(self._pending, key=_due))[0] <= until:
            at_once = 0 if first[0] > self.now else at_once + 1
            if at_once > MOST_AT_ONCE:
                raise _circle(self.at[-1])
            step = advance(self.chart, self.configuration, [first[1].event], self.data)
            self._pending.remove(first)
            self.now = first[0]
            self._note(step)


class _Typed(PlainData):
    """Plain data that takes what a run would take: updates are validated and coerced, key by key."""

    def __init__(
        self,
        state: Mapping[str, Any],
        *,
        present: Callable[[Mapping[str, object]], object] | None,
        schema: type[Any],
    ) -> None:
        super().__init__(state, present=present)
        self._schema = _schema(schema)
        try:
            self.state = self.fitting(state, where="the input")
        except UpdateRefused as misfit:
            raise InputRefused(misfit.what, where="the input", fix=misfit.fix) from misfit

    def fitting(self, update: Mapping[str, Any], *, where: str) -> dict[str, object]:
        """Return an update as it would be committed."""
        old = self.state
        return {key: self._schema.normalise(key, new, base=old.get(key), where=where) for key, new in update.items()}

    def perform(self, action: Action, *, event: Occurrence | None, active: Active) -> Sequence[News]:
        """Run an action; an update that does not fit is its error, as in a run."""
        returned = action.fn(self._seen(), event.value if event else None, active=active)
        return told(returned, action=action, take=self._take)

    def _take(self, update: Mapping[str, object]) -> None:
        try:
            self.state.update(self.fitting(update, where="an action"))
        except UpdateRefused as misfit:
            raise ValueError(str(misfit)) from misfit  # no StatewardError: the kernel makes `error.action` of it


def _input(state: object) -> Mapping[str, Any]:
    try:
        return as_update(state, where="the input")
    except UpdateRefused:
        raise InputRefused(
            f"{state!r} is no data", where="the input", fix="Give a dictionary from key to value."
        ) from None


def _schema(schema: type[Any]) -> StateSchema:
    hints = declared_types(schema)
    make = cast("Callable[[str, dict[str, Any]], type[Any]]", TypedDict)
    channels = cast("Channels", StateGraph(make("state", dict(hints))).channels)
    return StateSchema(schema=schema, channels=channels, types=hints)


def _sendable(event: Occurrence) -> Occurrence:
    kind = event.name.partition(".")[0]
    if kind in _OWN:
        raise NotExpected(f"`{event.name}` is an event that only the chart itself raises", fix=_OWN[kind])
    return event


def _due(timer: tuple[float, Schedule]) -> float:
    return timer[0]


def _circle(where: str) -> MicrostepLimit:
    return MicrostepLimit(
        f"{MOST_AT_ONCE} timers fell due one after the other and no time passed",
        where=where,
        fix="Look for `after(0, …)` transitions or `Delayed` events without delay that lead in a circle.",
        limit=MOST_AT_ONCE,
        state=where,
    )
