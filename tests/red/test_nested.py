"""Attempts to get out of a policy by going further in: agents in charts, agents in tools, tools in tools."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

import pytest
from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]  # its overloads are
from langchain_core.messages import HumanMessage

import stateward as sw
from stateward.errors import DefinitionError, PolicyLoosened, StatewardError
from stateward.govern.policy import Fuses, Policy
from stateward.testing import ScriptedModel, calls
from tests.charts.agents import World, agent, ruled
from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.red.world import ids

Drive = Callable[..., Driven]


def given() -> dict[str, Any]:
    return {"messages": [HumanMessage("go", id="h")]}


def delegating(inner: Any, name: str = "delegate") -> Any:
    """A tool in which an agent runs."""

    @sw.tool(effect="once", name=name)
    async def delegate(task: str = "x") -> str:
        """Let an agent do it."""
        told = await inner.ainvoke({"messages": [HumanMessage(task)]})
        return str(told["messages"][-1].text)

    return delegate


async def delegates(state: Any, run: sw.Run[Any]) -> Any:
    return {"log": [(await run.tool("delegate", task="x")).status]}


def looking(world: World, times: int = 9, **rest: Any) -> Any:
    """An agent that looks again and again."""
    replies = [calls(("look", {"what": str(number)})) for number in range(times)]
    return agent(*replies, "done", tools=[world.tool("look")], **rest)


PLACES: dict[str, Callable[[Any], Any]] = {
    "as a state": lambda inner: inner,
    "in a tool": lambda inner: delegating(inner),
    "in a tool of an agent": lambda inner: agent(
        calls(("delegate", {"task": "x"})), "told", tools=[delegating(inner)], name="outer"
    ),
}


def placed(inner: Any, place: Callable[[Any], Any], policy: Policy) -> Any:
    """A chart that has an agent in some place."""
    made = place(inner)
    if hasattr(made, "effect"):
        return compiled(delegates, box=[made], policy=policy)
    return compiled(made, policy=policy)


@pytest.mark.parametrize("place", ids(PLACES))
@pytest.mark.parametrize("name", ["wipe", "WIPE", "wipe ", "wi\u200bpe", "\uff57ipe"])
def test_a_tool_that_the_chart_forbids_is_called_by_no_agent(
    drive: Drive, place: Callable[[Any], Any], name: str
) -> None:
    """Wherever it runs, and however its model writes the name."""
    world = World()
    inner = agent(calls((name, {"what": "all"})), "done", tools=[world.tool("wipe")], name="inner")
    with suppress(StatewardError, ValueError):
        drive(placed(inner, place, ruled(wipe="forbidden"))).start(given())
    assert world.effects == []


@pytest.mark.parametrize("place", ids(PLACES))
@pytest.mark.parametrize("fuses", [{"turns": 3}, {"calls": 3}], ids=["turns", "calls"])
def test_an_agent_has_no_allowance_of_its_own(drive: Drive, place: Callable[[Any], Any], fuses: dict[str, Any]) -> None:
    """What it does counts at the top, whatever its own policy would let it do."""
    world = World()
    inner = looking(world, name="inner", policy=Policy(name="own", fuses=Fuses(**dict.fromkeys(fuses, 3))))
    drive(placed(inner, place, Policy(name="p", fuses=Fuses(**fuses)))).start(given())
    assert len(world.effects) <= 3


@pytest.mark.parametrize("place", ids(PLACES))
@pytest.mark.parametrize(
    "own",
    ids(
        {
            "allows": ruled(wipe="allowed"),
            "allows all": ruled(),
            "observes": replace(ruled(wipe="allowed"), observe=True),
            "more calls": Policy(name="own", fuses=Fuses(calls=99)),
        }
    ),
)
def test_an_agents_own_policy_loosens_nothing(drive: Drive, place: Callable[[Any], Any], own: Policy) -> None:
    """It is refused when that is known in time, and tightened when it runs."""
    world = World()
    replies = [calls(("wipe", {"what": "all"}), ("look", {"what": str(n)})) for n in range(5)]
    tools = [world.tool("wipe"), world.tool("look")]
    with suppress(PolicyLoosened):
        inner = agent(*replies, "done", tools=tools, policy=own, name="inner")
        top = replace(ruled(wipe="forbidden"), fuses=Fuses(calls=3))
        drive(placed(inner, place, top)).start(given())
    assert world.done("wipe") == []
    assert len(world.done("look")) <= 3


@pytest.mark.parametrize("place", ids({key: PLACES[key] for key in ("as a state",)}))
def test_an_agent_without_a_governor_is_refused(place: Callable[[Any], Any]) -> None:
    """Under a policy that restricts anything."""
    world = World()
    bare = cast(Any, create_agent(ScriptedModel.of("done"), [world.tool("wipe")]))
    with pytest.raises(DefinitionError):
        placed(bare, place, ruled(wipe="forbidden"))


@pytest.mark.parametrize("place", ids(PLACES))
def test_an_agent_asks_for_what_the_chart_asks_for(drive: Drive, place: Callable[[Any], Any]) -> None:
    """Nothing is paid before somebody has said yes; once it is paid once."""
    world = World()
    inner = agent(calls(("pay", {"what": "1"})), "paid", tools=[world.tool("pay")], name="inner")
    driven = drive(placed(inner, place, ruled(pay="restricted")))
    (ask,) = driven.start(given()).asks
    driven.resume()
    assert world.effects == []
    driven.answer(ask)
    for _ in range(2):
        with suppress(StatewardError):
            driven.session.answer(ask, "approve", by="bob")
    assert world.effects == [("pay", "1")]


def test_a_revoked_state_takes_its_agents_with_it(drive: Drive) -> None:
    """Those in its tools as well."""
    world = World()
    for number, place in enumerate(PLACES.values()):
        driven = drive(placed(looking(world, name="inner"), place, ruled()), session=f"s{number}")
        driven.session.database.revocations.add("WORK", kind="state", by="ann")
        driven.start(given())
    assert world.effects == []


def test_a_tool_that_swallows_what_its_agent_was_told_ends_all_the_same(drive: Drive) -> None:
    """The fuse of the top trips inside, and the tool takes it for an error."""
    world = World()
    inner = looking(world, name="inner")

    @sw.tool(effect="once")
    async def delegate(task: str) -> str:
        """Let an agent do it, whatever it says."""
        for _ in range(5):
            with suppress(BaseException):
                await inner.ainvoke({"messages": [HumanMessage(task)]})
        return "went on"

    outcome = drive(compiled(delegates, box=[delegate], policy=Policy(name="p", fuses=Fuses(calls=3)))).start({})
    assert outcome.status == "halted"
    assert len(world.effects) <= 2
