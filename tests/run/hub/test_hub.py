"""The hub: regions run beside each other, each as fast as it can, and each thing that happens is one checkpoint."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward.testing import How, run_graph
from tests.charts.beside import Gate, compiled_beside, says, says_sync
from tests.charts.drive import Driven

Drive = Callable[..., Driven]
SESSION: Any = {"configurable": {"thread_id": "s1"}}


def logged(driven: Driven) -> list[tuple[str, str]]:
    """State and event of each step."""
    lasts = [checkpoint.values["stateward"]["last"] for checkpoint in driven.checkpoints[2:]]
    return [(last["state"], last["event"]) for last in lasts]


# -- order ----------------------------------------------------------------------------------------------


def test_regions_run_on_while_another_is_busy(drive: Drive) -> None:
    """A goes through three states before B's first has ended: B waits until A's last is left."""
    gate = Gate()
    graph = compiled_beside(
        [sw.State("A1", do=says("a1"), to="A2"), sw.State("A2", do=says("a2"), to="END", exit=gate.open)],
        [sw.State("B1", do=says("b1", after=gate), to="END")],
    )
    outcome = drive(graph).start({})
    assert (outcome.status, outcome.values["log"]) == ("completed", ["a1", "a2", "b1"])


def test_sync_activities_run_beside_each_other(drive: Drive) -> None:
    """Each in a thread: two that wait for each other both get through."""
    meet = threading.Barrier(2)
    graph = compiled_beside(
        [sw.State("A1", do=says_sync("a", then=meet.wait), to="END")],
        [sw.State("B1", do=says_sync("b", then=meet.wait), to="END")],
    )
    assert sorted(drive(graph).start({}).values["log"]) == ["a", "b"]


def test_each_end_is_one_checkpoint_in_the_order_of_completion(drive: Drive) -> None:
    """The log of the checkpoints is what happened: B before A, because A waited until B's end was taken."""
    gate = Gate()
    a, b = sw.State("A1", do=says("a", after=gate), to="END"), sw.State("B1", do=says("b"), to="END", exit=gate.open)
    driven = drive(compiled_beside([a], [b]))
    driven.start({})
    steps = [("", "start"), ("P.B.B1", "done.activity.P.B.B1"), ("P.A.A1", "done.activity.P.A.A1")]
    assert logged(driven) == steps


def test_what_ends_together_commits_in_document_order(drive: Drive) -> None:
    """Three regions pass one gate, which the end of a fourth opens; whichever task ran first, A commits first."""
    gate = Gate()
    first = [[sw.State("S", do=says(name, after=gate), to="END")] for name in "abc"]
    last = [sw.State("S", do=says("d"), to="END", exit=gate.open)]
    values = drive(compiled_beside(*first, last)).start({}).values
    assert values["log"] == ["d", "a", "b", "c"]


def test_update_is_applied_to_the_values_of_the_moment_of_its_end(drive: Drive) -> None:
    """B saw nothing of A, and its update is reduced onto what A had written meanwhile."""
    gate, seen = Gate(), list[Any]()

    async def look(state: Any) -> Any:
        seen.append(list(state.get("log", [])))
        await gate.wait()
        return {"log": ["b"], "text": "b"}

    a = sw.State("A1", do=says("a"), to="END", exit=gate.open)
    values = drive(compiled_beside([a], [sw.State("B1", do=look, to="END")])).start({"log": ["in"]}).values
    assert (values["log"], values["text"], seen) == (["in", "a", "b"], "b", [["in"]])


def test_it_needs_no_saver(how: How) -> None:
    """A plain graph runs regions too."""
    graph = compiled_beside([sw.State("A1", do=says("a"), to="END")], [sw.State("B1", do=says("b"), to="END")])
    assert run_graph(graph, {}, how=how)["log"] == ["a", "b"]


def test_entry_actions_of_a_region_see_and_write_the_state(drive: Drive) -> None:
    """What is written on the way in is there for its activity."""

    async def act(state: Any) -> Any:
        return {"log": [state["text"]]}

    a = sw.State("A1", do=act, to="END", entry=lambda state: {"text": "entered"})
    graph = compiled_beside([a], [sw.State("B1", do=says("b"), to="END")])
    assert drive(graph).start({}).values["log"] == ["entered", "b"]


def test_regions_can_be_entered_from_a_single_state_and_left_for_one(drive: Drive) -> None:
    """The run goes from its own node into the hub and out again."""
    chart = sw.Chart(
        "around",
        compiled_schema(),
        sw.State("IN", do=says("in"), to="P"),
        sw.Parallel(
            "P",
            sw.Superstate("A", sw.State("A1", do=says("a"), to="END"), sw.Final("END")),
            sw.Superstate("B", sw.State("B1", do=says("b"), to="END"), sw.Final("END")),
            to="OUT",
        ),
        sw.State("OUT", do=says("out"), to="DONE"),
        sw.Final("DONE"),
    )
    assert drive(chart.compile()).start({}).values["log"] == ["in", "a", "b", "out"]


def compiled_schema() -> type[Any]:
    """The state schema of all charts here."""
    return compiled_beside([sw.State("S")], [sw.State("S")]).user_schema


def test_region_inside_a_region_runs_beside_both(drive: Drive) -> None:
    """Three activities at once, in two depths."""
    meet = threading.Barrier(3)
    inner = sw.Parallel(
        "Q",
        sw.Superstate("X", sw.State("S", do=says_sync("x", then=meet.wait), to="E"), sw.Final("E")),
        sw.Superstate("Y", sw.State("S", do=says_sync("y", then=meet.wait), to="E"), sw.Final("E")),
        to="END",
    )
    graph = compiled_beside([inner], [sw.State("B1", do=says_sync("b", then=meet.wait), to="END")])
    assert sorted(drive(graph).start({}).values["log"]) == ["b", "x", "y"]


