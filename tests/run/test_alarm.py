"""The outer deadline of a call."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward.errors import InputRefused
from stateward.run.alarm import Alarm
from stateward.run.store.database import Database
from tests.charts.beside import Beside, compiled_beside, says
from tests.charts.drive import Driven
from tests.charts.one import compiled

Drive = Callable[..., Driven]
SHORT_S = 0.05


async def forever(state: Any) -> None:
    await asyncio.Event().wait()


class Bell:
    """Rings an alarm when the work has come so far, and not when a busy machine thinks that its time is over."""

    def __init__(self) -> None:
        self.ring: Callable[[], object] = lambda: None

    def hang(self, seconds: float, work: Callable[[], object]) -> None:
        """Take what is to be done after some seconds."""
        self.ring = work

    async def for_ever(self, state: Any = None) -> None:
        """Ring, and never come to an end."""
        self.ring()
        await asyncio.Event().wait()


@pytest.fixture
def bell(monkeypatch: pytest.MonkeyPatch) -> Bell:
    """In place of the alarm's timer."""
    made = Bell()
    monkeypatch.setattr(Alarm, "_later", made.hang)
    return made


def late(driven: Driven, *, deadline_s: float = SHORT_S) -> Any:
    """Run a session under a short deadline, and return where it stands."""
    graph = driven.session.graph
    config: Any = {"configurable": {"thread_id": driven.session.id, "deadline": deadline_s}}
    graph.invoke({}, config) if driven.how == "sync" else asyncio.run(graph.ainvoke({}, config))
    return driven.session.outcome()


def test_run_is_halted_when_its_time_is_over(drive: Drive) -> None:
    """The reason says so, and where."""
    outcome = late(drive(compiled(forever)))
    reason = {"event": "fuse.deadline", "state": "WORK.ACT", "data": {"deadline_s": SHORT_S}}
    assert (outcome.status, outcome.reason) == ("halted", reason)


def test_chart_may_take_the_deadline_as_an_event(drive: Drive) -> None:
    """It goes where the transition says, as after any fuse."""
    outcome = late(drive(compiled(forever, handles=["fuse.deadline"])))
    assert (outcome.status, outcome.path) == ("waiting", "HELP")


def test_what_was_committed_before_the_deadline_is_kept(drive: Drive, bell: Bell) -> None:
    """Partial work survives."""
    chart = sw.Chart(
        "two",
        Beside,
        sw.State("A", do=says("a"), to="B"),
        sw.State("B", do=bell.for_ever, to="DONE"),
        sw.Final("DONE"),
    )
    outcome = late(drive(chart.compile()))
    assert (outcome.status, outcome.path, outcome.values["log"]) == ("halted", "B", ["a"])


def test_regions_are_halted_together(drive: Drive, bell: Bell) -> None:
    """The deadline is the run's, and not one region's."""
    second = [sw.State("S", do=says("b"), to="LATE"), sw.State("LATE", do=bell.for_ever, to="END")]
    regions = [[sw.State("S", do=forever, to="END")], second]
    outcome = late(drive(compiled_beside(*regions)))
    assert (outcome.status, outcome.values["log"]) == ("halted", ["b"])


def test_region_may_take_the_deadline(drive: Drive) -> None:
    """What it leaves is stopped; the others go on where they can."""
    taking = sw.State("S", do=forever, to="END", on=sw.on("fuse.deadline", "END"))
    outcome = late(drive(compiled_beside([taking], [sw.State("S", do=says("b"), to="END")])))
    assert (outcome.status, outcome.values["log"]) == ("completed", ["b"])


def test_call_that_is_cut_off_is_closed_in_the_journal(drive: Drive, database: Database, bell: Bell) -> None:
    """Of one that may happen once nobody knows the end."""

    @sw.tool(effect="once")
    async def pay() -> None:
        """Pay for ever."""
        await bell.for_ever()

    async def act(state: Any, run: sw.Run[Any]) -> None:
        await run.tool("pay")

    late(drive(compiled(act, box=[pay])), deadline_s=60.0)
    assert [entry.status for entry in database.journal.entries("s1")] == ["unknown"]


def test_call_that_ends_in_time_is_not_disturbed(drive: Drive) -> None:
    """Nor does its timer outlive it."""
    before = timers()
    assert late(drive(compiled(says("a"))), deadline_s=60.0).status == "completed"
    assert timers() <= before


def timers() -> set[threading.Thread]:
    """Threads that have still to ring."""
    return {one for one in threading.enumerate() if isinstance(one, threading.Timer) and not one.finished.is_set()}


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), float("inf"), "soon", True])
def test_deadline_that_is_none_is_refused(drive: Drive, wrong: Any) -> None:
    """Before anything is committed."""
    driven = drive(compiled(says("a")))
    with pytest.raises(InputRefused, match="deadline"):
        driven.session.graph.invoke({}, {"configurable": {"thread_id": "s1", "deadline": wrong}})
    assert driven.session.outcome().status == "new"


def test_call_that_goes_on_with_another_has_its_deadline() -> None:
    """The end of the first is the end of both."""
    first = Alarm(60.0)
    assert Alarm(60.0, until=first.until).until == first.until
