"""The door: fuses, refusals, batches, and what is kept of a call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward.errors import CheckpointError
from stateward.run.door.activation import Activation
from stateward.run.door.door import FAN_OUT
from stateward.run.store.database import Database
from stateward.run.store.entry import Entry
from tests.charts.drive import Driven, policy
from tests.charts.one import compiled
from tests.charts.refunds import (
    asking,
    look_then_refund,
    look_then_refund_sync,
    statuses,
    two_refunds,
)
from tests.charts.tools import Shop, call

Drive = Callable[..., Driven]


@pytest.fixture
def shop() -> Shop:
    return Shop()


# -- asks ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("do", [look_then_refund, look_then_refund_sync])
def test_approved_call_runs_exactly_once(drive: Drive, shop: Shop, do: Any) -> None:
    """After the approval the activity is entered again; its first call comes from the journal."""
    driven = drive(asking(shop, do))
    outcome = driven.answer(driven.start({"text": "x"}).asks[0])
    assert (outcome.status, outcome.values["log"]) == ("completed", ["ok", {"refunded": "A1"}])
    assert shop.effects == [("lookup", "A1"), ("refund", "A1")]


# -- what no activity can swallow -----------------------------------------------------------------------


async def swallow_ask(state: Any, run: sw.Run[Any]) -> Any:
    try:
        await run.tool("refund", order="A1")
    except BaseException:  # noqa: BLE001  # the worst an author can do
        return {"log": ["swallowed"]}
    return {"log": ["paid"]}


def swallow_ask_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    try:
        run.tool("refund", order="A1")
    except BaseException:  # noqa: BLE001  # the worst an author can do
        return {"log": ["swallowed"]}
    return {"log": ["paid"]}


@pytest.mark.parametrize("do", [swallow_ask, swallow_ask_sync])
def test_swallowed_ask_still_asks(drive: Drive, shop: Shop, do: Any) -> None:
    """An activity that catches everything is suspended all the same."""
    driven = drive(asking(shop, do))
    outcome = driven.start({"text": "x"})
    assert (outcome.status, len(outcome.asks)) == ("waiting", 1)
    assert driven.answer(outcome.asks[0]).values["log"] == ["paid"]


# -- fuses ----------------------------------------------------------------------------------------------


async def four_lookups(state: Any, run: sw.Run[Any]) -> Any:
    for number in range(4):
        try:
            await run.tool("lookup", order=str(number))
        except BaseException:  # noqa: BLE001  # the worst an author can do
            return {"log": ["swallowed"]}
    return {"log": ["done"]}


def test_fuse_on_calls_trips_before_the_call(drive: Drive, shop: Shop) -> None:
    """The fourth call under a fuse of three never happens, and the chart takes the event."""
    outcome = drive(compiled(four_lookups, box=shop.box, policy=policy("three_calls"), handles=["fuse"])).start({})
    assert (outcome.status, outcome.path) == ("waiting", "HELP")
    assert len(shop.effects) == 3
    assert "log" not in outcome.values or outcome.values["log"] == []


def test_unhandled_fuse_halts_the_run(drive: Drive, shop: Shop) -> None:
    """Without a transition for it, a fuse ends the run as halted, with its reason."""
    driven = drive(compiled(four_lookups, box=shop.box, policy=policy("three_calls")))
    outcome = driven.start({})
    assert (outcome.status, outcome.reason["event"]) == ("halted", "fuse.calls")
    assert driven.session.database.sessions.terminals("s1")[0].status == "halted"


# -- refusals are observations --------------------------------------------------------------------------


async def undeclared(state: Any, run: sw.Run[Any]) -> Any:
    result = await run.tool("refund", order="A1")
    return {"log": [result.status, result.value["error"]["reason"]]}


def test_undeclared_tool_is_denied_with_the_known_ones(drive: Drive, shop: Shop) -> None:
    """A state may only use what it declares; the model reads which tools that are."""
    outcome = drive(compiled(undeclared, box=shop.box, tools=["lookup"])).start({})
    assert outcome.values["log"][0] == "denied"
    assert "lookup" in outcome.values["log"][1]


def test_forbidden_tool_is_denied(drive: Drive, shop: Shop) -> None:
    """A forbidden tool is an observation, not an exception."""
    outcome = drive(compiled(undeclared, box=shop.box, policy=policy("forbids_refunds"))).start({})
    assert outcome.values["log"][0] == "denied"
    assert shop.effects == []


async def wrong_arguments(state: Any, run: sw.Run[Any]) -> Any:
    result = await run.tool("refund", order="A1", eur="much", extra=1)
    return {"log": [result.status, result.value["error"]["reason"]]}


def test_invalid_arguments_never_reach_the_tool(drive: Drive, shop: Shop) -> None:
    """Arguments are validated at the door; the observation names each problem."""
    outcome = drive(compiled(wrong_arguments, box=shop.box)).start({})
    assert outcome.values["log"][0] == "invalid"
    assert "eur" in outcome.values["log"][1]
    assert "extra" in outcome.values["log"][1]


async def opaque_arguments(state: Any, run: sw.Run[Any]) -> Any:
    return statuses([await run.tool("lookup", order=object()), await run.tool("nobody", order=object())])


def test_arguments_that_are_no_json_are_an_observation(drive: Drive, shop: Shop) -> None:
    """They are refused as any wrong argument, and the audit log can keep them."""
    outcome = drive(compiled(opaque_arguments, box=shop.box)).start({})
    assert outcome.values["log"] == ["invalid", "denied"]


async def lookup_twice(state: Any, run: sw.Run[Any]) -> Any:
    return statuses([await run.tool("lookup", order="A"), await run.tool("lookup", order="B")])


def test_per_tool_limit_denies_the_next_call(drive: Drive, shop: Shop) -> None:
    """`max_calls` of one tool is an observation, so that the model can go on without it."""
    outcome = drive(compiled(lookup_twice, box=shop.box, policy=policy("one_lookup"))).start({})
    assert outcome.values["log"] == ["ok", "denied"]


async def failing_tool(state: Any, run: sw.Run[Any]) -> Any:
    result = await run.tool("broken", order="A")
    return {"log": [result.status, result.value["error"]["reason"]]}


def test_failing_tool_is_an_observation(drive: Drive, shop: Shop) -> None:
    """What a tool raises goes back to the activity."""
    outcome = drive(compiled(failing_tool, box=shop.box)).start({})
    assert outcome.values["log"] == ["failed", "ConnectionError: no route"]


@sw.tool(effect="idempotent", timeout_s=0.001)
async def slow() -> None:
    """Never end."""
    await asyncio.Event().wait()


async def call_slow(state: Any, run: sw.Run[Any]) -> Any:
    return statuses([await run.tool("slow")])


def test_tool_that_takes_too_long_is_a_timeout(drive: Drive) -> None:
    """The observation says that the tool timed out."""
    assert drive(compiled(call_slow, box=[slow])).start({}).values["log"] == ["timeout"]


@sw.tool(effect="pure")
def opaque() -> object:
    """Return what is no JSON."""
    return float("nan")


async def call_opaque(state: Any, run: sw.Run[Any]) -> Any:
    return statuses([await run.tool("opaque")])


def test_result_that_is_no_json_is_a_failed_call(drive: Drive) -> None:
    """A tool whose result cannot be kept is told as failed; the session lives."""
    outcome = drive(compiled(call_opaque, box=[opaque])).start({})
    assert (outcome.status, outcome.values["log"]) == ("completed", ["failed"])


# -- batches --------------------------------------------------------------------------------------------


class Gates:
    """Async tools that end in an order the test decides."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.running = 0
        self.most = 0

    @property
    def step(self) -> Any:
        @sw.tool(effect="idempotent")
        async def step(label: str, turns: int = 0, after: str = "") -> str:
            """End after some turns of the loop, or after another."""
            self.running += 1
            self.most = max(self.most, self.running)
            for _ in range(turns):
                await asyncio.sleep(0)
            while after and after not in self.order:
                await asyncio.sleep(0)
            self.running -= 1
            self.order.append(label)
            return label

        return step


