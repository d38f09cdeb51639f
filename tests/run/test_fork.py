"""Answers and calls to the past: they fork, and what they cause is caused once on each branch (HAZARDS 13)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langgraph.types import Command

import stateward as sw
from stateward.errors import CheckpointError, InputRefused, NotExpected
from stateward.run.store.database import Database
from stateward.run.travel import Timeline
from stateward.testing import run_graph
from tests.charts.beside import Beside, compiled_beside
from tests.charts.drive import Driven, policy
from tests.charts.refunds import asking, look_then_refund, two_refunds
from tests.charts.tools import Shop
from tests.charts.waiting import waiting

Drive = Callable[..., Driven]


@pytest.fixture
def database() -> Iterator[Database]:
    """A fresh database in memory; what came before a checkpoint is told by the time, so the clock is the machine's."""
    with sw.open("memory:") as opened:
        yield opened


def at_ask(driven: Driven) -> Any:
    """The config of the first checkpoint that asks."""
    return next(one.config for one in driven.checkpoints if one.values.get("stateward", {}).get("asks"))


def to_past(driven: Driven, config: Any, payload: Any) -> Any:
    return run_graph(driven.session.graph, payload, how=driven.how, config=config)


def answer(ask: str, decision: str = "approve") -> Command[Any]:
    return Command(resume={"answers": {ask: {"decision": decision, "by": "ann"}}})


def refunded(drive: Drive, shop: Shop, do: Any = look_then_refund) -> tuple[Driven, str]:
    """A session in which a person approved a refund, and that has ended."""
    driven = drive(asking(shop, do))
    ask = driven.start({"log": []}).asks[0]
    assert driven.answer(ask).status == "completed"
    return driven, ask


def branch(driven: Driven) -> str:
    return driven.control["branch"]


def test_an_answer_to_the_past_is_the_one_that_is_taken(drive: Drive) -> None:
    """The recorded approval is not replayed: this time the person rejects."""
    shop = Shop()
    driven, ask = refunded(drive, shop)
    values = to_past(driven, at_ask(driven), answer(ask, "reject"))
    assert (values["log"][0], branch(driven), driven.session.outcome().status) == ("rejected", "main.1", "completed")


def test_calls_before_the_fork_are_known_and_those_after_it_are_new(drive: Drive) -> None:
    """What was looked up stays looked up; the second approval is another refund, under a key of its own."""
    shop = Shop()
    driven, ask = refunded(drive, shop)
    to_past(driven, at_ask(driven), answer(ask))
    assert (shop.done("lookup"), shop.done("refund"), len(set(shop.keys))) == (["A1"], ["A1", "A1"], 2)


def test_each_answer_to_the_past_is_a_branch_of_its_own(drive: Drive) -> None:
    """Three answers to one checkpoint: three branches, three refunds, each approved once."""
    shop = Shop()
    driven, ask = refunded(drive, shop)
    config = at_ask(driven)
    names = [(to_past(driven, config, answer(ask)), branch(driven))[1] for _ in range(3)]
    assert (names, len(set(shop.keys))) == (["main.1", "main.2", "main.3"], 4)


def test_going_on_from_the_past_asks_again(drive: Drive) -> None:
    """Nobody has answered on the new branch; its ask is another one, and one answer leads on."""
    shop = Shop()
    driven, ask = refunded(drive, shop)
    to_past(driven, at_ask(driven), None)
    outcome = driven.session.outcome()
    assert (outcome.status, outcome.asks != (ask,), shop.done("refund")) == ("waiting", True, ["A1"])
    assert driven.answer(outcome.asks[0]).status == "completed"
    assert len(shop.done("refund")) == 2


def test_an_approval_of_a_batch_holds_for_its_own_call(drive: Drive) -> None:
    """Two questions at once: the one that is answered in the past leads to nothing while the other stands open."""
    shop = Shop()
    driven = drive(asking(shop, two_refunds))
    first, second = driven.start({"log": []}).asks
    for ask in (first, second):
        driven.session.claim(ask, "approve", by="ann")
    driven.resume()
    to_past(driven, at_ask(driven), answer(second, "reject"))
    assert (len(driven.session.outcome().asks), len(shop.done("refund"))) == (2, 2)
    open_ask = driven.session.database.asks.open("s1")[0]
    assert driven.answer(open_ask.id).values["log"] == ["ok", "ok", "rejected"]
    assert (shop.done("lookup"), sorted(shop.done("refund"))) == (["L"], ["A1", "A1", "A2"])


