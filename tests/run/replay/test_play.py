"""A recorded run played again: the same steps, nothing called, and the first difference where something changed."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from typing_extensions import TypedDict

import stateward as sw
from stateward.testing import ManualClock, ScriptedModel
from tests.charts.drive import Driven, policy
from tests.charts.one import compiled
from tests.charts.refunds import asking, look_then_refund, look_then_refund_sync, two_refunds
from tests.charts.replayed import difference, replayed, same
from tests.charts.timed import nap, reminders
from tests.charts.tools import Shop, call
from tests.charts.waiting import waiting
from tests.charts.working import working

Drive = Callable[..., Driven]


@pytest.fixture
def shop() -> Shop:
    return Shop()


# -- the same ---------------------------------------------------------------------------------------------


def test_runs_of_a_session_come_to_the_same_step_by_step(drive: Drive) -> None:
    """Each run begins where the one before it ended, history and message marks included."""
    driven = drive(working().compile())
    driven.start({"messages": [("user", "hi")]})
    driven.start({"messages": [("user", "stop")]})
    driven.resume("resume", data={"note": "on"})
    driven.start({"messages": [("user", "again")]})
    assert [replayed(driven, run=number).steps for number in (1, 2, 3)] == [7, 6, 4]
    assert same(driven)


@pytest.mark.parametrize("do", [look_then_refund, look_then_refund_sync, two_refunds])
@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_answers_come_from_the_record_and_no_tool_is_called(drive: Drive, shop: Shop, do: Any, decision: str) -> None:
    """Asks have the same ids, and the activity reads the same answer and the same note."""
    driven = drive(asking(shop, do))
    outcome = driven.start({})
    for ask in outcome.asks[1:]:
        driven.session.claim(ask, "approve", by="bo")
    driven.answer(outcome.asks[0], decision, note="as he is a good customer")
    before = list(shop.effects)
    assert same(driven)
    assert shop.effects == before


def test_what_models_said_comes_from_the_record(drive: Drive) -> None:
    """No model is called; messages get the ids they had, also those that LangChain draws."""

    async def talk(state: Any, run: sw.Run[Any]) -> Any:
        said = await run.model().ainvoke("hello")
        return {"messages": [said, ("ai", "and more")], "log": [said]}

    model = ScriptedModel.of("good day")
    driven = drive(compiled(talk, models={"m": model}, model="m"))
    driven.start({"messages": [("user", "hi")]})
    assert same(driven)
    assert len(model.calls) == 1


class Unreachable(Exception):
    """What a provider's library raises."""


def test_model_that_failed_fails_with_the_same_words(drive: Drive) -> None:
    """The chart is told the name and the text of the error that the model raised then."""

    async def talk(state: Any, run: sw.Run[Any]) -> Any:
        await run.model().ainvoke("hello")

    model = ScriptedModel.of(Unreachable("no route"))
    driven = drive(compiled(talk, models={"m": model}, model="m", handles=["error.activity"]))
    assert driven.start({}).path == "HELP"
    assert same(driven)


@pytest.mark.parametrize("calls", [["broken"], ["lookup", "nobody"]])
def test_failures_and_refusals_of_tools_come_again(drive: Drive, shop: Shop, calls: list[str]) -> None:
    """A tool that failed, one that does not exist."""

    async def try_all(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [(await run.tool(name, order="A")).value for name in calls]}

    driven = drive(compiled(try_all, box=shop.box))
    driven.start({})
    assert same(driven)


def test_halted_run_whose_limit_was_raised_goes_on_in_the_replay(drive: Drive, shop: Shop) -> None:
    """The fuse trips as it did, and the run is opened again with the limit a person set."""

    async def two(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [(await run.tool("lookup", order=order)).status for order in "abcd"]}

    driven = drive(compiled(two, box=shop.box, policy=policy("three_calls")))
    assert driven.start({}).status == "halted"
    assert same(driven)
    row = driven.session.row()
    assert row is not None
    driven.session.database.ledger.raise_limit("s1", row.run, "WORK", "calls", 9, "ann", "a good customer")
    assert driven.resume().status == "completed"
    assert same(driven)


def test_limit_that_was_raised_before_the_end_of_a_run_is_raised_after_the_same_trip(drive: Drive, shop: Shop) -> None:
    """The chart took the fuse and waited; a person raised the limit, and the work was done again."""
    driven = drive(compiled(looks("a", "b", "c", "d"), box=shop.box, policy=policy("three_calls"), handles=["fuse"]))
    assert driven.start({}).path == "HELP"
    row = driven.session.row()
    assert row is not None
    driven.session.database.ledger.raise_limit("s1", row.run, "WORK", "calls", 9, "ann", "a good customer")
    assert driven.resume("again").status == "completed"
    assert same(driven)


def test_fuse_that_trips_in_a_batch_lets_the_same_calls_pass(drive: Drive, shop: Shop) -> None:
    """Calls of a batch race for the rest of a budget; in the replay they come in the order in which they came."""

    async def many(state: Any, run: sw.Run[Any]) -> Any:
        await run.tools([call("lookup", order=str(number)) for number in range(6)])

    driven = drive(compiled(many, box=shop.box, policy=policy("three_calls"), handles=["fuse"]))
    assert driven.start({}).path == "HELP"
    assert same(driven)


