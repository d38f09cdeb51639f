"""The straight way through a state comes to what the long way comes to, checkpoint by checkpoint."""

from __future__ import annotations

import operator
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel
from typing_extensions import TypedDict

import stateward as sw
from stateward.errors import StatewardError
from stateward.run.graph import ChartGraph
from stateward.run.plan import Machine, StatePlan
from stateward.run.straight import Straight, straight
from tests.charts.one import One, compiled

Chart = sw.Chart[Any]


class Checked(BaseModel):
    """What a gate wants."""

    text: str


class Loop(TypedDict):
    """A counter and a list."""

    n: int
    log: Annotated[list[int], operator.add]


def step(state: Loop) -> Any:
    return {"n": state["n"] + 1, "log": [state["n"]]}


def nothing(state: Loop) -> Any:
    return None


def misfit(state: Loop) -> Any:
    return {"n": "many"}


def fail(state: Loop) -> Any:
    raise ValueError("no")


def used(state: Loop) -> Any:
    sw.current_run().raise_event("told")
    return {"n": sw.current_run().activation}


def more(state: Loop) -> bool:
    return state["n"] < 5


def broken(state: Loop) -> bool:
    return 1 / (state["n"] - state["n"]) > 0


def bump(state: Loop) -> Any:
    return {"n": state["n"] + 10}


def loop(do: Any = step, when: Any = more, **more_of_a: Any) -> Chart:
    """Two states hand on to each other while a guard says so; DONE is the end, LOST takes what goes wrong."""
    lost = [sw.on(event, "LOST") for event in ("error.activity", "error.update", "error.guard")]
    return sw.Chart(
        "loop",
        Loop,
        sw.Superstate(
            "W",
            sw.State("A", do=do, to=[sw.when(when, "B"), "END"], **more_of_a),
            sw.State("B", do=step, to=[sw.when(more, "A"), "END"]),
            sw.Final("END"),
            to="DONE",
            on=lost,
        ),
        sw.State("LOST", do=step, to="DONE"),
        sw.Final("DONE"),
    )


def remembering() -> Chart:
    """A superstate is left and returned to by history, until the counter is full."""
    return sw.Chart(
        "remembering",
        Loop,
        sw.Superstate(
            "W",
            sw.State("A", do=step, to="B"),
            sw.State("B", do=step, to=[sw.when(more, "AWAY"), "DONE"]),
            history="shallow",
        ),
        sw.State("AWAY", do=step, to=sw.History("W")),
        sw.Final("DONE"),
    )


CHARTS: dict[str, Callable[[], Chart]] = {
    "plain": loop,
    "history": remembering,
    "nothing returned": lambda: loop(nothing),
    "an update that does not fit": lambda: loop(misfit),
    "an activity that raises": lambda: loop(fail),
    "an activity that uses its run": lambda: loop(used),
    "a guard that raises": lambda: loop(when=broken),
    "an exit action": lambda: loop(exit=[bump]),
    "an entry action": lambda: loop(entry=[bump]),
}


def walked(graph: ChartGraph) -> list[Any]:
    """The checkpoints of a run, without what no two runs share."""
    config: Any = {"configurable": {"thread_id": "t"}}
    with suppress(ValueError, StatewardError):
        graph.invoke({"n": 0, "log": []}, config)
    found = [(snapshot.next, dict(snapshot.values)) for snapshot in graph.get_state_history(config)]
    for _, values in found:
        values["stateward"] = {**values.get("stateward", {}), "run": None}
    return found


@pytest.mark.parametrize("name", CHARTS)
def test_both_ways_come_to_the_same_checkpoints(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values, control channel and where the run goes on, in every checkpoint."""
    short = walked(CHARTS[name]().compile(checkpointer=InMemorySaver()))
    monkeypatch.setattr("stateward.run.lower.straight", no_way)
    assert short == walked(CHARTS[name]().compile(checkpointer=InMemorySaver()))
    assert len(short) > 2


def test_the_activity_is_called_once_whatever_it_comes_to() -> None:
    """A step that turns out to be of another kind goes the long way from the activity's end."""
    calls: list[int] = []

    def do(state: Loop) -> Any:
        calls.append(state["n"])
        return {"n": "many"}

    walked(loop(do).compile(checkpointer=InMemorySaver()))
    assert calls == [0]


def test_only_a_plain_sync_activity_has_a_straight_way() -> None:
    """One that is awaited, names `run` or has a gate has none."""

    async def awaited(state: One) -> Any:
        return {}

    def named(state: One, run: sw.SyncRun[Any]) -> Any:
        return {}

    def simple(state: One) -> Any:
        return {}

    assert [way(compiled(do)) is not None for do in (simple, awaited, named)] == [True, False, False]
    assert way(compiled(simple, output=Checked)) is None


def no_way(machine: Machine, plan: StatePlan, *, starts: bool) -> None:
    """What makes every state go the long way."""


def way(graph: ChartGraph) -> Straight | None:
    """The straight way of the chart's one activity."""
    (plan,) = graph.machine.plans.values()
    return straight(graph.machine, plan, starts=False)