def test_an_event_to_the_past_is_taken_where_it_was_awaited(drive: Drive) -> None:
    """The line that was there stays as it is."""
    driven = drive(waiting().compile())
    driven.start({})
    open_at = driven.session.graph.get_state(driven.session.config).config
    driven.resume("lock")
    to_past(driven, open_at, Command(resume={"event": "note", "data": {"text": "b"}}))
    outcome = driven.session.outcome()
    assert (outcome.path, outcome.values["heard"], branch(driven)) == ("OPEN", ["hello", "b"], "main.1")


def test_a_refused_answer_to_the_past_changes_nothing(drive: Drive) -> None:
    """No checkpoint, no branch, no open question."""
    driven, _ = refunded(drive, Shop())
    before = len(driven.checkpoints)
    with pytest.raises(NotExpected):
        to_past(driven, at_ask(driven), Command(resume="nope"))
    assert (len(driven.checkpoints), driven.session.database.asks.open("s1")) == (before, ())
    to_past(driven, at_ask(driven), None)
    assert branch(driven) == "main.1"


def test_a_running_step_is_run_again_from_the_past(drive: Drive) -> None:
    """Its effects are those of the branch; the session goes on there."""
    shop = Shop()
    driven, _ = refunded(drive, shop)
    began = next(one for one in driven.checkpoints if one.next == ("WORK.ACT",))
    to_past(driven, began.config, None)
    assert (shop.done("lookup"), driven.session.outcome().status) == (["A1", "A1"], "waiting")


def test_naming_the_latest_checkpoint_is_no_fork(drive: Drive) -> None:
    """Studio sends its id along with every answer."""
    shop = Shop()
    driven = drive(asking(shop))
    ask = driven.start({"log": []}).asks[0]
    to_past(driven, driven.session.graph.get_state(driven.session.config).config, answer(ask))
    assert (branch(driven), driven.session.outcome().status) == ("main", "completed")


def test_the_end_of_another_branch_goes_on_there(drive: Drive) -> None:
    """A branch that waits is not forked by going on with it."""
    driven = drive(waiting().compile())
    driven.start({})
    past = driven.session.graph.get_state(driven.session.config).config
    driven.resume("lock")
    locked = driven.session.graph.get_state(driven.session.config).config
    to_past(driven, past, None)
    to_past(driven, locked, Command(resume="unlock"))
    assert (branch(driven), driven.session.outcome().values["heard"]) == ("main", ["hello", "hello"])


def test_an_edit_of_the_past_forks(drive: Drive) -> None:
    """What is called on the edited line is called anew, and not taken from the other line's journal."""
    shop = Shop()
    driven, _ = refunded(drive, shop)
    graph = driven.session.graph
    edited = graph.update_state(at_ask(driven), {"number": 7})
    asked = to_past(driven, edited, None)["__interrupt__"][0].value["asks"]
    to_past(driven, edited, answer(asked[0]["id"]))
    assert (branch(driven), driven.session.outcome().values["number"], len(shop.done("refund"))) == ("main.1", 7, 2)


def test_an_edit_of_the_past_that_is_refused_leaves_no_question(drive: Drive) -> None:
    """Neither a checkpoint nor an ask is left."""
    driven, _ = refunded(drive, Shop())
    before = len(driven.checkpoints)
    with pytest.raises(InputRefused):
        driven.session.graph.update_state(at_ask(driven), {"nobody": 7})
    assert (len(driven.checkpoints), driven.session.database.asks.open("s1")) == (before, ())


