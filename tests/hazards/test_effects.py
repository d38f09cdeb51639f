"""Effects around re-entry and crashes: what was done is never done again."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward.errors import Diverged
from stateward.testing import ScriptedModel
from tests.charts.drive import Driven, policy
from tests.charts.one import compiled
from tests.charts.tools import Shop

Drive = Callable[..., Driven]


def statuses(results: list[sw.ToolResult]) -> dict[str, Any]:
    return {"log": [result.status for result in results]}


@pytest.fixture
def shop() -> Shop:
    return Shop()


def asking(shop: Shop, do: Any, **rest: Any) -> Any:
    return compiled(do, box=shop.box, policy=policy("approve_refunds"), **rest)


# -- re-entry -------------------------------------------------------------------------------------------


class Fickle:
    """An activity that makes another call when it is entered again."""

    def __init__(self) -> None:
        self.visits = 0

    async def __call__(self, state: Any, run: sw.Run[Any]) -> Any:
        self.visits += 1
        await run.tool("lookup", order=f"visit {self.visits}")
        await run.tool("refund", order="A1")


def test_another_call_under_the_same_number_diverges(drive: Drive, shop: Shop) -> None:
    """A re-entered activity must repeat its calls; otherwise nothing runs and the error names both."""
    driven = drive(asking(shop, Fickle()))
    ask = driven.start({}).asks[0]
    with pytest.raises(Diverged, match="lookup"):
        driven.answer(ask)
    assert shop.effects == [("lookup", "visit 1")]


class Swallowing:
    """An activity that makes other calls when it is entered again, and takes no error for an answer."""

    def __init__(self) -> None:
        self.orders = 0

    def order(self) -> str:
        self.orders += 1
        return f"order {self.orders}"

    async def act(self, state: Any, run: sw.Run[Any]) -> Any:
        for _ in range(3):
            with contextlib.suppress(Exception):
                return statuses([await run.tool("mail", to=self.order())])

    async def act_in_batches(self, state: Any, run: sw.Run[Any]) -> Any:
        for _ in range(3):
            with contextlib.suppress(Exception):
                return statuses(await run.tools([{"name": "mail", "args": {"to": self.order()}}]))

    def act_sync(self, state: Any, run: sw.SyncRun[Any]) -> Any:
        for _ in range(3):
            with contextlib.suppress(Exception):
                return statuses([run.tool("mail", to=self.order())])


@pytest.mark.parametrize("do", ["act", "act_in_batches", "act_sync"])
def test_swallowed_divergence_makes_no_further_call(drive: Drive, do: str) -> None:
    """A `once` call that may have been made is not made again under the next number."""
    mail = Crashing("once")
    driven = drive(compiled(getattr(Swallowing(), do), box=[mail.tool], handles=["error.diverged"]))
    with pytest.raises(Crash):
        driven.start({})
    assert driven.resume().path == "HELP"
    assert len(mail.effects) == 1


def test_swallowed_divergence_of_a_model_call_makes_no_further_call(drive: Drive) -> None:
    """What a model was asked is held to the journal too."""
    shop, orders = Shop(), Swallowing()

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        with contextlib.suppress(Exception):
            await run.model().ainvoke(orders.order())
        return statuses([await run.tool("refund", order="A1")])

    model = ScriptedModel.of("one", "two")
    driven = drive(asking(shop, act, models={"m": model}, model="m", handles=["error.diverged"]))
    outcome = driven.answer(driven.start({}).asks[0])
    assert (outcome.path, shop.effects) == ("HELP", [])


# -- calls from inside a call ---------------------------------------------------------------------------


async def nine(state: Any, run: sw.Run[Any]) -> Any:
    return statuses(await run.tools([{"name": "outer", "args": {}}] * 9)) | {"number": run.number()}


@pytest.mark.parametrize("is_async", [True, False])
def test_tool_that_calls_tools_is_refused(drive: Drive, shop: Shop, is_async: Any) -> None:
    """It would wait for a place that it holds itself, and be missing when the journal answers for its caller."""

    @sw.tool(effect="idempotent", name="outer")
    async def outer() -> Any:
        """Call another."""
        return (await sw.current_run().tool("lookup", order="A1")).status

    @sw.tool(effect="idempotent", name="outer")
    def outer_sync() -> Any:
        """Call another."""
        return sw.current_run().tool("lookup", order="A1")

    driven = drive(compiled(nine, box=[outer if is_async else outer_sync, shop.lookup]))
    outcome = driven.start({})
    assert (outcome.values["log"], outcome.values["number"]) == (["failed"] * 9, 10)
    assert "no calls of its own" in driven.session.database.journal.entries("s1")[0].result["error"]["reason"]
    assert shop.effects == []


async def fail_then_refund(state: Any, run: sw.Run[Any]) -> Any:
    failed = await run.tool("broken", order="B")
    return statuses([failed, await run.tool("refund", order="A1")])


def test_failed_call_is_not_tried_again_on_re_entry(drive: Drive, shop: Shop) -> None:
    """A failed call is answered from the journal too: the activity sees what it saw before."""
    driven = drive(asking(shop, fail_then_refund))
    outcome = driven.answer(driven.start({}).asks[0])
    assert outcome.values["log"] == ["failed", "ok"]
    assert shop.done("broken") == ["B"]


# -- calls that were started before a crash -------------------------------------------------------------


async def mail_only(state: Any, run: sw.Run[Any]) -> Any:
    return statuses([await run.tool("mail", to="bo")])


class Crash(BaseException):
    """Stands for the end of the process: no code of ours catches it as an error."""


class Crashing:
    """A tool that dies with its process, before or after its effect, as often as it is told."""

    def __init__(self, effect: Any, *, times: int = 1, lookup: Any = None) -> None:
        self.left = times
        self.effects: list[str] = []

        @sw.tool(effect=effect, lookup=lookup, name="mail")
        async def mail(to: str, *, ctx: sw.ToolContext) -> str:
            """Send a mail."""
            self.effects.append(ctx.idempotency_key)
            self.left -= 1
            if self.left >= 0:
                raise Crash
            return "sent"

        self.tool = mail


def crashed(drive: Drive, mail: Crashing, **rest: Any) -> Driven:
    driven = drive(compiled(mail_only, box=[mail.tool], **rest))
    with pytest.raises(Crash):
        driven.start({})
    return driven


def test_idempotent_call_runs_again_under_its_key(drive: Drive) -> None:
    """What a crash cut off is made again with the same idempotency key."""
    mail = Crashing("idempotent")
    assert crashed(drive, mail).resume().values["log"] == ["ok"]
    assert len(mail.effects) == 2
    assert len(set(mail.effects)) == 1


def test_crash_takes_nothing_from_the_budget(drive: Drive) -> None:
    """A call that is taken up again has its reservation already, and fits under a limit of one."""
    mail = Crashing("idempotent")
    driven = crashed(drive, mail, policy=policy("one_mail"))
    assert driven.resume().values["log"] == ["ok"]


def test_once_call_asks_after_a_crash(drive: Drive) -> None:
    """A `once` call nobody can look up is not run again on its own: a person is asked."""
    mail = Crashing("once")
    outcome = crashed(drive, mail).resume()
    assert (outcome.status, len(outcome.asks)) == ("waiting", 1)
    assert len(mail.effects) == 1


@pytest.mark.parametrize(("decision", "status", "effects"), [("approve", "ok", 2), ("reject", "unknown", 1)])
def test_person_decides_about_a_call_of_unknown_end(drive: Drive, decision: str, status: str, effects: int) -> None:
    """Approved, it runs again; rejected, the activity reads that its end is unknown."""
    mail = Crashing("once")
    driven = crashed(drive, mail)
    outcome = driven.answer(driven.resume().asks[0], decision)
    assert (outcome.status, outcome.values["log"]) == ("completed", [status])
    assert len(mail.effects) == effects


def test_an_approval_to_run_again_holds_for_one_try(drive: Drive) -> None:
    """A `once` call that crashes again after its approval is asked about again."""
    mail = Crashing("once", times=2)
    driven = crashed(drive, mail)
    first = driven.resume().asks[0]
    with pytest.raises(Crash):
        driven.answer(first)
    outcome = driven.resume()
    assert len(mail.effects) == 2
    assert outcome.status == "waiting"
    assert outcome.asks != (first,)


def test_chart_may_handle_a_call_of_unknown_end(drive: Drive) -> None:
    """A transition on `unknown_after_crash` goes before the person."""
    outcome = crashed(drive, Crashing("once"), handles=["unknown_after_crash"]).resume()
    assert (outcome.status, outcome.path, outcome.asks) == ("waiting", "HELP", ())


@pytest.mark.parametrize(("found", "effects"), [("sent before", 1), (None, 2)])
def test_look_up_decides_about_a_once_call(drive: Drive, found: Any, effects: int) -> None:
    """A completed call is taken over from the look-up; one that did not happen is made."""
    mail = Crashing("once", lookup=lambda key: found)
    driven = crashed(drive, mail)
    assert driven.resume().values["log"] == ["ok"]
    assert len(mail.effects) == effects


def unreachable(key: str) -> Any:
    raise ConnectionError("no route")


def test_look_up_that_fails_leaves_the_call_unknown(drive: Drive) -> None:
    """When even the look-up cannot say, a person is asked."""
    mail = Crashing("once", lookup=unreachable)
    outcome = crashed(drive, mail).resume()
    assert (outcome.status, len(outcome.asks)) == ("waiting", 1)
