"""One active state whose activity an event or a timer may stop: async work is cancelled, sync work loses its update."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward.run.hub import attention
from stateward.run.hub.attention import POLL_S
from stateward.run.store.database import Database
from stateward.testing import How, ManualClock, run_graph
from tests.charts.beside import Beside
from tests.charts.drive import Driven
from tests.charts.tools import Shop

Drive = Callable[..., Driven]


class Work:
    """An activity that posts events to its own session, as somebody outside would, and then goes on."""

    def __init__(self, database: Database, *events: str, ends: bool = False) -> None:
        self.began: list[int] = []
        self.stopped: list[int] = []
        self._database = database
        self._events = events
        self._ends = ends

    async def act(self, state: Any, run: sw.Run[Any]) -> Any:
        self._post(run)
        try:
            if not self._ends:
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.stopped.append(run.activation)
            raise
        return {"log": ["ended"]}

    def act_sync(self, state: Any, run: sw.SyncRun[Any]) -> Any:
        self._post(run)
        run._invocation.attention._looked -= POLL_S  # it took so long
        return {"log": ["ended"]}

    def _post(self, run: Any) -> None:
        self.began.append(run.activation)
        for event in self._events:
            self._database.mailbox.post(run.session, event)


def chart(do: Any, **state: Any) -> Any:
    return sw.Chart(
        "single",
        Beside,
        sw.Superstate(
            "WORK",
            sw.State("ACT", do=do, to="DONE", on=sw.on("note", do=lambda state: {"log": ["noted"]}), **state),
            on=[sw.on("skip", "HOLD")],
        ),
        sw.State("HOLD", on=[sw.on("back", "WORK"), sw.on("end", "DONE")]),
        sw.Final("DONE"),
    ).compile()


def fates(driven: Driven) -> list[tuple[str, str]]:
    return [(letter.event, letter.status) for letter in driven.session.database.mailbox.list("s1")]


def test_event_that_leaves_the_state_stops_its_activity(drive: Drive, database: Database) -> None:
    """The activity is cancelled, nothing of it is committed, and the chart is where the event led."""
    work = Work(database, "skip")
    driven = drive(chart(work.act))
    outcome = driven.start({})
    assert (outcome.status, outcome.path, outcome.values.get("log")) == ("waiting", "HOLD", [])
    assert (work.began, work.stopped, fates(driven)) == ([1], [1], [("skip", "taken")])


def test_event_that_stays_is_a_step_of_its_own_and_the_activity_goes_on(drive: Drive, database: Database) -> None:
    """It is not begun again; each event is one checkpoint, in the order of posting."""
    work = Work(database, "note", "note", "skip")
    driven = drive(chart(work.act))
    assert driven.start({}).values["log"] == ["noted", "noted"]
    assert (work.began, work.stopped) == ([1], [1])
    assert [c.values["stateward"]["last"]["event"] for c in driven.checkpoints[2:]] == ["note", "note", "skip"]


def test_event_that_nobody_takes_waits_and_disturbs_nothing(drive: Drive, database: Database) -> None:
    """It makes no checkpoint while the activity runs; where the chart rests it is taken, or refused."""
    work = Work(database, "end", "skip")
    driven = drive(chart(work.act))
    assert driven.start({}).status == "completed"
    assert fates(driven) == [("skip", "taken"), ("end", "taken")]
    assert (work.began, len(driven.checkpoints)) == ([1], 4)


def test_state_that_was_left_can_be_entered_again(drive: Drive, database: Database) -> None:
    """As another activation."""
    work = Work(database, "skip")
    driven = drive(chart(work.act))
    driven.start({})
    assert driven.resume("back").path == "HOLD"
    assert (work.began, work.stopped) == ([1, 2], [1, 2])


def test_activity_that_has_ended_comes_before_what_was_posted(
    drive: Drive, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are there at once: the end counts, the letter came too late."""
    monkeypatch.setattr(attention, "POLL_S", 3600)  # nobody looks outside before it, however slow the machine is
    monkeypatch.setattr(attention, "LONGEST_S", 3600)
    driven = drive(chart(Work(database, "skip", ends=True).act))
    assert driven.start({}).values["log"] == ["ended"]
    assert fates(driven) == [("skip", "refused")]


def test_sync_activity_loses_its_update_to_an_event_that_leaves_its_state(drive: Drive, database: Database) -> None:
    """It cannot be stopped, but it counts as if it had been."""
    work = Work(database, "note", "skip")
    driven = drive(chart(work.act_sync))
    outcome = driven.start({})
    assert (outcome.path, outcome.values["log"], work.began) == ("HOLD", ["noted"], [1])


def test_sync_activity_commits_after_an_event_that_stays(drive: Drive, database: Database) -> None:
    """The event came before its end, so it is the step before it; the activity is not called again."""
    work = Work(database, "note")
    driven = drive(chart(work.act_sync))
    assert (driven.start({}).values["log"], work.began) == (["noted", "ended"], [1])


