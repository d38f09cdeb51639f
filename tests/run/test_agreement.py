"""The compiled graph and the bare kernel agree: random charts do the same on LangGraph as by hand."""

from __future__ import annotations

import operator
from contextlib import suppress
from typing import Annotated, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from typing_extensions import TypedDict

import stateward as sw
from stateward.errors import NotExpected
from stateward.run.checkpoint import CHANNEL
from stateward.run.session import Outcome
from stateward.testing import How, ManualClock
from tests.chart.played import Deed, Play, scripts
from tests.chart.random_charts import Arrow, Box, Sketch, sketches
from tests.chart.sketched import children, fresh, outer
from tests.charts.drive import Driven


class Sketched(TypedDict, total=False):
    """The data of a sketched chart, and which activities have run."""

    log: list[str]
    n: int
    fuel: int
    did: Annotated[list[str], operator.add]


class Enough(Exception):
    """The chart goes round from activity to activity, and nothing more is to be learned."""


def doing(name: str) -> Any:
    """Make an activity that says that it has run; after a dozen of them the next one fails."""

    def do(state: Sketched) -> dict[str, list[str]]:
        if len(state.get("did", ())) >= 12:
            raise Enough(name)
        return {"did": [name]}

    return do


class Both:
    """A sketched chart as a session in a database, and in the hands of the kernel, which gets the same events."""

    def __init__(self, sketch: Sketch, *, how: How, database: Any, clock: ManualClock) -> None:
        chart = sw.Chart("sketch", Sketched, *children(sketch, do=doing), **outer(sketch))
        self.play = Play(chart.definition)
        self.did: list[str] = []
        self._clock = clock
        self._driven = Driven(sw.Session("s1", chart.compile(database=database), database), how)
        self._outcome: Outcome | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing more can be compared: the run has ended, or the kernel could not come to rest."""
        return self.play.over or (self._outcome is not None and self._outcome.status != "waiting")

    def start(self) -> None:
        """Begin on both sides."""
        if not self.play.over:
            self._outcome = self._driven.start({**fresh(), "did": []})
            self._agree()

    def send(self, name: str) -> None:
        """Let an event happen on both sides."""
        self.play.do("send", name)
        if self.play.failure is not None:
            return
        try:
            self._outcome = self._driven.resume(name)
        except NotExpected:
            assert not self.play.taken[-1].step.handled
        self._agree()

    def wait(self, seconds: float) -> None:
        """Let time pass on both sides, and stop wherever something is due."""
        until = self._clock.now() + seconds
        while not self.is_over and (due := self._due) is not None and due <= until:
            self._clock.advance(due - self._clock.now())
            self.play.do("wait", due - self._origin - self.play.now)
            if self.play.failure is None:
                self._outcome = self._driven.resume()
                self._agree()
        if not self.is_over:
            self.play.do("wait", until - self._clock.now())
            self._clock.advance(until - self._clock.now())

    @property
    def _due(self) -> float | None:
        return self._outcome.wakes_at if self._outcome is not None else None

    @property
    def _origin(self) -> float:
        return ManualClock().now()

    def _agree(self) -> None:
        """End the activities of the kernel in the order in which those of the graph have ended, and compare."""
        values = self._driven.session.graph.get_state(self._driven.session.config).values
        for name in values["did"][len(self.did) :]:
            running = [self.play.chart.nodes[state].name for state in self.play.running]
            assert name in running
            self.did.append(name)
            self.play.do("end", running.index(name))
        if self.play.failure is None:
            self._compare(values)

    def _compare(self, values: dict[str, Any]) -> None:
        chart, configuration = self.play.chart, self.play.configuration
        control = values[CHANNEL]
        assert control["at"] == [chart.nodes[state].path for state in configuration.atomic(chart)]
        assert control.get("entries") == {chart.nodes[s].path: count for s, count in configuration.entries.items()}
        assert (control.get("history") or {}) == {
            chart.nodes[s].path: [chart.nodes[kept].path for kept in stood]
            for s, stood in configuration.history.items()
        }
        assert {key: values[key] for key in ("log", "n", "fuel")} == self.play.data.state
        assert (control["status"] == "completed") == self.play.taken[-1].step.final


def agreed(sketch: Sketch, script: list[Deed], *, how: How) -> None:
    """Play a script on both sides."""
    clock = ManualClock()
    with sw.open("memory:", clock=clock) as database, suppress(Enough):
        both = Both(sketch, how=how, database=database, clock=clock)
        both.start()
        for what, value in script:
            if both.is_over:
                return
            if what == "send":
                both.send(value)
            elif what == "wait":
                both.wait(value)


WAITS_IN_A_FINAL_STATE = Sketch(
    Box("", "compound", (Box("s1", "compound", (Box("s2", "final"),), arrows=(Arrow(event="a", targets=("s1",)),)),))
)
"""A superstate without `to` rests in its final state and still takes events; once it had no node to wait in."""


@pytest.mark.parametrize("how", ["sync", "async"])
@example(sketch=WAITS_IN_A_FINAL_STATE, script=[("send", "a")])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sketches(), scripts)
def test_compiled_graph_and_kernel_agree(how: How, sketch: Sketch, script: list[Deed]) -> None:
    """Active states, activations, history, data and activities are the same after every event."""
    agreed(sketch, script, how=how)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["sync", "async"])
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sketches(), scripts)
def test_compiled_graph_and_kernel_agree_on_many_more_charts(how: How, sketch: Sketch, script: list[Deed]) -> None:
    """Four hundred charts each way."""
    agreed(sketch, script, how=how)
