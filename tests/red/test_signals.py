"""Attempts of an activity to go on after it was told to end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

import stateward as sw
from stateward.errors import StatewardError
from stateward.govern.policy import Fuses, Policy, Rule, ToolPolicy
from stateward.testing import ScriptedModel
from tests.charts.drive import Driven
from tests.charts.one import One, compiled
from tests.red.world import World, acting, calling, fused, ruled

Drive = Callable[..., Driven]


def swallowing(kind: type[BaseException]) -> Callable[..., Any]:
    """An activity that takes whatever it is told for an error of its own, and tries again."""

    async def do(state: Any, run: sw.Run[Any]) -> Any:
        for number in range(10):
            with suppress(kind):
                await run.tool("act", what=number)
        return {"log": ["went on"]}

    return do


def swallowing_sync(kind: type[BaseException]) -> Callable[..., Any]:
    """The same, as a sync one."""

    def do(state: Any, run: sw.SyncRun[Any]) -> Any:
        for number in range(10):
            with suppress(kind):
                run.tool("act", what=number)
        return {"log": ["went on"]}

    return do


@pytest.mark.parametrize("kind", [Exception, BaseException])
@pytest.mark.parametrize("make", [swallowing, swallowing_sync])
def test_a_fuse_is_not_survived_by_swallowing_it(drive: Drive, world: World, kind: Any, make: Any) -> None:
    """Two calls are made, and what the activity returns is thrown away."""
    outcome = drive(compiled(make(kind), box=[world.tool(effect="pure")], policy=fused(calls=2))).start({})
    assert (world.done(), outcome.status) == ([0, 1], "halted")
    assert "log" not in outcome.values or outcome.values["log"] == []


@pytest.mark.parametrize("kind", [Exception, BaseException])
@pytest.mark.parametrize("make", [swallowing, swallowing_sync])
def test_a_question_is_not_survived_by_swallowing_it(drive: Drive, world: World, kind: Any, make: Any) -> None:
    """The run waits for the person; nothing was done."""
    outcome = drive(compiled(make(kind), box=[world.tool()], policy=ruled("act", "restricted"))).start({})
    assert (world.done(), outcome.status) == ([], "waiting")


def test_a_fuse_of_a_model_is_not_survived_by_swallowing_it(drive: Drive, world: World) -> None:
    """Neither further calls of the model nor of a tool are made."""

    async def do(state: Any, run: sw.Run[Any]) -> Any:
        for _ in range(5):
            with suppress(BaseException):
                await run.model().ainvoke("hello")
        with suppress(BaseException):
            await run.tool("act", what="after the fuse")
        return {"log": ["went on"]}

    model = ScriptedModel.of(*["hello"] * 9)
    policy = Policy(name="red", fuses=Fuses(turns=2))
    driven = drive(compiled(do, box=[world.tool()], model="m", models={"m": model}, policy=policy))
    assert driven.start({}).status == "halted"
    assert (world.effects, len(driven.session.database.journal.entries("s1"))) == ([], 2)


def test_what_finally_does_is_done_under_the_same_policy(drive: Drive, world: World) -> None:
    """A call made while the signal goes through is not let in."""

    async def do(state: Any, run: sw.Run[Any]) -> Any:
        try:
            await run.tool("act", what=1)
            await run.tool("act", what=2)
        finally:
            with suppress(BaseException):
                await run.tool("act", what="in finally")
        return {}

    drive(compiled(do, box=[world.tool(effect="pure")], policy=fused(calls=1))).start({})
    assert world.done() == [1]


def test_another_task_does_not_go_on_either(drive: Drive, world: World) -> None:
    """One task trips the fuse, the other one asks for more."""

    async def do(state: Any, run: sw.Run[Any]) -> Any:
        async def more() -> None:
            for number in range(5):
                with suppress(BaseException):
                    await run.tool("act", what=number)

        await asyncio.gather(more(), more(), return_exceptions=True)
        return {"log": ["went on"]}

    outcome = drive(compiled(do, box=[world.tool(effect="pure")], policy=fused(calls=3))).start({})
    assert (len(world.effects), outcome.status) == (3, "halted")


class Kept:
    """A run that somebody holds on to."""

    run: Any = None


@pytest.mark.parametrize("way", ["same thread", "thread", "task"])
def test_a_run_that_was_kept_makes_no_call_after_its_state_was_left(drive: Drive, world: World, way: str) -> None:
    """The next state is under another policy, and the first one's door is shut."""
    kept = Kept()

    async def keep(state: Any, run: sw.Run[Any]) -> Any:
        kept.run = run
        return {}

    async def use(state: Any, run: sw.Run[Any]) -> Any:
        async def call() -> None:
            with suppress(StatewardError, RuntimeError):
                await kept.run.tool("act", what="from the state before")

        if way == "task":
            await asyncio.ensure_future(call())
        elif way == "same thread":
            await call()
        else:
            thread = threading.Thread(target=lambda: asyncio.run(call()), daemon=True)
            thread.start()
            while thread.is_alive():
                await asyncio.sleep(0)
        return {}

    chart = sw.Chart(
        "two",
        One,
        sw.State("A", do=keep, tools=["act"], to="B"),
        sw.State("B", do=use, to="DONE"),
        sw.Final("DONE"),
    )
    drive(chart.compile(tools=[world.tool()])).start({})
    assert world.effects == []