def test_failed_run_fails_the_same_way(drive: Drive) -> None:
    """What an activity raised is the run's reason again; the replay itself raises nothing."""

    def fail(state: Any) -> Any:
        raise ValueError("no")

    driven = drive(compiled(fail))
    with pytest.raises(ValueError, match="no"):
        driven.start({})
    assert same(driven)


def test_timers_fire_when_they_fired(drive: Drive, clock: ManualClock) -> None:
    """The time of each step is in the record, so that new timers are due at the same moment."""
    driven = drive(nap().compile())
    driven.start({})
    clock.advance(12.5)
    driven.resume()
    driven.resume("tired")
    clock.advance(0.1)
    driven.resume("call")
    clock.advance(60)
    assert driven.resume().path == "OUT"
    assert same(driven)


def test_events_that_were_set_for_later_and_called_off_are_the_same(drive: Drive, clock: ManualClock) -> None:
    """Typed data comes back typed."""
    driven = drive(reminders().compile())
    driven.start({})
    driven.resume("remind", data={"text": "tea", "after_s": 5, "id": "t"})
    driven.resume("remind", data={"text": "bread", "after_s": 7})
    driven.resume("forget", data={"id": "t"})
    clock.advance(8)
    assert driven.resume("end").values["log"] == ["bread"]
    assert same(driven)


def test_letters_are_taken_by_the_steps_that_took_them(drive: Drive) -> None:
    """Several before a caller's event, with those between that nobody took."""
    driven = drive(waiting().compile())
    driven.start({})
    for event, data in (("note", {"text": "a"}), ("unlock", None), ("note", {"text": "b"})):
        driven.session.database.mailbox.post("s1", event, data)
    driven.resume("note", data={"text": "c"})
    assert driven.session.outcome().values["heard"] == ["hello", "a", "b", "c"]
    assert same(driven)


def test_values_that_somebody_edited_are_put_where_they_were(drive: Drive) -> None:
    """An edit is no step of the chart: the replay goes on from what was written."""
    driven = drive(working().compile())
    driven.start({"messages": [("user", "stop")]})
    driven.session.graph.update_state(driven.session.config, {"note": "edited", "trail": ["by hand"]})
    assert driven.resume("resume", data={"note": "on"}).values["trail"][0] == "by hand"
    assert same(driven)


# -- after a crash ----------------------------------------------------------------------------------------


class Crash(BaseException):
    """Stands for the end of the process."""


def crashing(effect: Any, *, times: int = 1, lookup: Any = None) -> Any:
    left = [None] * times

    @sw.tool(effect=effect, lookup=lookup, name="mail")
    async def mail(to: str) -> str:
        """Send a mail."""
        if left:
            left.pop()
            raise Crash
        return "sent"

    return mail


async def mail_only(state: Any, run: sw.Run[Any]) -> Any:
    return {"log": [(await run.tool("mail", to="bo")).value]}


def crashed(drive: Drive, tool: Any, **rest: Any) -> Driven:
    driven = drive(compiled(mail_only, box=[tool], **rest))
    with pytest.raises(Crash):
        driven.start({})
    return driven


def test_run_that_was_resumed_after_a_crash_is_played_as_one(drive: Drive) -> None:
    """The call that was made again is in the journal once."""
    driven = crashed(drive, crashing("idempotent"))
    driven.resume()
    assert same(driven)


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_call_of_unknown_end_is_asked_about_again(drive: Drive, decision: str) -> None:
    """The same question, with the same id, and the same answer, twice if it crashed twice."""
    driven = crashed(drive, crashing("once", times=2 if decision == "approve" else 1))
    ask = driven.resume().asks[0]
    if decision == "approve":
        with pytest.raises(Crash):
            driven.answer(ask)
        ask = driven.resume().asks[0]
    driven.answer(ask, decision)
    assert same(driven)


def test_call_of_unknown_end_that_the_chart_took_is_taken_again(drive: Drive) -> None:
    """The event comes at the same call."""
    driven = crashed(drive, crashing("once"), handles=["unknown_after_crash"])
    assert driven.resume().path == "HELP"
    assert same(driven)


def test_look_up_of_the_record_is_not_asked_again(drive: Drive) -> None:
    """What it said then stands in the journal."""
    asked: list[str] = []

    def look(key: str) -> str:
        asked.append(key)
        return "sent before"

    driven = crashed(drive, crashing("once", lookup=look))
    assert driven.resume().values["log"] == ["sent before"]
    assert same(driven)
    assert len(asked) == 1


# -- what differs -----------------------------------------------------------------------------------------


class Counted(TypedDict, total=False):
    log: Annotated[list[Any], operator.add]


def counted(*steps: Any, to: str = "DONE") -> Any:
    names = [f"S{number}" for number in range(1, len(steps) + 1)]
    ways = [*names[1:], to]
    states = [sw.State(name, do=do, to=way) for name, do, way in zip(names, steps, ways, strict=True)]
    return sw.Chart("counted", Counted, *states, sw.Final("DONE"), sw.Final("GONE")).compile()