def test_a_fork_that_could_not_be_written_leaves_nothing(drive: Drive, monkeypatch: pytest.MonkeyPatch) -> None:
    """The session is where it was, its question is not put, and nothing was called."""
    shop = Shop()
    driven, ask = refunded(drive, shop)
    past, before = at_ask(driven), driven.session.outcome()

    def full(*args: Any, **kwargs: Any) -> Any:
        raise CheckpointError("The disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(driven.session.database.saver.__class__, "put", full)
        with pytest.raises(CheckpointError):
            to_past(driven, past, None)
    assert (driven.session.outcome(), driven.session.database.asks.open("s1")) == (before, ())
    assert to_past(driven, past, answer(ask))["log"][0] == "ok"
    assert (shop.done("lookup"), len(shop.done("refund"))) == (["A1"], 2)


def test_a_copy_of_the_past_forks(drive: Drive) -> None:
    """LangGraph's own way to fork: a copy of an old checkpoint becomes the latest one."""
    shop = Shop()
    driven, _ = refunded(drive, shop)
    copied = driven.session.graph.update_state(at_ask(driven), None, as_node="__copy__")
    to_past(driven, copied, None)
    assert (branch(driven), driven.session.outcome().status, shop.done("refund")) == ("main.1", "waiting", ["A1"])


def test_money_that_was_spent_stays_spent(drive: Drive) -> None:
    """A branch draws on the run's ledger: two lines cannot spend the allowance of one twice."""
    shop = Shop()

    async def look(state: Any, run: sw.Run[Any]) -> Any:
        found = [(await run.tool("lookup", order=str(n))).status for n in range(2)]
        return {"log": found}

    state = sw.State("A", do=look, tools=["lookup"], to="DONE", policy=policy("three_calls"))
    driven = drive(sw.Chart("looks", Beside, state, sw.Final("DONE")).compile(tools=[shop.lookup]))
    driven.start({"log": []})
    to_past(driven, next(one for one in driven.checkpoints if one.next == ("A",)).config, None)
    assert (driven.session.outcome().status, len(shop.done("lookup"))) == ("halted", 3)


def test_an_unknown_checkpoint_is_refused(drive: Drive) -> None:
    """LangGraph would begin the session anew under it."""
    driven = drive(waiting().compile())
    driven.start({})
    config = {"configurable": {"thread_id": "s1", "checkpoint_id": "1f000000-0000-6000-8000-000000000000"}}
    with pytest.raises(NotExpected, match="no checkpoint"):
        to_past(driven, config, None)
    assert driven.session.outcome().status == "waiting"


def test_an_answer_to_one_region_in_the_past_leaves_the_others_as_they_were(drive: Drive) -> None:
    """Each region's activity is where it was: one asks again, the other has ended and is not entered again."""
    shop = Shop()

    async def refund(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [(await run.tool("refund", order="A1")).status]}

    async def look(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [(await run.tool("lookup", order="L")).status]}

    graph = compiled_beside(
        [sw.State("S", do=refund, tools=["refund"], to="END")],
        [sw.State("S", do=look, tools=["lookup"], to="END")],
        box=shop.box, policy=policy("approve_refunds"),
    )  # fmt: skip
    driven = drive(graph)
    ask = driven.start({"log": []}).asks[0]
    waiting_at = driven.session.graph.get_state(driven.session.config).config
    driven.answer(ask)
    values = to_past(driven, waiting_at, answer(ask, "reject"))
    assert (values["log"], shop.done("lookup"), shop.done("refund")) == (["ok", "rejected"], ["L"], ["A1"])


def test_the_question_of_a_run_that_has_failed_is_not_put_again(drive: Drive, database: Database) -> None:
    """One region asked, another failed: at that end nobody waits for an answer, on a branch as little as before."""

    async def fail(state: Any) -> None:
        while not database.asks.open("s1"):
            await asyncio.sleep(0)
        raise ValueError("no")

    asks = sw.State("S", do=look_then_refund, tools=["lookup", "refund"], to="END")
    graph = compiled_beside([asks], [sw.State("S", do=fail)], box=Shop().box, policy=policy("approve_refunds"))
    driven = drive(graph)
    with pytest.raises(ValueError, match="no"):
        driven.start({})
    end = Timeline(driven.session.graph, database, "s1")
    end.fork(end.rows[-1].step or 0)
    assert (branch(driven), driven.session.outcome().status, database.asks.open("s1")) == ("main.1", "failed", ())