# -- what an activity sees ------------------------------------------------------------------------------


def test_activity_sees_the_event_that_brought_its_own_region(drive: Drive) -> None:
    """Another region's move in between does not take it away, nor does a crash: it is in the checkpoint."""

    async def tell(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [run.event.name if run.event else None]}

    driven = drive(
        compiled_beside(
            [sw.State("W", on=sw.on("go", "S")), sw.State("S", do=tell, to="END")],
            [sw.State("B1", on=sw.on("go", "B2")), sw.State("B2", do=tell, to="B3"), sw.State("B3", do=tell, to="END")],
        )
    )
    driven.start({})
    assert driven.resume("go").values["log"] == ["go", "go", None]


def test_raised_event_is_heard_by_the_other_region(drive: Drive) -> None:
    """Events are the chart's: whoever takes them."""

    async def shout(state: Any, run: sw.Run[Any]) -> Any:
        run.raise_event("hello")

    a = sw.State("A1", do=shout, to="END")
    b = sw.State("B1", on=sw.on("hello", "END", do=lambda state: {"log": ["heard"]}))
    assert drive(compiled_beside([a], [b])).start({}).values["log"] == ["heard"]


# -- leaving --------------------------------------------------------------------------------------------


def test_no_task_is_left_when_the_run_has_ended(database: Any) -> None:
    """A move of A leaves P: B's activity is stopped, leaves no writes, and its task is gone."""
    stopped: list[str] = []

    async def forever(state: Any) -> Any:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            stopped.append("b")
            raise

    graph = compiled_beside([sw.State("A1", do=says("a"), to="DONE")], [sw.State("B1", do=forever, to="END")])

    async def main() -> tuple[Any, set[Any]]:
        given = await graph.attach(database).ainvoke({}, SESSION)
        return given, asyncio.all_tasks() - {asyncio.current_task()}

    values, tasks = asyncio.run(main())
    assert (values["log"], stopped, tasks) == (["a"], ["b"], set())


def test_activity_that_a_stranger_cancels_is_an_error_of_that_activity(drive: Drive) -> None:
    """Both regions' tasks are cancelled, and the states react to the first in document order."""

    async def cancel_all(state: Any) -> None:
        for task in asyncio.all_tasks():
            if getattr(task.get_coro(), "__name__", "") == "_kept":
                task.cancel()
        await asyncio.sleep(0)

    taken = [sw.on("error.activity", "END", do=lambda event: {"text": event.data["message"]})]
    regions = [[sw.State("S", do=cancel_all, to="END", on=taken)] for _ in "ab"]
    outcome = drive(compiled_beside(*regions)).start({})
    assert (outcome.status, "cancelled from inside" in outcome.values["text"]) == ("completed", True)


async def until(condition: Callable[[], object]) -> None:
    """Let the loop turn until something is so."""
    while not condition():
        await asyncio.sleep(0)


@pytest.mark.parametrize("way", ["cancelled", "closed"])
def test_run_that_is_broken_off_stops_all_regions_before_its_lease_ends(database: Any, way: str) -> None:
    """Cancelled or left early: no activity outlives the call, and none holds a session that somebody else has."""
    held: list[bool] = []
    began: list[int] = []

    async def forever(state: Any, run: sw.Run[Any]) -> Any:
        began.append(1)
        run.emit("begun")
        try:
            await asyncio.Event().wait()
        finally:
            held.append(database.leases.held("s1") is not None)

    both = [[sw.State("S", do=forever, to="END")] for _ in "ab"]
    graph = compiled_beside(*both).attach(database)

    async def main() -> set[Any]:
        if way == "cancelled":
            task = asyncio.ensure_future(graph.ainvoke({}, SESSION))
            await until(lambda: len(began) == 2)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            stream = graph.astream({}, SESSION, stream_mode="custom")
            await anext(stream)
            await until(lambda: len(began) == 2)
            await stream.aclose()
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert (asyncio.run(main()), held) == (set(), [True, True])
    assert database.leases.held("s1") is None


def test_sync_stream_that_is_left_early_stops_all_regions_too(database: Any) -> None:
    """Their loop is the call's own, and ends with it."""
    stopped: list[str] = []

    async def forever(state: Any, run: sw.Run[Any]) -> Any:
        run.emit(run.path)
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append(run.path)

    both = [[sw.State("S", do=forever, to="END")] for _ in "ab"]
    stream = compiled_beside(*both).attach(database).stream({}, SESSION, stream_mode="custom")
    told = [next(stream), next(stream)]
    stream.close()
    assert (sorted(stopped), database.leases.held("s1")) == (sorted(told), None)


def test_region_that_is_left_and_entered_again_begins_anew(drive: Drive) -> None:
    """Another activation: the first activity is stopped, the second one counts."""
    runs: list[int] = []
    gate = Gate()

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        runs.append(run.activation)
        if run.activation == 1:
            gate.open()
            await asyncio.Event().wait()
        return {"log": ["b"]}

    async def push(state: Any, run: sw.Run[Any]) -> Any:
        await gate.wait()
        run.raise_event("again")

    a = sw.State("A1", do=push, to="END")
    b = sw.State("B1", do=act, to="END", on=sw.on("again", "B1"))
    assert drive(compiled_beside([a], [b])).start({}).values["log"] == ["b"]
    assert runs == [1, 2]
