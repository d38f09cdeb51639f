"""One call of the kernel while it goes on: the queue, the active states, and the microsteps taken."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import cast

from stateward.chart.configuration import Configuration, paths_of
from stateward.chart.data import Data
from stateward.chart.definition import Block, Definition, Node, Route, Transition
from stateward.chart.delay import Cancel, Delayed, Schedule, is_delay
from stateward.chart.event import Occurrence
from stateward.chart.guard import Bound
from stateward.chart.layered import layered
from stateward.chart.route import has_completion, route
from stateward.chart.selection import Selector, without_conflicts
from stateward.chart.tables import ACTIVITY_DONE, STATE_DONE
from stateward.chart.trace import Microstep, Step
from stateward.errors import MicrostepLimit, NoTransition, StatewardError


class Macrostep:
    """Processes events on a configuration; used once, by `start` or `advance`.

    Args:
        chart: The chart.
        configuration: Where it stands; left as it is.
        data: The data that guards and actions see.
        limit: How many microsteps it may take.
    """

    def __init__(self, chart: Definition, configuration: Configuration, *, data: Data, limit: int) -> None:
        self._chart = chart
        self._nodes = chart.nodes
        self._data = data
        self._limit = limit
        self._selector = Selector(chart, data=data)
        self._active = configuration.active
        self._atoms = configuration.atomic(chart)
        self._history = configuration.history
        self._entries = layered(configuration.entries)
        self._event: Occurrence | None = None
        self._queue: deque[tuple[Occurrence, int]] = deque()
        self._microsteps: list[Microstep] = []
        self._unhandled: list[Occurrence] = []
        self._exited: tuple[int, ...] = ()
        self._started: tuple[int, ...] = ()
        self._timers: list[Schedule | Cancel] = []
        self._stuck: set[int] = set()
        self._handled = False
        self._final = not chart.tables.finals.isdisjoint(self._atoms)
        self._output: object = None
        self._kept: object = None

    def begin(self) -> None:
        """Enter the chart's initial states."""
        self._handled = True
        self._take_all([], trigger=None)
        self._settle()

    def process(self, events: Sequence[Occurrence]) -> Step:
        """Process events and all they raise, and return what was done.

        Raises:
            MicrostepLimit: The chart did not come to rest.
            NoTransition: A completed state's `to` led nowhere.
        """
        self._queue.extendleft([(event, 0) for event in reversed(events)])
        if not events and not self._microsteps:
            self._settle()
        given = len(events)
        while self._queue and not self._final:
            occurrence, born = self._queue.popleft()
            taken = self._dispatch(occurrence, born=born)
            self._handled = self._handled or (taken and given > 0)
            given -= 1
            self._settle()
        if self._queue:
            # An action that failed on the way to the end is told, for nobody else will ever hear of it.
            left_over = [o for place, (o, _) in enumerate(self._queue) if place < given or o.name.startswith("error.")]
            self._unhandled.extend(o for o in left_over if not o.name.startswith(ACTIVITY_DONE))
        self._refuse_stuck()
        return self._result()

    def undo(self) -> None:
        """Take back what actions did to the data, because the step has failed."""
        if self._kept is not None:
            self._data.put_back(self._kept)

    def _result(self) -> Step:
        return Step(
            configuration=Configuration(active=self._active, history=self._history, entries=self._entries),
            microsteps=tuple(self._microsteps),
            handled=self._handled,
            unhandled=tuple(self._unhandled),
            verdicts=tuple(self._selector.verdicts),
            starts=self._started,
            exited=self._exited,
            final=self._final,
            output=self._output,
            timers=tuple(self._timers),
        )

    def _paths(self) -> frozenset[str]:
        return paths_of(self._chart, self._active)

    def _dispatch(self, occurrence: Occurrence, *, born: int) -> bool:
        """Process one event; tell whether it led to a transition."""
        name = occurrence.name
        owner = self._chart.tables.completions.get(name, -1)
        fresh = owner < 0 or self._still_complete(owner, name=name, born=born)
        if not fresh and name.startswith(ACTIVITY_DONE):
            return False
        self._event = occurrence
        if self._take(self._select(occurrence, fresh=fresh), trigger=name):
            return True
        self._unhandled.append(occurrence)
        if owner >= 0 and fresh and self._answers(owner, name=name):
            self._stuck.add(owner)
        return False

    def _settle(self) -> None:
        """Take eventless transitions until none is enabled."""
        if self._chart.tables.has_always:
            while not self._final and self._take(self._select(None), trigger=None):
                pass

    def _select(self, trigger: Occurrence | None, *, fresh: bool = True) -> list[Transition]:
        failures = self._selector.failures
        known = len(failures)
        chosen = self._selector.select(self._atoms, trigger=trigger, event=self._event, active=self._paths, fresh=fresh)
        for failed, error in failures[known:]:
            self._report(error, event="error.guard", state=failed.source, key="guard", name=failed.guard_name)
        if len(chosen) > 1:
            chosen = without_conflicts(self._chart, chosen, active=self._active, memory=self._history)
        return chosen

    # Completion

    def _still_complete(self, state: int, *, name: str, born: int) -> bool:
        if state not in self._active or self._left_since(state, born=born):
            return False
        if name.startswith(ACTIVITY_DONE) or self._nodes[state].kind == "atomic":
            return True
        return self._in_final(state)

    def _answers(self, state: int, *, name: str) -> bool:
        """Tell whether a state has a `to` for this completion of its own."""
        transitions = (self._chart.transitions[t] for t in self._nodes[state].transitions)
        return any(t.kind == "completion" and t.events[0] == name for t in transitions)

    def _left_since(self, state: int, *, born: int) -> bool:
        """Tell whether a state was left in the microstep of this number or later."""
        return any(state in microstep.exited for microstep in self._microsteps[born:])

    def _in_final(self, state: int) -> bool:
        """Source: SCXML appendix D, isInFinalState."""
        node = self._nodes[state]
        children = [child for child in node.children if self._nodes[child].kind != "history"]
        if node.kind == "compound":
            return any(self._nodes[child].kind == "final" and child in self._active for child in children)
        return node.kind == "parallel" and all(self._in_final(child) for child in children)

    def _refuse_stuck(self) -> None:
        for state in sorted(self._stuck):
            path = self._nodes[state].path
            failed = [(t.guard_name, error) for t, error in self._selector.failures if t.source == state]
            raise NoTransition(
                f"`{path}` is complete, but no guard of its `to` is true"
                + "".join(f"; `{name}` raised {error!r}" for name, error in failed),
                where=path,
                fix="End the list with a bare target: it is taken when nothing else is.",
                state=path,
            )

    # Microsteps

    def _take(self, chosen: list[Transition], *, trigger: str | None) -> bool:
        """Take transitions together; tell whether there were any. Source: SCXML appendix D, microstep."""
        if chosen:
            self._take_all(chosen, trigger=trigger)
        return bool(chosen)

    def _take_all(self, chosen: list[Transition], *, trigger: str | None) -> None:
        way = route(self._chart, chosen, active=self._active, memory=self._history)
        self._leave(way)
        for transition in chosen:
            if transition.actions:
                self._perform(transition.actions, state=transition.source)
        self._enter(way)
        self._record(tuple([t.index for t in chosen]), way, trigger=trigger)

    def _leave(self, way: Route) -> None:
        """Source: SCXML appendix D, exitStates."""
        if not way.exited:
            return
        if way.kept:
            self._history = layered(self._history).with_changes(way.kept)
        for stop in way.exits:
            self._active = stop.active
            self._perform(stop.blocks[0], state=stop.state)
        self._timers.extend(way.cancels)
        self._active = way.between
        self._exited += way.exited
        if self._stuck:
            self._stuck.difference_update(way.exited)
        if self._started:
            self._started = tuple([state for state in self._started if state not in way.exited])

    def _enter(self, way: Route) -> None:
        """Source: SCXML appendix D, enterStates."""
        if not way.entered:
            return
        self._entries = self._entries.counted(way.entered)
        for stop in way.entries:
            self._active = stop.active
            for block in stop.blocks:
                self._perform(block, state=stop.state)
            for timer in self._chart.tables.timers[stop.state]:
                self._schedule(timer)
            self._announce(self._nodes[stop.state])
        self._active, self._atoms = way.active, way.atoms
        self._started = tuple(sorted(self._started + way.started)) if self._started else way.started

    def _announce(self, node: Node) -> None:
        """Raise what the entry of a state completes."""
        if node.kind == "final":
            self._complete(node)
        elif node.kind == "atomic" and node.activity is None and has_completion(self._chart, node):
            self._raise(STATE_DONE + node.path)

    def _complete(self, final: Node) -> None:
        value = self._value(final)
        if final.parent == 0:
            self._final, self._output = True, value
            return
        complete = self._nodes[final.parent]
        self._raise(STATE_DONE + complete.path, data=value)
        around = self._nodes[complete.parent]
        while around.kind == "parallel" and self._in_final(around.index):
            value = self._gathered(around, just=complete.index, value=value)
            self._raise(STATE_DONE + around.path, data=value)
            complete, around = around, self._nodes[around.parent]

    def _gathered(self, parallel: Node, *, just: int, value: object) -> object:
        """Return what the regions of a parallel state came to, by name; None if nothing came of any.

        Args:
            parallel: The state; all its regions are complete.
            just: The region that completed last.
            value: What came of that.
        """
        regions = (self._nodes[child] for child in parallel.children if self._nodes[child].kind != "history")
        values = {r.name: value if r.index == just else self._result_of(r) for r in regions}
        kept = {name: each for name, each in values.items() if each is not None}
        return kept or None

    def _result_of(self, region: Node) -> object:
        if region.kind == "parallel":
            return self._gathered(region, just=-1, value=None)
        finals = (self._nodes[child] for child in region.children if child in self._active)
        return next((self._value(final) for final in finals if final.kind == "final"), None)

    # The author's functions

    def _value(self, final: Node) -> object:
        if final.data is None:
            return None
        try:
            return self._data.result(final, event=self._event, active=self._paths)
        except StatewardError:
            raise
        except Exception as error:  # noqa: BLE001 - it becomes the event `error.action`
            self._report(error, event="error.action", state=final.index, key="action", name=final.data.name)
            return None

    def _perform(self, block: Block, *, state: int) -> None:
        for action in block:
            if self._kept is None:
                self._kept = self._data.kept()
            try:
                raised = self._data.perform(action, event=self._event, active=self._paths)
            except StatewardError:
                raise
            except Exception as error:  # noqa: BLE001 - it becomes the event `error.action`
                self._report(error, event="error.action", state=state, key="action", name=action.name)
                return
            for news in raised:
                if isinstance(news, Occurrence):
                    self._queue.append((news, len(self._microsteps) + 1))
                else:
                    self._timers.append(news.schedule() if isinstance(news, Delayed) else news)

    def _schedule(self, timer: Transition) -> None:
        """Set a timer; a delay that is none becomes the event `error.delay`."""
        seconds: object = timer.delay
        name = timer.delay.name if isinstance(timer.delay, Bound) else ""
        try:
            if isinstance(seconds, Bound):
                seconds = self._data.delay(timer, event=self._event, active=self._paths)
            if not is_delay(seconds):
                raise ValueError(f"{seconds!r} is no number of seconds from 0")
        except StatewardError:
            raise
        except Exception as error:  # noqa: BLE001 - it becomes the event `error.delay`
            self._report(error, event="error.delay", state=timer.source, key="delay", name=name)
            return
        event = Occurrence(name=timer.events[0])
        self._timers.append(
            Schedule(id=event.name, event=event, delay_s=float(cast("float", seconds)), owner=timer.source)
        )

    def _report(self, error: Exception, *, event: str, state: int, key: str, name: str) -> None:
        text = f"{type(error).__name__}: {error}"
        self._raise(event, data={"state": self._nodes[state].path, key: name, "error": text})

    def _raise(self, name: str, *, data: object = None) -> None:
        self._queue.append((Occurrence(name=name, data=data), len(self._microsteps) + 1))

    def _record(self, transitions: tuple[int, ...], way: Route, *, trigger: str | None) -> None:
        step = Microstep(event=trigger, transitions=transitions, exited=way.exited, entered=way.entered)
        self._microsteps.append(step)
        if len(self._microsteps) > self._limit:
            where = self._nodes[self._active[-1]].path
            raise MicrostepLimit(
                f"The chart did not come to rest within {self._limit} microsteps",
                where=where,
                fix="Look for eventless transitions that lead in a circle, or raise `fuse.microsteps`.",
                limit=self._limit,
                state=where,
            )
