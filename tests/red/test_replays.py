"""Attempts to use what was approved, paid or counted a second time: forks, replays, old answers, further runs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from langgraph.types import Command

import stateward as sw
from stateward.errors import StatewardError
from stateward.govern.policy import Fuses, Policy, Rule, ToolPolicy
from stateward.replay import replay
from stateward.run.travel import Timeline
from stateward.testing import ScriptedModel
from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.red.world import World, acting, ruled

Drive = Callable[..., Driven]


def past(driven: Driven) -> Timeline:
    """The session's timeline."""
    session = driven.session
    return Timeline(session.graph, database=session.database, session=session.id)


def asking(world: World, do: Any = None, **rest: Any) -> Any:
    """A graph that pays once somebody has approved it."""
    policy = ruled("act", "restricted", **rest)
    return compiled(do or acting(3), box=[world.tool(effect="idempotent")], policy=policy, handles=["stop"])


def approving(ask: str) -> Command[Any]:
    """An approval as LangGraph takes it."""
    return Command(resume={"answers": {ask: {"decision": "approve", "by": "ann"}}})


def test_an_answer_counts_once(drive: Drive, world: World) -> None:
    """Given again in each way there is, it pays nothing more."""
    driven = drive(asking(world))
    (ask,) = driven.start({}).asks
    driven.send(approving(ask))
    for attempt in (
        lambda: driven.send(approving(ask)),
        lambda: driven.session.claim(ask, "approve", by="bob"),
        lambda: driven.session.answer(ask, "approve", by="ann"),
        lambda: driven.resume(),
    ):
        with suppress(StatewardError):
            attempt()
    assert world.done() == [3]


def test_an_old_answer_is_none_to_the_question_of_another_run(drive: Drive, world: World) -> None:
    """The next run asks anew."""
    driven = drive(asking(world))
    (old,) = driven.start({}).asks
    driven.send(approving(old))
    (new,) = driven.start({}).asks
    with suppress(StatewardError):
        driven.send(approving(old))
    driven.resume()
    assert (old == new, world.done()) == (False, [3])


def test_an_old_answer_is_none_to_the_question_of_another_entry(drive: Drive, world: World) -> None:
    """The state was left and entered again."""
    driven = drive(asking(world))
    (old,) = driven.start({}).asks
    driven.resume("stop")
    driven.resume("again")
    for attempt in (lambda: driven.send(approving(old)), lambda: driven.session.claim(old, "approve", by="ann")):
        with suppress(StatewardError):
            attempt()
    driven.resume()
    assert world.done() == []


def test_a_fork_does_not_bring_the_recorded_answer(drive: Drive, world: World) -> None:
    """From each step before the payment: the call is asked about again, or was made and is not made again."""
    driven = drive(asking(world))
    (ask,) = driven.start({}).asks
    driven.send(approving(ask))
    for row in list(past(driven)):
        with suppress(StatewardError):
            past(driven).fork(row.checkpoint, name=f"fork{row.step}")
            past(driven).resume()
    assert world.done() == [3]


def test_a_fork_gets_no_calls_back(drive: Drive, world: World) -> None:
    """Two may be made in the run, on all its branches together."""
    policy = ruled(max_calls=2)
    driven = drive(compiled(acting(1, 2, 3), box=[world.tool(effect="pure")], policy=policy))
    driven.start({})
    for step in (0, 0, 0):
        with suppress(StatewardError):
            past(driven).fork(step)
            past(driven).resume()
    assert len(world.effects) == 2


async def speak(state: Any, run: sw.Run[Any]) -> Any:
    return {"log": [(await run.model().ainvoke("hello")).text for _ in range(5)]}