def test_tool_call_of_a_stopped_activity_is_closed(drive: Drive, database: Database) -> None:
    """Of a `once` call nobody knows the end; any other one has failed. None is left open."""

    begun: list[str] = []

    async def hang() -> str:
        """Hang; the second one has the state left."""
        begun.append("one")
        if len(begun) == 2:
            database.mailbox.post("s1", "skip")
        await asyncio.Event().wait()
        return "never"

    once, again = (sw.tool(effect=effect, name=name)(hang) for effect, name in (("once", "o"), ("pure", "p")))

    async def call(state: Any, run: sw.Run[Any]) -> Any:
        await run.tools([{"name": "o", "args": {}}, {"name": "p", "args": {}}])

    state = sw.State("ACT", do=call, tools=["o", "p"], to="DONE", on=sw.on("skip", "DONE"))
    graph = sw.Chart("calls", Beside, state, sw.Final("DONE")).compile(tools=[once, again])
    assert drive(graph).start({}).status == "completed"
    found = {entry.name: entry.status for entry in database.journal.entries("s1")}
    assert found == {"o": "unknown", "p": "failed"}


# -- timers ---------------------------------------------------------------------------------------------


def timed(do: Any) -> Any:
    return sw.Chart(
        "timed",
        Beside,
        sw.State("ACT", do=do, to="DONE", on=[sw.after(60, "LATE")]),
        sw.State("LATE", do=lambda state: {"log": ["late"]}, to="DONE"),
        sw.Final("DONE"),
    ).compile()


def test_timer_stops_a_running_activity(drive: Drive, clock: ManualClock) -> None:
    """Entering the state set it, before its activity began."""

    async def forever(state: Any) -> Any:
        clock.advance(60)
        await asyncio.Event().wait()

    assert drive(timed(forever)).start({}).values["log"] == ["late"]


def test_timer_is_cancelled_when_the_activity_ends_first(drive: Drive, clock: ManualClock) -> None:
    """It never fires."""

    async def quick(state: Any) -> Any:
        return {"log": ["done"]}

    driven = drive(timed(quick))
    assert driven.start({}).values["log"] == ["done"]
    assert driven.control["timers"] == {}


def test_timer_needs_no_saver(how: How) -> None:
    """Without one a due timer stops an activity as well."""

    async def forever(state: Any) -> Any:
        await asyncio.Event().wait()

    graph = sw.Chart(
        "timed", Beside, sw.State("ACT", do=forever, to="DONE", on=[sw.after(0.01, "DONE")]), sw.Final("DONE")
    ).compile()
    assert run_graph(graph, {"log": ["in"]}, how=how)["log"] == ["in"]


# -- what it does not cost ------------------------------------------------------------------------------


def test_quick_activities_look_at_no_mailbox(drive: Drive, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two looks there is `POLL_S`, however many states the chart goes through."""
    looks: list[str] = []
    after = database.mailbox.after
    monkeypatch.setattr(database.mailbox, "after", lambda *a, **k: looks.append("look") or after(*a, **k))

    async def quick(state: Any) -> Any:
        return {"number": state.get("number", 0) + 1}

    more = sw.when(lambda state: state["number"] < 5, "ACT")
    act = sw.State("ACT", do=quick, to=[more, "DONE"], on=sw.on("stop", "DONE"))
    driven = drive(sw.Chart("quick", Beside, act, sw.Final("DONE")).compile())
    driven.start({"number": 4})
    counts: list[float] = []
    for number in (4, 0):
        looks.clear()
        begun = time.monotonic()
        driven.start({"number": number})
        counts.append(len(looks) - (time.monotonic() - begun) // POLL_S * (number == 0))
    assert counts[1] <= counts[0]


def test_only_states_that_can_be_left_are_watched() -> None:
    """An event that is the chart's own news is no reason to watch."""
    act = sw.State("ACT", do=lambda state: None, to="DONE", on=[sw.on("error.activity", "DONE"), sw.on("fuse", "DONE")])
    open_to = sw.State("OPEN", do=lambda state: None, to="DONE", on=[sw.on("stop", "DONE")])
    machine = sw.Chart("heeds", Beside, act, open_to, sw.Final("DONE")).compile().machine
    assert [machine.chart.nodes[state].path for state in machine.heeding] == ["OPEN"]


def test_other_tools_are_not_touched(drive: Drive, database: Database) -> None:
    """A call that was completed before the event stays completed."""
    shop = Shop()

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        await run.tool("lookup", order="A1")
        database.mailbox.post("s1", "skip")
        await asyncio.Event().wait()

    state = sw.State("ACT", do=act, tools=["lookup"], to="DONE", on=sw.on("skip", "DONE"))
    drive(sw.Chart("calls", Beside, state, sw.Final("DONE")).compile(tools=shop.box)).start({})
    assert [entry.status for entry in database.journal.entries("s1")] == ["completed"]
