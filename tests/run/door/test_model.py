"""Governed models: every call is bounded, counted, journaled and shown no more than its window."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from threading import Event
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables.config import var_child_runnable_config

import stateward as sw
from stateward.errors import DefinitionError, FuseTripped
from stateward.run.door.model import GovernedModel
from stateward.testing import ScriptedModel, calls
from tests.charts.drive import Driven, policy
from tests.charts.one import compiled
from tests.charts.talk import say, say_sync, talk
from tests.charts.tools import Shop

Drive = Callable[..., Driven]


def priced(*replies: Any, **other: Any) -> sw.ModelRole:
    prices = {"usd_per_million_input": 10.0, "usd_per_million_output": 10.0, "max_output_tokens": 100}
    return sw.ModelRole(**{"name": "voice", "model": ScriptedModel.of(*replies)} | prices | other)


@pytest.mark.parametrize("do", [say, say_sync])
def test_fuse_on_turns_trips_before_the_call(drive: Drive, do: Any) -> None:
    """The third turn under a fuse of two is never sent; the chart takes the event."""
    model = ScriptedModel.of("one", "two", "three")
    outcome = drive(talk(model, do=do, policy=policy("two_turns"), handles=("fuse",))).start({})
    assert (outcome.status, outcome.path) == ("waiting", "HELP")
    assert len(model.calls) == 2


def test_unhandled_fuse_on_turns_halts(drive: Drive) -> None:
    """Without a transition the run halts with its reason."""
    outcome = drive(talk(ScriptedModel.of("one", "two", "three"), policy=policy("two_turns"))).start({})
    assert (outcome.status, outcome.reason["event"]) == ("halted", "fuse.turns")
    assert outcome.values["said"] == ["one", "two"]


async def swallow(state: Any, run: sw.Run[Any]) -> Any:
    try:
        await run.model().ainvoke("go on")
    except BaseException:  # noqa: BLE001  # the worst an author can do
        return {"said": ["swallowed"]}
    return {"said": ["more"]}


def test_swallowed_fuse_still_trips(drive: Drive) -> None:
    """An activity that catches the error is ended all the same."""
    outcome = drive(talk(ScriptedModel.of("a", "b", "c"), do=swallow, policy=policy("two_turns"))).start({})
    assert (outcome.status, outcome.values["said"]) == ("halted", ["more", "more"])


def test_fuse_holds_over_runs_of_one_state_entered_again(drive: Drive) -> None:
    """Coming back after the fuse gives no new allowance."""
    model = ScriptedModel.of("one", "two", "three")
    driven = drive(talk(model, policy=policy("two_turns"), handles=("fuse",)))
    driven.start({})
    assert driven.resume("again").path == "HELP"
    assert len(model.calls) == 2


def test_new_run_has_a_new_allowance(drive: Drive) -> None:
    """Limits belong to the run; a second input opens another."""
    driven = drive(talk(ScriptedModel.of("one", "bye", "two", "bye"), policy=policy("two_turns")))
    assert driven.start({}).status == "completed"
    assert driven.start({}).values["said"] == ["one", "bye", "two", "bye"]


def test_money_fuse_forces_the_bound_into_the_request(drive: Drive) -> None:
    """The output limit the reservation counts with is sent to the provider."""
    seen: list[Any] = []

    class Watching(ScriptedModel):
        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
            seen.append(kwargs)
            return super()._generate(messages, stop, run_manager, **kwargs)

    role = priced(model=Watching.of("bye"))
    assert drive(talk(role, policy=policy("one_cent"))).start({}).status == "completed"
    assert seen == [{"max_tokens": 100}]


async def greedy(state: Any, run: sw.Run[Any]) -> Any:
    reply = await run.model().ainvoke("go on", max_tokens=1_000_000)
    return {"said": [reply.text]}


def test_activity_cannot_widen_the_bound(drive: Drive) -> None:
    """An activity that asks for more output gets the role's limit, so the call fits under the fuse."""
    assert drive(talk(priced("bye"), do=greedy, policy=policy("one_cent"))).start({}).status == "completed"


def test_call_that_could_pass_the_money_fuse_is_not_made(drive: Drive) -> None:
    """What a call may cost at most is decided before it is sent."""
    role = priced("bye", max_output_tokens=2000)
    outcome = drive(talk(role, policy=policy("one_cent"))).start({})
    assert (outcome.status, outcome.reason["event"]) == ("halted", "fuse.usd")
    assert role.model.calls == ()


def test_unpriced_model_is_refused_under_a_money_fuse(drive: Drive) -> None:
    """A cost that cannot be bounded is refused while a money fuse is set."""
    model = ScriptedModel.of("bye")
    outcome = drive(talk(model, policy=policy("one_cent"))).start({})
    assert (outcome.status, outcome.reason["event"]) == ("halted", "fuse.policy")
    assert model.calls == ()