def says(word: str) -> Any:
    return lambda state: {"log": [word]}


def test_changed_activity_differs_at_its_step_in_the_key_it_writes(drive: Drive) -> None:
    """What the steps before it did is the same."""
    driven = drive(counted(says("a"), says("b"), says("c")))
    driven.start({})
    step, told = difference(driven, counted(says("a"), says("B"), says("c")))
    assert (step, told) == (2, "value of `log`: recorded ['a', 'b'], came ['a', 'B']")


def test_changed_chart_differs_at_the_transition_that_is_another(drive: Drive) -> None:
    """The way is told before what follows from it."""
    driven = drive(counted(says("a"), says("b")))
    driven.start({})
    step, told = difference(driven, counted(says("a"), says("b"), to="GONE"))
    assert (step, told) == (2, "transitions: recorded ['S2 -> DONE'], came ['S2 -> GONE']")


def test_chart_that_is_defined_otherwise_and_does_the_same_is_the_same(drive: Drive) -> None:
    """What changed is told, and is no difference."""
    driven = drive(counted(says("a")))
    driven.start({})
    more = sw.Chart("counted", Counted, sw.State("S1", do=says("a"), to="DONE"), sw.Final("DONE"), sw.Final("NEW"))
    played = replayed(driven, more.compile())
    assert played.same
    assert "chart" in played.drift


def test_activity_that_reads_what_is_not_recorded_differs_in_its_key(drive: Drive) -> None:
    """A clock, a random number: the replay names the key they went into."""
    ticks = iter(range(9))
    graph = counted(says("a"), lambda state: {"log": [next(ticks)]})
    driven = drive(graph)
    driven.start({})
    assert difference(driven, graph) == (2, "value of `log`: recorded ['a', 0], came ['a', 1]")


def looks(*orders: str) -> Any:
    async def look(state: Any, run: sw.Run[Any]) -> Any:
        for order in orders:
            await run.tool("lookup", order=order)
        return {"text": "done"}

    return look


@pytest.mark.parametrize(
    ("orders", "told"),
    [
        (
            "ax",
            "call 2 of `WORK.ACT`: recorded \"tool `lookup` with {'order': 'b'}\","
            " came \"tool `lookup` with {'order': 'x'}\"",
        ),
        ("abc", "call 3 of `WORK.ACT`: recorded 'no such call', came \"tool `lookup` with {'order': 'c'}\""),
        ("a", "call: recorded 'call 2 of `WORK.ACT`', came 'it was not made'"),
    ],
)
def test_call_that_the_record_does_not_have_is_never_made(drive: Drive, shop: Shop, orders: str, told: str) -> None:
    """Other arguments, one call more, one less: told at the step, and no tool runs."""
    driven = drive(compiled(looks("a", "b"), box=shop.box))
    driven.start({})
    assert difference(driven, compiled(looks(*orders), box=shop.box)) == (1, told)
    assert shop.effects == [("lookup", "a"), ("lookup", "b")]


def test_divergence_that_the_activity_swallows_is_told(drive: Drive, shop: Shop) -> None:
    """It ends the play, whatever the activity makes of it."""

    async def swallow(state: Any, run: sw.Run[Any]) -> Any:
        try:
            await run.tool("lookup", order="other")
        except BaseException:  # noqa: BLE001  # the worst an author can do
            return {"text": "done"}

    driven = drive(compiled(looks("a"), box=shop.box))
    driven.start({})
    assert difference(driven, compiled(swallow, box=shop.box))[1].startswith("call 1 of `WORK.ACT`")


def test_changed_policy_differs_where_it_decides_otherwise(drive: Drive, shop: Shop) -> None:
    """What was done without a person is asked about now."""

    async def refund(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [(await run.tool("refund", order="A")).status]}

    driven = drive(compiled(refund, box=shop.box))
    driven.start({})
    step, told = difference(driven, asking(shop, refund))
    assert (step, told.partition(":")[0]) == (1, "event")
    assert difference(driven, compiled(refund, box=shop.box, policy=policy("forbids_refunds")))[0] == 1


def test_changed_decision_is_told_although_the_state_is_the_same(drive: Drive, shop: Shop) -> None:
    """An activity that does not look at what came of its call."""

    async def refund(state: Any, run: sw.Run[Any]) -> Any:
        await run.tool("refund", order="A")

    driven = drive(compiled(refund, box=shop.box))
    driven.start({})
    step, told = difference(driven, compiled(refund, box=shop.box, policy=policy("forbids_refunds")))
    assert (step, told.partition(":")[0]) == (1, "decision about call 1, `refund`")


def test_renamed_state_is_a_difference_and_no_error(drive: Drive) -> None:
    """A record whose states the chart does not have."""
    driven = drive(working().compile())
    driven.start({"messages": [("user", "stop")]})
    driven.resume("resume", data={"note": "on"})
    assert replayed(driven, counted(says("a"))).divergence is not None
