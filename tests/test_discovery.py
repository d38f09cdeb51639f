"""Tools found at run time: they may be called if a policy lists them, and no other rule is left out for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pytest
from langchain_core.tools import tool as langchain_tool

import stateward as sw
from stateward.discovery import discover
from stateward.errors import DefinitionError, RunError
from stateward.govern.policy import Policy, Rule, ToolPolicy
from tests.charts.drive import Driven
from tests.charts.one import compiled

Drive = Callable[..., Driven]


@sw.tool(effect="pure")
def known() -> str:
    """Be registered."""
    return "known"


def found(name: str) -> Any:
    """A tool that nobody registered."""

    def look() -> str:
        """Be found."""
        return name

    return sw.tool(effect="pure", name=name)(look)


async def act(state: Any, run: sw.Run[Any]) -> Any:
    """Offer two tools, and call all there are."""
    names = discover(run, [found("read_one"), found("drop_all")])
    results = await run.tools([{"name": name, "args": {}} for name in (*names, "known")])
    return {"log": [f"{one.name} {one.status}" for one in results]}


def act_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    """The same, not awaited."""
    names = discover(run, [found("read_one"), found("drop_all")])
    return {
        "log": [f"{one.name} {one.status}" for one in run.tools([{"name": n, "args": {}} for n in (*names, "known")])]
    }


def graph(
    do: Any, *, listed: tuple[str, ...] | None = ("read_.*",), level: Literal["allowed", "restricted"] = "allowed"
) -> sw.ChartGraph:
    rules = (Rule(match=".*", level=level),)
    return compiled(do, box=[known], policy=Policy(name="p", tools=ToolPolicy(rules=rules, discovered=listed)))


BOTH = pytest.mark.parametrize("do", [act, act_sync])


@BOTH
def test_only_what_is_on_the_list_is_called(drive: Drive, do: Any) -> None:
    """A tool that was registered needs no list."""
    assert drive(graph(do)).start({}).values["log"] == ["read_one ok", "drop_all denied", "known ok"]


@BOTH
def test_other_rules_hold_for_what_is_found(drive: Drive, do: Any) -> None:
    """A person is asked about it, and it is called once approved; the list alone does not let it pass."""
    driven = drive(graph(do, level="restricted"))
    asked = driven.start({})
    assert sorted(ask.tool for ask in driven.session.database.asks.open()) == ["known", "read_one"]
    done = [driven.answer(ask) for ask in asked.asks][-1]
    assert done.values["log"] == ["read_one ok", "drop_all denied", "known ok"]


def test_without_a_list_nothing_is_found(drive: Drive) -> None:
    """A policy that says nothing of such tools lets none in, however open its rules are."""
    with pytest.raises(RunError, match=r"tools\.discovered"):
        drive(graph(act, listed=None)).start({})


def test_found_tool_takes_no_name_that_is_taken(drive: Drive) -> None:
    """Else it would be called where the declared one is meant."""

    def shadow(state: Any, run: sw.SyncRun[Any]) -> Any:
        discover(run, [found("known")])

    with pytest.raises(DefinitionError, match="`known`"):
        drive(graph(shadow)).start({})


def test_tool_of_langchain_may_be_found(drive: Drive) -> None:
    """An adapter of MCP servers gives such."""

    @langchain_tool
    def read_two() -> str:
        """Be found."""
        return "two"

    async def take(state: Any, run: sw.Run[Any]) -> Any:
        discover(run, [read_two])
        return {"text": (await run.tool("read_two")).value}

    assert drive(graph(take)).start({}).values["text"] == "two"


def test_what_one_activity_found_another_has_not(drive: Drive) -> None:
    """The state's own tools stay as they were declared."""
    machine = graph(act).machine
    drive(graph(act)).start({})
    assert set(machine.plans[machine.chart.by_path["WORK.ACT"]].tools) == {"known"}