def test_a_fork_gets_no_money_back(drive: Drive) -> None:
    """Each call costs at most one cent, and one cent there is."""
    model = ScriptedModel.of(*["hello"] * 20)
    role = sw.ModelRole(
        name="m", model=model, usd_per_million_input=0.0, usd_per_million_output=1000.0, max_output_tokens=10
    )
    graph = compiled(speak, model="m", models={"m": role}, policy=Policy(name="red", fuses=Fuses(usd=0.021)))
    driven = drive(graph)
    driven.start({})
    for _ in range(3):
        with suppress(StatewardError):
            past(driven).fork(0)
            past(driven).resume()
    assert sum(driven.session.database.ledger.spent("s1", run).get(("", "usd"), 0.0) for run in runs(driven)) <= 0.021


def runs(driven: Driven) -> list[str]:
    """The runs of a session, by their calls."""
    return sorted({entry.key.run for entry in driven.session.database.journal.entries("s1")})


def test_a_replay_makes_no_call(drive: Drive, world: World) -> None:
    """However often it is played, and whatever was approved."""
    driven = drive(asking(world))
    (ask,) = driven.start({}).asks
    driven.send(approving(ask))
    for _ in range(2):
        replay(driven.session)
    assert world.done() == [3]


def test_an_input_to_a_run_that_waits_opens_no_new_one(drive: Drive, world: World) -> None:
    """Which would have counts of its own."""
    policy = Policy(
        name="red",
        tools=ToolPolicy(
            rules=(Rule(match="act", level="allowed", max_calls=1), Rule(match="ask", level="restricted"))
        ),
    )

    async def do(state: Any, run: sw.Run[Any]) -> Any:
        await run.tool("act", what=1)
        await run.tool("ask", what=2)
        return {"log": []}

    box = [world.tool(effect="pure"), world.tool("ask")]
    driven = drive(compiled(do, box=box, policy=policy))
    driven.start({})
    for _ in range(3):
        with suppress(StatewardError):
            driven.start({})
    assert world.effects == [("act", 1)]


def test_leaving_a_state_and_coming_back_gets_no_calls_back(drive: Drive, world: World) -> None:
    """The count is of the run, not of the entry."""
    driven = drive(compiled(acting(1, 2), box=[world.tool()], policy=ruled(max_calls=3), to="HELP"))
    driven.start({})
    for _ in range(3):
        driven.resume("again")
    assert len(world.effects) == 3


def test_a_second_session_of_the_same_name_elsewhere_has_no_approval(drive: Drive, world: World) -> None:
    """What was approved in one database says nothing in another."""
    first = drive(asking(world))
    (ask,) = first.start({}).asks
    first.session.claim(ask, "approve", by="ann")
    with sw.open("memory:") as other:
        second = Driven(sw.Session("s1", asking(world).attach(other), other), first.how)
        (its,) = second.start({}).asks
        with suppress(StatewardError):
            second.send(approving(ask))
        second.resume()
    assert (its == ask, world.done()) == (False, [])


def test_another_policy_of_the_same_name_does_not_take_over_a_run(drive: Drive, world: World) -> None:
    """One that waits for an approval is not gone on with where none is needed."""
    driven = drive(asking(world))
    driven.start({})
    free = ruled("act", "allowed")
    freed = drive(compiled(acting(3), box=[world.tool(effect="idempotent")], policy=free, handles=["stop"]))
    for attempt in (freed.resume, lambda: freed.start({}), lambda: freed.send(None)):
        with suppress(StatewardError):
            attempt()
    assert (world.done(), replace(free, name="x").hash == free.hash) == ([], False)


@pytest.mark.parametrize("by", ["", " ", "\u200b"])
def test_a_limit_is_not_raised_by_nobody(drive: Drive, world: World, by: str) -> None:
    """Nor does the run go on then."""
    policy = Policy(name="red", fuses=Fuses(calls=1))
    driven = drive(compiled(acting(1, 2), box=[world.tool(effect="pure")], policy=policy))
    driven.start({})
    (run,) = runs(driven)
    with suppress(StatewardError):
        driven.session.database.ledger.raise_limit("s1", run, scope="WORK", unit="calls", value=9, by=by, reason="x")
    with suppress(StatewardError):
        driven.resume()
    assert len(world.effects) == 1
