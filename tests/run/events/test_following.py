"""A session's events: what happens, in the order in which it happens, numbered, both ways."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

import stateward as sw
from stateward.errors import SessionBusy
from stateward.events import (
    Answered,
    Asked,
    CallEnded,
    CallEvent,
    Checkpoint,
    Emitted,
    Ended,
    StateEntered,
    StateLeft,
    StreamEvent,
    Token,
)
from stateward.run.events.listener import Listener
from stateward.run.store.database import Database
from stateward.testing import How, ScriptedModel
from tests.charts.heard import Hear, events, short
from tests.charts.one import One, compiled
from tests.charts.refunds import asking, two_refunds, two_refunds_sync
from tests.charts.talk import say, say_sync, talk
from tests.charts.tools import Shop, call


@pytest.fixture
def hear(how: How) -> Hear:
    """Read a session's events the test's way."""
    return lambda session, *given, **rest: events(session, how, *given, **rest)


@pytest.mark.parametrize("do", [say, say_sync])
def test_states_calls_tokens_and_costs_are_told_in_order(database: Database, hear: Hear, do: Any) -> None:
    """A state is entered before its activity begins, and left after its calls have ended."""
    told = hear(sw.Session("s1", talk(ScriptedModel.of("hi", "bye"), do=do), database), {})
    first = "+TALK +SAY (voice token:hi )voice $voice"
    assert short(told) == f"{first} -SAY +SAY (voice token:bye )voice $voice -SAY -TALK +DONE ended"


def test_events_are_numbered_and_the_last_one_says_the_end(database: Database, hear: Hear) -> None:
    """From 1, without a gap."""
    told = hear(sw.Session("s1", talk(ScriptedModel.of("bye")), database), {})
    assert [event.seq for event in told] == list(range(1, len(told) + 1))
    assert told[-1] == Ended(seq=len(told), path="DONE", status="completed")


def test_call_is_found_in_the_journal(database: Database, hear: Hear) -> None:
    """By the key that its events have."""
    told = hear(sw.Session("s1", talk(ScriptedModel.of("bye")), database), {})
    keys = {event.key for event in told if isinstance(event, CallEvent)}
    assert [entry.key for entry in database.journal.entries("s1")] == list(keys)


def test_each_step_is_told_as_a_checkpoint(database: Database, hear: Hear) -> None:
    """After its moves; the ids are LangGraph's."""
    session = sw.Session("s1", talk(ScriptedModel.of("hi", "bye")), database)
    told = [event for event in hear(session, {}) if isinstance(event, Checkpoint)]
    kept = [each.config["configurable"]["checkpoint_id"] for each in session.graph.get_state_history(session.config)]
    assert [event.id for event in told] == kept[::-1]
    assert [(event.path, event.status) for event in told[-2:]] == [("TALK.SAY", "running"), ("DONE", "completed")]


def test_streaming_model_is_told_word_by_word(database: Database, hear: Hear) -> None:
    """An activity that only invokes it need not know."""
    model = GenericFakeChatModel(messages=iter([AIMessage("one two")]))
    session = sw.Session("s1", compiled(ask_model, models={"voice": model}, model="voice"), database)
    assert [event.text for event in hear(session, {}) if isinstance(event, Token)] == ["one", " ", "two"]


async def ask_model(state: Any, run: sw.Run[Any]) -> dict[str, Any]:
    return {"text": (await run.model().ainvoke("go on")).text}


@pytest.mark.parametrize("do", [two_refunds, two_refunds_sync])
def test_questions_and_answers_are_told(database: Database, hear: Hear, do: Any) -> None:
    """The stream ends when a person is asked; the one that brings the answers tells of them, and of what follows."""
    session = sw.Session("s1", asking(Shop(), do), database)
    asked = hear(session, {})
    ids = [event.ask for event in asked if isinstance(event, Asked)]
    assert asked[-1] == Ended(seq=len(asked), path="WORK.ACT.ask", status="waiting", asks=tuple(ids))
    told = hear(session, answers=dict(zip(ids, ("approve", "reject"), strict=True)), by="ann")
    answers = [(event.ask, event.decision, event.by) for event in told if isinstance(event, Answered)]
    assert answers == [(ids[0], "approve", "ann"), (ids[1], "reject", "ann")]
    assert {(event.name, event.status) for event in told if isinstance(event, CallEnded)} == {
        ("refund", "rejected"),
        ("refund", "ok"),
    }


def test_first_result_is_told_while_the_other_calls_hang_async(database: Database) -> None:
    """The slow call goes on only when the reader has the quick one's result."""
    seen = asyncio.Event()

    @sw.tool(effect="pure")
    async def quick() -> str:
        """Return."""
        return "quick"

    @sw.tool(effect="pure")
    async def slow() -> str:
        """Wait for the reader."""
        await seen.wait()
        return "slow"

    async def read() -> list[str]:
        session = sw.Session("s1", compiled(both, box=(slow, quick)), database)
        came = list[str]()
        async for event in session.aevents({}):
            if isinstance(event, CallEnded):
                came.append(event.result)
                seen.set()
        return came

    assert asyncio.run(read()) == ["quick", "slow"]