def test_unpriced_model_is_free_to_talk_without_a_money_fuse(drive: Drive) -> None:
    """No price is asked for where nothing limits money."""
    assert drive(talk(ScriptedModel.of("bye"), policy=policy("two_turns"))).start({}).status == "completed"


def test_settled_cost_takes_the_place_of_the_bound(drive: Drive) -> None:
    """The ledger holds what the provider counted, not what was reserved."""
    driven = drive(talk(priced("bye"), policy=policy("one_cent")))
    driven.start({})
    row = driven.session.row()
    assert driven.session.database.ledger.spent("s1", run=row.run)[("TALK", "usd")] == pytest.approx(150e-6)
    assert (row.turns, row.tokens) == (1, 15)


def test_reply_without_usage_is_charged_as_reserved(drive: Drive) -> None:
    """An unknown cost is never counted as none."""

    class Silent(ScriptedModel):
        def _generate(self, *args: Any, **kwargs: Any) -> Any:
            result = super()._generate(*args, **kwargs)
            result.generations[0].message.usage_metadata = None
            return result

    driven = drive(talk(priced(model=Silent.of("bye")), policy=policy("one_cent")))
    driven.start({})
    assert driven.session.database.ledger.spent("s1", run=driven.session.row().run)[("TALK", "usd")] >= 1e-3


# -- journaling -----------------------------------------------------------------------------------------