def test_a_thread_that_an_activity_left_behind_calls_nothing(drive: Drive, world: World) -> None:
    """It wakes when the run is over."""
    gone, done = threading.Event(), threading.Event()

    def do(state: Any, run: sw.SyncRun[Any]) -> Any:
        def later() -> None:
            gone.wait(20)
            with suppress(BaseException):
                run.tool("act", what="late")
            done.set()

        threading.Thread(target=later, daemon=True).start()
        return {}

    drive(compiled(do, box=[world.tool()])).start({})
    gone.set()
    assert done.wait(20)
    assert world.effects == []


def test_a_tool_makes_no_calls_of_its_own(drive: Drive, world: World) -> None:
    """Through the run of its activity, by `current_run`, in its thread or in a task."""

    @sw.tool(effect="pure")
    async def around() -> str:
        """Call another tool."""
        await sw.current_run().tool("wipe", what="inside")
        return "done"

    @sw.tool(effect="pure")
    def around_sync() -> str:
        """Call another tool from a thread."""
        asyncio.run(_awaited(sw.current_run().tool("wipe", what="inside")))
        return "done"

    do = calling({"name": "around", "args": {}}, {"name": "around_sync", "args": {}})
    graph = compiled(do, box=[around, around_sync, world.tool("wipe")])
    outcome = drive(graph).start({})
    assert (world.effects, outcome.values["log"]) == ([], ["failed", "failed"])


async def _awaited(call: Any) -> Any:
    return await call


def test_a_tool_of_another_state_is_not_called(drive: Drive, world: World) -> None:
    """Registered is not declared."""
    graph = compiled(acting("all", name="wipe"), box=[world.tool(), world.tool("wipe")], tools=["act"])
    assert drive(graph).start({}).values["log"] == ["denied"]
    assert world.effects == []


@pytest.mark.parametrize("attribute", ["tools", "effective", "signal", "activation"])
def test_what_is_handed_out_of_a_door_is_no_other_door(drive: Drive, world: World, attribute: str) -> None:
    """A mapping that the activity may look at is none it can put a tool into."""

    async def do(state: Any, run: sw.Run[Any]) -> Any:
        with suppress(TypeError, AttributeError):
            run.door.tools["wipe"] = world.tool("wipe")  # pyright: ignore[reportIndexIssue]  # that is the attempt
        return {"log": [(await run.tool("wipe", what="all")).status]}

    policy = Policy(name="red", tools=ToolPolicy(rules=(Rule(match="act", level="allowed"),)))
    drive(compiled(do, box=[world.tool()], policy=policy)).start({})
    assert world.effects == []
