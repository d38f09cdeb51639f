"""Attempts to pass a limit by doing everything at once."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import stateward as sw
from stateward.errors import StatewardError
from stateward.govern.policy import Fuses, Group, Policy, Rule, ToolPolicy
from stateward.testing import ScriptedModel
from tests.charts.drive import Driven
from tests.charts.one import One, compiled
from tests.red.world import World, acting, fused, ruled

Drive = Callable[..., Driven]
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("most", [0, 1, 7])
@pytest.mark.parametrize("is_counted_by_tool", [True, False], ids=["max_calls", "fuse"])
def test_a_burst_of_a_hundred_makes_no_more_than_it_may(
    drive: Drive, world: World, most: int, is_counted_by_tool: bool
) -> None:
    """One batch; the rest is refused, or trips the fuse."""
    policy = ruled(max_calls=most) if is_counted_by_tool else fused(calls=most)
    drive(compiled(acting(*range(100)), box=[world.tool(effect="pure")], policy=policy)).start({})
    assert len(world.effects) == most


async def gathered(state: Any, run: sw.Run[Any]) -> Any:
    calls = [run.tool("act", what=number) for number in range(100)]
    results = await asyncio.gather(*calls, return_exceptions=True)
    return {"log": [type(each).__name__ for each in results]}


async def tasks_left_behind(state: Any, run: sw.Run[Any]) -> Any:
    for number in range(100):
        state.setdefault("tasks", []).append(asyncio.ensure_future(run.tool("act", what=number)))
    return {"log": []}


def threads(state: Any, run: sw.SyncRun[Any]) -> Any:
    def hit(number: int) -> None:
        with suppress(BaseException):
            run.tool("act", what=number)

    made = [threading.Thread(target=hit, args=(number,), daemon=True) for number in range(20)]
    for each in made:
        each.start()
    for each in made:
        each.join()
    return {"log": []}


@pytest.mark.parametrize("do", [gathered, tasks_left_behind, threads])
def test_calls_in_tasks_and_threads_make_no_more_than_they_may(drive: Drive, world: World, do: Any) -> None:
    """Gathered, left behind, or from threads of the activity's own."""
    with suppress(StatewardError, RuntimeError):
        drive(compiled(do, box=[world.tool(effect="pure")], policy=ruled(max_calls=5))).start({})
    assert len(world.effects) <= 5


def test_regions_that_work_at_once_share_the_limit(drive: Drive, world: World) -> None:
    """Four regions, five calls between them."""
    box = [world.tool(effect="pure")]
    regions = [
        sw.Superstate(name, sw.State("ACT", do=acting(*range(10)), tools=["act"], to="END"), sw.Final("END"))
        for name in "ABCD"
    ]
    chart = sw.Chart("four", One, sw.Parallel("ALL", *regions, to="DONE"), sw.Final("DONE"), policy=ruled(max_calls=5))
    drive(chart.compile(tools=box)).start({})
    assert len(world.effects) == 5


async def speaks(state: Any, run: sw.Run[Any]) -> Any:
    model = run.model()
    said = await asyncio.gather(*(model.ainvoke("hello") for _ in range(100)), return_exceptions=True)
    return {"log": [len(said)]}


@pytest.mark.parametrize("fuses", [{"turns": 3}, {"usd": 0.031}, {"tokens": 60}], ids=["turns", "usd", "tokens"])
def test_a_burst_of_model_calls_spends_no_more_than_it_may(drive: Drive, fuses: dict[str, Any]) -> None:
    """Three fit, each bounded by ten tokens out and a cent."""
    model = ScriptedModel.of(*["hello"] * 100)
    role = sw.ModelRole(
        name="m", model=model, usd_per_million_input=0.0, usd_per_million_output=1000.0, max_output_tokens=10
    )
    driven = drive(compiled(speaks, model="m", models={"m": role}, policy=Policy(name="red", fuses=Fuses(**fuses))))
    driven.start({})
    journal = driven.session.database.journal.entries("s1")
    assert 0 < len(journal) <= 3
    spent = driven.session.database.ledger.spent("s1", journal[0].key.run)
    assert all(spent["", unit] <= most for unit, most in fuses.items())


def test_groups_that_never_meet_do_not_meet_in_a_burst(drive: Drive, world: World) -> None:
    """A hundred calls of both at once: only those of one group are made."""
    separate = (Group(name="connect", match=("dial",)), Group(name="execute", match=("act",)))
    policy = Policy(name="red", tools=ToolPolicy(default="allowed", separate=separate))

    async def do(state: Any, run: sw.Run[Any]) -> Any:
        both = [{"name": name, "args": {"what": n}} for n in range(50) for name in ("act", "dial")]
        return {"log": [each.status for each in await run.tools(both)]}

    drive(compiled(do, box=[world.tool("act"), world.tool("dial")], policy=policy)).start({})
    assert len({name for name, _ in world.effects}) == 1


PROCESS = """
import asyncio, sys
import stateward as sw
from stateward.govern.policy import Policy, Rule, ToolPolicy
from stateward.run.store.entry import CallKey, Entry
from stateward.run.store.charges import Reservation

with sw.open(sys.argv[1]) as database:
    made = 0
    for call in range(50):
        key = CallKey(session="s1", run="r1", branch="main", path="A", activation=int(sys.argv[2]), call=call)
        entry = Entry(key=key, kind="tool", name="act", fingerprint="f", arguments={}, effect="pure")
        held = [Reservation(scope="", unit="calls", amount=1, limit=20)]
        made += type(database.journal.begin(entry, reservations=held)).__name__ == "Begun"
    print(made)
"""


def test_two_processes_at_once_reserve_no_more_than_there_is(tmp_path: Path) -> None:
    """Fifty calls each, twenty between them."""
    url = f"sqlite:///{tmp_path / 'burst.db'}"
    with sw.open(url):
        pass
    command = [sys.executable, "-c", PROCESS, url]
    both = [subprocess.Popen([*command, str(no)], stdout=subprocess.PIPE, text=True, cwd=ROOT) for no in (1, 2)]
    assert sum(int(each.communicate(timeout=120)[0]) for each in both) == 20


def test_two_runs_of_one_session_at_once_are_one(drive: Drive, world: World, how: str) -> None:
    """Eight threads start the same session; the limit of one call holds for them together."""
    driven = drive(compiled(acting(1, 2, 3), box=[world.tool(effect="pure")], policy=ruled(max_calls=1), to="HELP"))

    def begin(_: int) -> None:
        with suppress(StatewardError):
            driven.start({})

    made = [threading.Thread(target=begin, args=(number,), daemon=True) for number in range(8)]
    for each in made:
        each.start()
    for each in made:
        each.join()
    assert len(world.effects) == 1


def test_a_rule_that_allows_nothing_allows_nothing_in_a_burst(drive: Drive, world: World) -> None:
    """A forbidden tool among a hundred others is not carried along."""
    rules = (Rule(match="wipe", level="forbidden"), Rule(match="act", level="allowed"))
    policy = Policy(name="red", tools=ToolPolicy(rules=rules))

    async def do(state: Any, run: sw.Run[Any]) -> Any:
        calls = [{"name": "wipe" if n % 2 else "act", "args": {"what": n}} for n in range(100)]
        return {"log": [each.status for each in await run.tools(calls)]}

    drive(compiled(do, box=[world.tool("act"), world.tool("wipe")], policy=policy)).start({})
    assert (len(world.done("act")), world.done("wipe")) == (50, [])
