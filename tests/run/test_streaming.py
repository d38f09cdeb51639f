"""A session streams: it does what it does without a stream, and the parts of its graph are read meanwhile."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command

import stateward as sw
from stateward.errors import Drift, InputRefused, NotExpected, SessionBusy, UnknownAsk
from stateward.run.outcome import Outcome
from stateward.run.store.database import Database
from stateward.testing import How
from tests.charts.beside import Gate
from tests.charts.migrated import desk as policed
from tests.charts.one import One, compiled
from tests.charts.refunds import asking, two_refunds
from tests.charts.streamed import Read, first, parts
from tests.charts.tools import Shop
from tests.charts.waiting import waiting


@pytest.fixture
def read(how: How) -> Read:
    """Read a session's stream the test's way."""

    def whole(session: sw.Session, *given: Any, **rest: Any) -> list[Any]:
        return parts(session, how, *given, **rest)

    return whole


def heard(database: Database, **rest: Any) -> sw.Session:
    return sw.Session("s1", waiting().compile(), database, **rest)


def says(word: str) -> Any:
    async def say(state: Any, run: sw.Run[Any]) -> Any:
        run.emit({"said": word})
        return {"log": [word]}

    return say


def test_a_stream_opens_a_run_and_ends_with_it(database: Database, read: Read) -> None:
    """Its parts are LangGraph's, and nobody holds the session afterwards."""
    session = sw.Session("s1", compiled(says("a")), database)
    updates = read(session, {}, stream_mode="updates")
    assert [part["WORK.ACT"]["log"] for part in updates if "WORK.ACT" in part] == [["a"]]
    assert (session.outcome().status, session.outcome().values["log"]) == ("completed", ["a"])
    assert (database.leases.held("s1"), database.registry.find("s1")) == (None, None)


@pytest.mark.parametrize("mode", ["values", "updates", "custom", "tasks", "checkpoints", "debug", "messages"])
def test_each_mode_is_langgraphs(database: Database, read: Read, mode: Any) -> None:
    """Also several at once, which say which part is of which."""
    assert read(sw.Session("s1", compiled(says("a")), database), {}, stream_mode=[mode, "custom"])[-1]
    session = sw.Session("s2", compiled(says("a")), database)
    assert ("custom", {"said": "a"}) in read(session, {}, stream_mode=[mode, "custom"])


def test_without_a_mode_it_is_the_graphs_own(database: Database, read: Read) -> None:
    """As LangGraph's `stream` does."""
    graph = compiled(says("a")).attach(database)
    shapes = [set(part) for part in graph.stream({}, {"configurable": {"thread_id": "s2"}})]
    assert [set(part) for part in read(sw.Session("s1", graph, database), {})] == shapes


def test_graphs_inside_are_streamed_when_asked(database: Database, read: Read) -> None:
    """Each part then says where it comes from."""
    found = read(sw.Session("s1", compiled(says("a")), database), {}, stream_mode="custom", subgraphs=True)
    assert found == [((), {"said": "a"})]


def test_langgraphs_other_arguments_are_passed_on(database: Database, read: Read) -> None:
    """A breakpoint, for instance; `None` goes on."""
    session = sw.Session("s1", compiled(says("a")), database)
    read(session, {}, interrupt_before=["WORK.ACT"], output_keys=["log"])
    assert session.outcome().status == "running"
    read(session, None)
    assert session.outcome().status == "completed"


@pytest.mark.parametrize("name", ["config", "context", "odd"])
def test_an_argument_that_is_none_is_refused(database: Database, read: Read, name: str) -> None:
    """The message says where what belongs to the session is given."""
    with pytest.raises(InputRefused, match=rf"takes no `{name}`.*`Session\(…\)`"):
        read(heard(database), {}, **{name: 1})


@pytest.mark.parametrize(
    "given",
    [{"event": "note", "data": {"text": "x"}}, {"input": Command(resume={"event": "note", "data": {"text": "x"}})}],
)
def test_an_event_is_sent_while_streaming(database: Database, read: Read, given: Any) -> None:
    """By its name, or in LangGraph's form."""
    session = heard(database)
    session.start({})
    assert read(session, **given, stream_mode="updates")
    assert session.outcome().values["heard"] == ["hello", "x"]


def test_an_event_nobody_awaits_is_refused(database: Database, read: Read) -> None:
    """As without a stream: nothing was committed, and the session is free."""
    session = heard(database)
    session.start({})
    with pytest.raises(NotExpected, match="Awaited"):
        read(session, event="unlock")
    assert (session.outcome().status, database.leases.held("s1")) == ("waiting", None)


def test_answers_go_on_with_what_they_allow(database: Database, read: Read) -> None:
    """Several at once, in one's name."""
    session = sw.Session("s1", asking(Shop(), two_refunds), database)
    one, other = session.start({}).asks
    read(session, answers={one: "approve", other: "reject"}, by="ann", note="once")
    assert session.outcome().values["log"] == ["ok", "ok", "rejected"]
    assert database.asks.get(other).note == "once"


def test_one_answer_of_two_is_kept_and_the_session_waits_on(database: Database, read: Read) -> None:
    """An unknown one among them: none is recorded."""
    session = sw.Session("s1", asking(Shop(), two_refunds), database)
    one, other = session.start({}).asks
    with pytest.raises(UnknownAsk):
        read(session, answers={one: "approve", "ask_0": "approve"}, by="ann")
    assert len(database.asks.open("s1")) == 2
    read(session, answers={one: "approve"}, by="ann")
    assert session.outcome().asks == (one, other)
    assert [ask.id for ask in database.asks.open("s1")] == [other]