async def unequal(state: Any, run: sw.Run[Any]) -> Any:
    calls = [call("step", label="slow", after="fast"), call("step", label="fast")]
    return {"log": [result.value for result in await run.tools(calls)]}


def test_results_of_a_batch_are_in_call_order(drive: Drive) -> None:
    """Whatever ends first, results come back as they were called."""
    gates = Gates()
    outcome = drive(compiled(unequal, box=[gates.step])).start({})
    assert gates.order == ["fast", "slow"]
    assert outcome.values["log"] == ["slow", "fast"]


async def many(state: Any, run: sw.Run[Any]) -> Any:
    results = await run.tools([call("step", label=str(n), turns=20) for n in range(20)])
    return {"number": len(results)}


def test_fan_out_is_capped(drive: Drive) -> None:
    """A batch of twenty runs at most eight calls at a time, and all of them."""
    gates = Gates()
    outcome = drive(compiled(many, box=[gates.step])).start({})
    assert outcome.values["number"] == 20
    assert gates.most <= FAN_OUT


async def four_at_once(state: Any, run: sw.Run[Any]) -> Any:
    return statuses(await run.tools([call("lookup", order=str(n)) for n in range(4)]))


def test_per_tool_limit_holds_in_a_batch(drive: Drive, shop: Shop) -> None:
    """One of four calls at once runs; the others are observations as they would be one after the other."""
    outcome = drive(compiled(four_at_once, box=shop.box, policy=policy("one_lookup"))).start({})
    assert sorted(outcome.values["log"]) == ["denied", "denied", "denied", "ok"]
    assert len(shop.effects) == 1