def test_first_result_is_told_while_the_other_calls_hang_sync(database: Database) -> None:
    """Also through threads, where the reader is one of them."""
    seen = threading.Event()

    @sw.tool(effect="pure")
    def quick() -> str:
        """Return."""
        return "quick"

    @sw.tool(effect="pure")
    def slow() -> str:
        """Wait for the reader."""
        seen.wait()
        return "slow"

    came = list[str]()
    for event in sw.Session("s1", compiled(both_sync, box=(slow, quick)), database).events({}):
        if isinstance(event, CallEnded):
            came.append(event.result)
            seen.set()
    assert came == ["quick", "slow"]


async def both(state: Any, run: sw.Run[Any]) -> dict[str, Any]:
    return {"log": [each.value for each in await run.tools([call("slow"), call("quick")])]}


def both_sync(state: Any, run: sw.SyncRun[Any]) -> dict[str, Any]:
    return {"log": [each.value for each in run.tools([call("slow"), call("quick")])]}


def test_call_that_was_made_before_is_not_told_again(database: Database, hear: Hear) -> None:
    """An activity that is entered again gets it from the journal."""
    session = sw.Session("s1", asking(Shop(), two_refunds), database)
    hear(session, {})
    ids = session.outcome().asks
    told = hear(session, answers=dict.fromkeys(ids, "approve"), by="ann")
    assert "lookup" not in [event.name for event in told if isinstance(event, CallEvent)]


def test_what_an_activity_emits_is_told(database: Database, hear: Hear) -> None:
    """With the state that says it."""

    async def act(state: Any, run: sw.Run[Any]) -> dict[str, Any]:
        run.emit({"said": "tea"})
        return {}

    told = hear(sw.Session("s1", compiled(act), database), {})
    assert [(event.path, event.data) for event in told if isinstance(event, Emitted)] == [("WORK.ACT", {"said": "tea"})]


def test_failed_run_tells_its_end_and_then_raises(database: Database, how: How) -> None:
    """The reader learns where it stands before the error comes."""

    async def act(state: Any, run: sw.Run[Any]) -> dict[str, Any]:
        raise ValueError("no")

    came = list[StreamEvent]()
    with pytest.raises(ValueError, match="no"):
        collect(sw.Session("s1", compiled(act), database), how, came)
    assert isinstance(came[-1], Ended)
    assert (came[-1].status, (came[-1].reason or {})["event"]) == ("failed", "error.activity")


def collect(session: sw.Session, how: How, came: list[StreamEvent]) -> None:
    async def whole() -> None:
        async for event in session.aevents({}):
            came.append(event)

    if how == "async":
        asyncio.run(whole())
        return
    for event in session.events({}):
        came.append(event)


def test_refused_call_tells_nothing(database: Database, hear: Hear) -> None:
    """Who finds the session held gets the error alone."""
    session = sw.Session("s1", talk(ScriptedModel.of("bye")), database)
    lease = database.leases.acquire("s1", graph="talk")
    with pytest.raises(SessionBusy):
        hear(session, {})
    database.leases.release(lease)


def test_reader_who_leaves_ends_the_call(database: Database) -> None:
    """The session is free afterwards, and can be gone on with."""
    told = sw.Session("s1", talk(ScriptedModel.of("hi", "bye")), database).events({})
    next(told)
    told.close()
    assert database.leases.held("s1") is None


def test_moves_of_regions_are_told_with_their_paths(database: Database, hear: Hear) -> None:
    """What is done side by side comes as it happens."""
    chart = sw.Chart(
        "both",
        One,
        sw.Parallel("P", region("X"), region("Y"), to="DONE"),
        sw.Final("DONE"),
    )
    told = hear(sw.Session("s1", chart.compile(), database), {})
    moved = [event.path for event in told if isinstance(event, StateEntered)]
    assert moved[:5] == ["P", "P.X", "P.X.ACT", "P.Y", "P.Y.ACT"]
    assert {event.path for event in told if isinstance(event, StateLeft)} >= {"P.X.ACT", "P.Y.ACT", "P"}


def region(name: str) -> Any:
    async def act(state: Any) -> dict[str, Any]:
        return {}

    return sw.Superstate(name, sw.State("ACT", do=act, to="END"), sw.Final("END"))


def test_a_run_that_nobody_hears_tells_nothing(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a call without a stream nor LangGraph's own stream pays for events."""
    told = list[StreamEvent]()
    monkeypatch.setattr(Listener, "tell", lambda self, event: told.append(event))
    session = sw.Session("s1", talk(ScriptedModel.of("bye", "bye", "bye")), database)
    session.start({})
    list(session.stream({}, stream_mode=["custom", "updates"]))
    assert told == []
    list(session.events({}))
    assert len(told) > 5