@pytest.mark.parametrize("more", [{"event": "note"}, {"answers": {"ask_0": "approve"}}])
def test_a_stream_begins_with_one_thing(database: Database, read: Read, more: Any) -> None:
    """An input and an event, for instance, are two."""
    with pytest.raises(InputRefused, match="one thing"):
        read(heard(database), {"text": "x"}, **more)
    with pytest.raises(InputRefused, match="one thing"):
        read(heard(database), **{"event": "note", "answers": {"ask_0": "approve"}, **more})


@pytest.mark.parametrize("leave", ["close", "forget"])
def test_who_leaves_early_lets_the_session_go(database: Database, how: How, leave: str) -> None:
    """Closed or forgotten: no lease, no entry in the registry, and `resume` goes on."""
    session = sw.Session("s1", compiled(says("a")), database)
    assert first(session, how, {}, leave=leave, stream_mode="tasks")
    assert (database.leases.held("s1"), database.registry.find("s1")) == (None, None)
    assert session.outcome().status == "running"
    assert session.resume().values["log"] == ["a"]


def test_who_leaves_early_gives_up_the_turn(database: Database, how: How) -> None:
    """Nobody behind it waits for one that has gone."""
    session = sw.Session("s1", compiled(says("a")), database, queue=2)
    database.turns.leave(database.turns.take("s1", limit=9))  # somebody before it
    first(session, how, {}, stream_mode="tasks")
    assert database.turns.waiting("s1") == 0


def test_what_an_activity_raises_reaches_the_reader(database: Database, read: Read) -> None:
    """The run is recorded as failed, and the session is free."""

    def fail(state: Any) -> None:
        raise ValueError("no")

    session = sw.Session("s1", compiled(fail), database)
    with pytest.raises(ValueError, match="no"):
        read(session, {})
    assert (session.outcome().status, database.leases.held("s1")) == ("failed", None)
    assert database.sessions.terminals("s1")[0].status == "failed"


def test_the_provider_is_asked_within_the_stream(database: Database, read: Read) -> None:
    """What it says is gone on with, and the parts go on as well."""
    answers = [{"event": "note", "data": {"text": "x"}}, None]

    def provide(outcome: Outcome) -> Any:
        return answers.pop(0)

    session = heard(database, provider=provide)
    assert any("OPEN" in str(part) for part in read(session, {}, stream_mode="updates"))
    assert (session.outcome().values["heard"], answers) == (["hello", "x"], [])


def test_a_deadline_holds_for_a_stream(database: Database, read: Read) -> None:
    """The run is halted, as without one."""

    async def for_ever(state: Any) -> None:
        await asyncio.Event().wait()

    session = sw.Session("s1", compiled(for_ever), database, deadline_s=0.2)
    read(session, {})
    assert session.outcome().status == "halted"


def test_a_stream_waits_for_its_turn(database: Database) -> None:
    """And begins when the session is free; without a queue it is refused."""
    gate = Gate()

    async def serve(state: Any) -> Any:
        await gate.wait()
        return {"log": [state["text"]]}

    session = sw.Session("s1", compiled(serve), database, queue=1)

    async def main() -> None:
        before = asyncio.create_task(session.astart({"text": "1"}))
        while not gate.reached.is_set():
            await asyncio.sleep(0)
        with pytest.raises(SessionBusy):
            await anext(sw.Session("s1", session.graph, database).astream({"text": "2"}))
        later = asyncio.create_task(collected(session, {"text": "3"}))
        while not database.turns.waiting("s1"):
            await asyncio.sleep(0)
        gate.open()
        await asyncio.gather(before, later)

    asyncio.run(main())
    assert session.outcome().values["log"] == ["1", "3"]


async def collected(session: sw.Session, given: Any) -> list[Any]:
    return [part async for part in session.astream(given)]


def test_the_scratch_folder_goes_with_the_run(database: Database, read: Read, tmp_path: Path) -> None:
    """As without a stream."""

    def act(state: Any, run: sw.SyncRun[Any]) -> None:
        (run.session.scratch / "note").write_text("x")

    read(sw.Session("s1", compiled(act), database, scratch=tmp_path / "scratch"), {})
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_drained_stream_ends_and_says_no_more(database: Database, read: Read) -> None:
    """Where it stands, `outcome` tells; `resume` goes on."""

    def act(state: Any) -> Any:
        live = database.registry.find("s1")
        assert live is not None
        live.drain()
        return {"log": ["a"]}

    states = sw.State("ONE", do=act, to="TWO"), sw.State("TWO", do=says("b"), to="DONE"), sw.Final("DONE")
    session = sw.Session("s1", sw.Chart("two", One, *states).compile(), database)
    read(session, {})
    assert session.outcome().values["log"] == ["a"]
    assert session.resume().values["log"] == ["a", "b"]


def test_a_stream_keeps_the_policy_of_its_run(database: Database, read: Read) -> None:
    """With `drift="keep"`; else it is refused."""
    shop = Shop()
    make = partial(sw.Session, "s1", database=database)
    (ask,) = make(policed(shop)).start({"log": []}).asks
    deployed = policed(shop, rules="forbids_refunds")
    with pytest.raises(Drift):
        read(make(deployed), answers={ask: "approve"}, by="ann")
    read(make(deployed, drift="keep"), answers={ask: "approve"}, by="ann")
    assert shop.done("refund") == ["A1"]
