"""Play a script on a sketched chart with the bare kernel: a shell of a few lines that keeps time and a record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from stateward.chart.configuration import Configuration
from stateward.chart.data import PlainData
from stateward.chart.definition import Definition
from stateward.chart.delay import Schedule
from stateward.chart.event import Occurrence
from stateward.chart.step import Step, advance, start
from stateward.chart.tables import ACTIVITY_DONE
from stateward.errors import MicrostepLimit, NoTransition
from tests.chart.random_charts import EVENTS
from tests.chart.sketched import fresh

LIMIT = 60
"""Microsteps a sketched chart may take: enough for all its fuel."""

Deed = tuple[str, Any]
"""`("send", name)`, `("end", n)`: the n-th running activity ends, `("wait", seconds)`."""

deeds: st.SearchStrategy[Deed] = st.one_of(
    st.tuples(st.just("send"), st.sampled_from(EVENTS)),
    st.tuples(st.just("send"), st.sampled_from(EVENTS)),
    st.tuples(st.just("end"), st.integers(0, 3)),
    st.tuples(st.just("wait"), st.sampled_from((0.5, 1.0, 3.0))),
)
scripts = st.lists(deeds, min_size=3, max_size=10)

Restored = Callable[[Configuration, Configuration, Step], Configuration]
"""Makes of the configurations before and after a step the one to go on with."""


@dataclass(frozen=True)
class Taken:
    """One step, with what was there before and after it."""

    event: Occurrence | None
    """None for the start."""
    before: Configuration
    step: Step
    state: Mapping[str, Any]
    """The data afterwards."""
    pending: tuple[tuple[float, Schedule], ...]
    """What time will bring, afterwards."""
    now: float


class Play:
    """A chart that a script is played on; it is over when the chart has ended or a step failed."""

    def __init__(self, chart: Definition, script: Sequence[Deed] = (), *, restored: Restored | None = None) -> None:
        self.chart = chart
        self.data = PlainData(fresh())
        self.taken: list[Taken] = []
        self.failure: MicrostepLimit | NoTransition | None = None
        self.now = 0.0
        self.pending: list[tuple[float, Schedule]] = []
        self.running: list[int] = []
        self._restored = restored or (lambda before, after, step: after)
        self.configuration = Configuration()
        self._take(None, lambda: start(chart, self.data, limit=LIMIT))
        self._deliver(until=0.0)
        for what, value in script:
            if not self.over:
                self.do(what, value)

    @property
    def over(self) -> bool:
        """Whether nothing can happen any more."""
        return self.failure is not None or self.taken[-1].step.final

    def do(self, what: str, value: Any) -> None:
        """Do one deed and what falls due at once."""
        if what == "send":
            self.event(Occurrence(name=value))
        elif what == "wait":
            until = self.now + value
            self._deliver(until=until)
            self.now = until
        elif self.running:
            state = self.running.pop(value % len(self.running))
            self.event(Occurrence(name=f"{ACTIVITY_DONE}{self.chart.nodes[state].path}"))

    def event(self, event: Occurrence) -> None:
        """Let one event happen."""
        self._advance(event)
        self._deliver(until=self.now)

    def _advance(self, event: Occurrence) -> None:
        self._take(event, lambda: advance(self.chart, self.configuration, [event], self.data, limit=LIMIT))

    def _take(self, event: Occurrence | None, step_of: Callable[[], Step]) -> None:
        before = self.configuration
        try:
            step = step_of()
        except (MicrostepLimit, NoTransition) as failure:
            self.failure = failure
            return
        self._note(step)
        self.configuration = self._restored(before, step.configuration, step)
        state = deepcopy(self.data.state)
        self.taken.append(
            Taken(event=event, before=before, step=step, state=state, pending=tuple(self.pending), now=self.now)
        )

    def _note(self, step: Step) -> None:
        self.running = [state for state in self.running if state not in step.exited]
        self.running = sorted({*self.running, *step.starts})
        for timer in step.timers:
            if isinstance(timer, Schedule):
                self.pending.append((self.now + timer.delay_s, timer))
            else:
                self.pending = [each for each in self.pending if each[1].id != timer.id]

    def _deliver(self, *, until: float) -> None:
        while not self.over and (due := [each for each in self.pending if each[0] <= until]):
            first = min(due, key=lambda each: each[0])
            self.pending.remove(first)
            self.now = first[0]
            self._advance(first[1].event)