class Crash(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("sync", [False, True])
def test_crash_after_the_model_call_does_not_pay_twice(drive: Drive, sync: bool) -> None:
    """A re-entered activity gets the completion that was paid for."""
    left = [1]

    def dying(state: Any, run: sw.SyncRun[Any]) -> Any:
        reply = run.model().invoke("hi")
        if left.pop() if left else 0:
            raise Crash
        return {"said": [reply.text]}

    async def adying(state: Any, run: sw.Run[Any]) -> Any:
        reply = await run.model().ainvoke("hi")
        if left.pop() if left else 0:
            raise Crash
        return {"said": [reply.text]}

    model = ScriptedModel.of("bye")
    driven = drive(talk(model, do=dying if sync else adying))
    with pytest.raises(Crash):
        driven.start({})
    assert driven.resume().values["said"] == ["bye"]
    assert (len(model.calls), driven.session.row().turns) == (1, 1)


def test_call_cut_off_by_a_crash_takes_no_second_turn(drive: Drive) -> None:
    """Taken up again, a call needs no more of the fuse than it has reserved."""

    def die(messages: Any) -> str:
        raise Crash

    model = ScriptedModel.of("one", die, "bye")
    driven = drive(talk(model, do=say_sync, policy=policy("two_turns")))
    with pytest.raises(Crash):
        driven.start({})
    assert driven.resume().values["said"] == ["one", "bye"]


async def plan_then_pay(state: Any, run: sw.Run[Any]) -> Any:
    planned = await run.model().bind_tools([run_schema]).ainvoke([("user", state["text"])])
    results = await run.tools(planned.tool_calls)
    return {"log": [result.status for result in results] + [result.call_id for result in results]}


run_schema = {"name": "refund", "description": "Pay back.", "parameters": {"type": "object", "properties": {}}}


def test_calls_of_a_model_are_answered_from_the_journal_after_an_ask(drive: Drive) -> None:
    """The model that planned a restricted call is not asked again when a person has approved it."""
    shop, model = Shop(), ScriptedModel.of(calls(("lookup", {"order": "A"}), ("refund", {"order": "A"})))
    graph = compiled(plan_then_pay, box=shop.box, models={"m": model}, model="m", policy=policy("approve_refunds"))
    driven = drive(graph)
    outcome = driven.answer(driven.start({"text": "pay"}).asks[0])
    assert outcome.values["log"] == ["ok", "ok", "call_1", "call_2"]
    assert len(model.calls) == 1


async def fall_back(state: Any, run: sw.Run[Any]) -> Any:
    try:
        said = (await run.model().ainvoke("hi")).text
    except Exception:  # noqa: BLE001  # any failure of the provider
        said = "fallback"
    paid = await run.tool("refund", order="A")
    return {"log": [said, paid.status]}


def test_failed_model_call_fails_again_on_re_entry(drive: Drive) -> None:
    """What the activity saw first it sees again: the failure is in the journal and the session lives."""
    shop, model = Shop(), ScriptedModel.of(ConnectionError("down"), "never")
    graph = compiled(fall_back, box=shop.box, models={"m": model}, model="m", policy=policy("approve_refunds"))
    driven = drive(graph)
    outcome = driven.answer(driven.start({}).asks[0])
    assert outcome.values["log"] == ["fallback", "ok"]
    assert len(model.calls) == 1


def test_failing_model_is_the_activitys_exception(drive: Drive) -> None:
    """A provider's error that the activity lets through becomes `error.activity`."""
    outcome = drive(talk(ScriptedModel.of(ConnectionError("down")), handles=("error.activity",))).start({})
    assert outcome.path == "HELP"


# -- what a model is shown ------------------------------------------------------------------------------


async def long_talk(state: Any, run: sw.Run[Any]) -> Any:
    messages = [("system", "be kind"), *(("user", f"m{n}") for n in range(10))]
    return {"said": [(await run.model().ainvoke(messages)).text]}


def test_window_of_the_policy_prunes_what_is_sent(drive: Drive) -> None:
    """The model is shown the system prompt, a summary and the last messages."""
    model = ScriptedModel.of("bye")
    drive(talk(model, do=long_talk, policy=policy("short_window"))).start({})
    (sent,) = model.calls
    assert sent[0].type == "system"
    assert [message.text for message in sent][-2:] == ["m8", "m9"]
    assert len(sent) == 4


def test_undeclared_model_is_refused(drive: Drive) -> None:
    """A state without `model=` gets none."""

    async def ask(state: Any, run: sw.Run[Any]) -> Any:
        run.model()

    with pytest.raises(DefinitionError, match="declares"):
        drive(compiled(ask)).start({})


def test_restored_message_is_whole(drive: Drive) -> None:
    """A completion from the journal has its tool calls, usage and content."""
    left = [1]
    seen: list[AIMessage] = []

    async def dying(state: Any, run: sw.Run[Any]) -> Any:
        seen.append(await run.model().ainvoke("hi"))
        if left.pop() if left else 0:
            raise Crash
        return {"said": ["bye"]}

    driven = drive(talk(ScriptedModel.of(calls(("lookup", {"order": "A"}), text="look")), do=dying))
    with pytest.raises(Crash):
        driven.start({})
    driven.resume()
    first, second = seen
    assert (first.content, first.tool_calls, first.usage_metadata) == (
        second.content,
        second.tool_calls,
        second.usage_metadata,
    )


def test_fuse_reaches_the_activity_as_its_own_error(drive: Drive) -> None:
    """The activity may clean up on `FuseTripped`; it ends all the same."""
    seen: list[str] = []

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        try:
            return {"said": [(await run.model().ainvoke("go on")).text]}
        except FuseTripped as tripped:
            seen.append(str(tripped))
            return {"said": ["no"]}

    outcome = drive(talk(ScriptedModel.of("a", "b"), do=act, policy=policy("two_turns"))).start({})
    assert (outcome.status, outcome.values["said"], len(seen)) == ("halted", ["a", "b"], 1)


@pytest.fixture
def never() -> Iterator[Event]:
    """What a model waits for; it comes when the test is over."""
    event = Event()
    yield event
    event.set()


@pytest.mark.parametrize("do", [say, say_sync])
def test_model_that_takes_too_long_is_cut_off(drive: Drive, do: Any, never: Event) -> None:
    """`call_timeout_s` holds for every call; the thread of a model that blocks is left to itself."""
    model = ScriptedModel.of(lambda _: str(never.wait(60)))
    driven = drive(talk(model, do=do, policy=policy("quick_calls"), handles=("error.activity",)))
    assert driven.start({}).path == "HELP"
    assert driven.control["event"]["data"]["type"] == "TimeoutError"
    assert not never.is_set()


def test_awaited_model_that_takes_too_long_is_cut_off(drive: Drive) -> None:
    """A model with an awaitable form of its own is cancelled."""

    class Slow(ScriptedModel):
        async def _agenerate(self, *args: Any, **kwargs: Any) -> Any:
            await asyncio.Event().wait()

    driven = drive(talk(Slow.of("bye"), policy=policy("quick_calls"), handles=("error.activity",)))
    assert driven.start({}).path == "HELP"
    assert driven.control["event"]["data"]["type"] == "TimeoutError"


@pytest.mark.parametrize("do", [say, say_sync])
def test_model_in_a_thread_sees_the_context_of_its_activity(drive: Drive, do: Any) -> None:
    """A limit in time does not take the context variables away."""
    seen: list[bool] = []

    def look(messages: Any) -> str:
        seen.append(var_child_runnable_config.get() is not None)
        return "bye"

    assert drive(talk(ScriptedModel.of(look), do=do, policy=policy("patient_calls"))).start({}).status == "completed"
    assert seen == [True]


LOOK: dict[str, Any] = {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}


async def offered(state: Any, run: sw.Run[Any]) -> Any:
    model = run.model()
    assert isinstance(model, GovernedModel)
    return {"said": [(await model.offered([LOOK], [HumanMessage("go on")])).text]}


async def bound(state: Any, run: sw.Run[Any]) -> Any:
    return {"said": [(await run.model().bind_tools([LOOK]).ainvoke([HumanMessage("go on")])).text]}


def test_tools_are_offered_as_bound_ones_are(drive: Drive) -> None:
    """The model gets the same, and the journal knows the call by the same fingerprint."""
    asked: list[Any] = []
    for do in (offered, bound):
        model = ScriptedModel.of("bye")
        driven = drive(talk(model, do=do))
        driven.start({})
        entry = driven.session.database.journal.entries("s1")[-1]
        asked.append((entry.fingerprint, entry.arguments, model.calls))
    assert asked[0] == asked[1]