async def eight_at_once(state: Any, run: sw.Run[Any]) -> Any:
    return statuses(await run.tools([call("lookup", order=str(n)) for n in range(8)]))


def test_fuse_on_calls_holds_in_a_batch(drive: Drive, shop: Shop) -> None:
    """However many ask at once, no more than three run."""
    outcome = drive(compiled(eight_at_once, box=shop.box, policy=policy("three_calls"))).start({})
    assert (outcome.status, outcome.reason["event"]) == ("halted", "fuse.calls")
    assert len(shop.effects) == 3


async def mixed(state: Any, run: sw.Run[Any]) -> Any:
    return statuses(await run.tools([call("broken", order="B"), call("lookup", order="L"), call("refund", order="R")]))


def test_failing_sibling_loses_nothing(drive: Drive, shop: Shop) -> None:
    """Each call of a batch ends on its own."""
    outcome = drive(compiled(mixed, box=shop.box)).start({})
    assert outcome.values["log"] == ["failed", "ok", "ok"]


async def gathered(state: Any, run: sw.Run[Any]) -> Any:
    await asyncio.gather(run.tool("refund", order="A1"), run.tool("step", label="s", turns=20_000))
    return {"log": ["both"]}


def test_calls_an_author_gathers_end_before_the_step_commits(drive: Drive, shop: Shop) -> None:
    """A call that runs beside one that asks is neither orphaned nor made twice."""
    gates = Gates()
    driven = drive(compiled(gathered, box=[shop.refund, gates.step], policy=policy("approve_refunds")))
    ask = driven.start({}).asks[0]
    assert driven.session.database.journal.unfinished("s1") == ()
    assert driven.answer(ask).values["log"] == ["both"]
    assert gates.order == ["s"]


# -- what is kept ---------------------------------------------------------------------------------------


def test_journal_refuses_to_settle_twice(database: Database) -> None:
    """A closed entry is never opened again."""
    activation = Activation(session="s", run="r", branch="main", path="A", number=1)
    entry = Entry(key=activation.key(1), kind="tool", name="t", fingerprint="f", arguments={}, effect="pure")
    database.journal.begin(entry)
    database.journal.settle(entry.key, status="completed", result=1)
    with pytest.raises(CheckpointError):
        database.journal.settle(entry.key, status="completed", result=2)


def test_secrets_are_redacted_before_they_are_kept(drive: Drive) -> None:
    """A key in a result reaches neither journal nor state."""

    @sw.tool(effect="pure")
    def peek() -> str:
        """Show a key."""
        return "key sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD"

    async def look(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [(await run.tool("peek")).text]}

    driven = drive(compiled(look, box=[peek]))
    assert "sk-abcdef" not in driven.start({}).values["log"][0]
    (entry,) = driven.session.database.journal.entries("s1")
    assert "sk-abcdef" not in entry.result


def test_audit_log_holds_after_a_run_with_asks(drive: Drive, shop: Shop) -> None:
    """The hash chain over all that happened verifies."""
    driven = drive(asking(shop, two_refunds))
    for ask in driven.start({}).asks:
        driven.answer(ask)
    assert driven.session.database.audit.verify() > 0
