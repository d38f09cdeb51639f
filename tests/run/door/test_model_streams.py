"""A governed model streams as the model itself does; the whole of it is admitted, journaled and settled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from threading import Event
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel, GenericFakeChatModel
from langgraph.graph import START, StateGraph

import stateward as sw
from stateward.run.store.entry import Entry
from stateward.testing import How, ScriptedModel
from tests.charts.drive import Driven, policy
from tests.charts.one import One, compiled
from tests.charts.spoken import Awaited, Spoken, hear, hear_sync, leave, leave_sync, listen, listen_sync

Drive = Callable[..., Driven]
PRICES = {"usd_per_million_input": 10.0, "usd_per_million_output": 10.0, "max_output_tokens": 100}
LISTENERS = pytest.mark.parametrize("do", [listen, listen_sync])
KINDS = pytest.mark.parametrize("kind", [Spoken, Awaited])


def chart(do: Any, model: Any, **other: Any) -> sw.ChartGraph:
    return compiled(do, models={"m": model}, model="m", **other)


def priced(model: BaseChatModel) -> sw.ModelRole:
    return sw.ModelRole(name="m", model=model, **PRICES)


def entry(driven: Driven) -> Entry:
    (only,) = driven.session.database.journal.entries("s1")
    return only


def usd(driven: Driven) -> float:
    return driven.session.database.ledger.spent("s1", run=driven.session.row().run)["WORK", "usd"]


@pytest.fixture
def never() -> Iterator[Event]:
    """What a model waits for; it comes when the test is over."""
    event = Event()
    yield event
    event.set()


# -- token by token -----------------------------------------------------------------------------------------


def bare(do: Any, model: BaseChatModel) -> Any:
    """The same activity in a graph without a chart; its run has nothing but the model."""

    class Free:
        def model(self) -> BaseChatModel:
            return model

    async def node(state: Any) -> Any:
        return await do(state, Free())

    builder = StateGraph(One)
    builder.add_node("ACT", node if asyncio.iscoroutinefunction(do) else lambda state: do(state, Free()))
    builder.add_edge(START, "ACT")
    return builder.compile()


def tokens(graph: Any, how: How) -> list[Any]:
    """What `stream_mode="messages"` gives."""

    async def read() -> list[Any]:
        return [part async for part in graph.astream({}, stream_mode="messages")]

    parts = list(graph.stream({}, stream_mode="messages")) if how == "sync" else asyncio.run(read())
    return [message.text for message, _ in parts]


@pytest.mark.parametrize(
    ("do", "how"),
    [(hear, "async"), (listen, "async"), *((do, how) for do in (hear_sync, listen_sync) for how in ("sync", "async"))],
)
def test_messages_mode_gives_what_it_gives_without_a_chart(do: Any, how: How) -> None:
    """Token by token, whether the activity streams or invokes."""

    def fake() -> BaseChatModel:
        return GenericFakeChatModel(messages=iter(["one two three"]))

    assert tokens(chart(do, fake()), how) == tokens(bare(do, fake()), how) == ["one", " ", "two", " ", "three"]


@pytest.mark.parametrize("do", [hear, listen])
def test_messages_mode_of_a_sync_graph_streams_awaited_activities(do: Any) -> None:
    """LangGraph alone cannot run them; the chart's loop does."""
    model = GenericFakeChatModel(messages=iter(["one two"]))
    assert tokens(chart(do, model), "sync") == ["one", " ", "two"]


@pytest.mark.parametrize("do", [hear, hear_sync, leave, leave_sync, listen, listen_sync])
def test_model_that_does_not_stream_comes_in_one_piece(do: Any, how: How) -> None:
    """Whether an invoke streams is for the model to say: this one has no stream."""
    assert tokens(chart(do, ScriptedModel.of("one two")), how) == ["one two"]


@pytest.mark.parametrize("do", [hear, hear_sync])
def test_disabled_streaming_stays_disabled(do: Any, how: How) -> None:
    """On the model, and bound to it."""
    assert tokens(chart(do, Spoken.of("one ", "two", disable_streaming=True)), how) == ["one two"]
    assert tokens(chart(do, Spoken.of("one ", "two").bind(stream=False)), how) == ["one two"]


@LISTENERS
@KINDS
@pytest.mark.parametrize("limit", ["two_turns", "patient_calls"])
def test_chunk_is_heard_before_the_next_is_made(drive: Drive, do: Any, kind: Any, limit: str) -> None:
    """Nothing is held back until the end, whether a limit in time holds or not."""
    heard = Event()

    def second() -> Any:
        return asyncio.to_thread(heard.wait, 60) if kind is Awaited and do is act else heard.wait(60)

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [_hear(chunk, heard) async for chunk in run.model().astream("hi")]}

    def act_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
        return {"log": [_hear(chunk, heard) for chunk in run.model().stream("hi")]}

    do = act if do is listen else act_sync
    outcome = drive(chart(do, kind.of("first", second), policy=policy(limit))).start({})
    assert outcome.values["log"][:2] == ["first", "True"]


def _hear(chunk: Any, heard: Event) -> str:
    heard.set()
    return chunk.text


# -- admitted and settled -------------------------------------------------------------------------------------


@LISTENERS
@KINDS
def test_stream_under_a_spent_fuse_is_never_begun(drive: Drive, do: Any, kind: Any) -> None:
    """The call is decided before its first token."""
    model = kind.of("one")
    driven = drive(chart(do, model, to=["ACT"], policy=policy("two_turns")))
    outcome = driven.start({})
    assert (outcome.status, outcome.reason["event"]) == ("halted", "fuse.turns")
    assert (len(model.asked), outcome.values["log"].count("one")) == (2, 2)


@LISTENERS
@KINDS
def test_usage_of_the_chunks_is_settled(drive: Drive, do: Any, kind: Any) -> None:
    """Summed; and the output limit was forced into the request."""
    model = kind.of("one ", "two ", "bye")
    driven = drive(chart(do, priced(model), policy=policy("one_cent")))
    driven.start({})
    known = entry(driven)
    assert (known.status, known.result["data"]["content"], model.asked) == (
        "completed",
        "one two bye",
        [{"max_tokens": 100}],
    )
    assert (known.tokens_in, known.tokens_out, usd(driven)) == (10, 6, pytest.approx(160e-6))


@LISTENERS
@KINDS
def test_stream_without_usage_is_charged_as_reserved(drive: Drive, do: Any, kind: Any) -> None:
    """An unknown cost is never counted as none."""
    driven = drive(chart(do, priced(kind.of("one", usage=False)), policy=policy("one_cent")))
    driven.start({})
    assert (entry(driven).status, usd(driven) >= 1e-3) == ("completed", True)


@LISTENERS
@KINDS
def test_stream_that_fails_is_settled_as_failed(drive: Drive, do: Any, kind: Any) -> None:
    """Its reservation stands, and what was said is kept."""
    model = kind.of("one ", "two ", ConnectionError("down"))
    driven = drive(chart(do, priced(model), policy=policy("one_cent"), handles=("error.activity",)))
    assert driven.start({}).path == "HELP"
    known = entry(driven)
    assert (known.status, known.result["error"]) == ("failed", "ConnectionError: down")
    assert known.result["partial"]["data"]["content"] == "one two "
    assert usd(driven) >= 1e-3


@LISTENERS
@KINDS
def test_stream_without_a_chunk_has_failed(drive: Drive, do: Any, kind: Any) -> None:
    """As LangChain has it."""
    driven = drive(chart(do, kind.of(), handles=("error.activity",)))
    assert driven.start({}).path == "HELP"
    assert entry(driven).status == "failed"


@LISTENERS
@KINDS
def test_stream_that_hangs_is_cut_off(drive: Drive, do: Any, kind: Any, never: Event) -> None:
    """`call_timeout_s` is for the whole of it."""

    def hang() -> Any:
        return asyncio.Event().wait() if kind is Awaited and do is listen else never.wait(60)

    driven = drive(chart(do, kind.of("one", hang), policy=policy("quick_calls"), handles=("error.activity",)))
    assert driven.start({}).path == "HELP"
    assert driven.control["event"]["data"]["type"] == "TimeoutError"
    assert (entry(driven).status, never.is_set()) == ("failed", False)


@pytest.mark.parametrize("do", [leave, leave_sync])
@KINDS
@pytest.mark.parametrize("limited", [False, True])
def test_stream_that_is_left_is_settled_as_failed(
    drive: Drive, do: Any, kind: Any, limited: bool, never: Event
) -> None:
    """Its reservation stands; nobody waits for the rest."""

    def hang() -> Any:
        return asyncio.Event().wait() if kind is Awaited and do is leave else never.wait(60)

    rules = policy("patient_calls") if limited else None
    driven = drive(chart(do, priced(kind.of("one", hang)), policy=rules))
    assert driven.start({}).values["log"] == ["one"]
    known = entry(driven)
    assert (known.status, known.result["partial"]["data"]["content"]) == ("failed", "one")
    assert "left the stream" in known.result["error"]
    assert known.usd >= 1e-3


def test_stream_cut_off_by_a_cancellation_stays_started(drive: Drive) -> None:
    """The activity, entered again, makes the call again."""

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        heard = asyncio.Event()

        async def read() -> None:
            async for _ in run.model().astream("hi"):
                heard.set()

        reading = asyncio.create_task(read())
        await heard.wait()
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)

    driven = drive(chart(act, Awaited.of("one", asyncio.Event().wait)))
    driven.start({})
    assert entry(driven).status == "started"


class Broken(Exception):
    """An activity's own trouble."""


async def stumble(state: Any, run: sw.Run[Any]) -> Any:
    async for _ in run.model().astream("hi"):
        raise Broken


def stumble_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    for _ in run.model().stream("hi"):
        raise Broken


@pytest.mark.parametrize("do", [stumble, stumble_sync])
@KINDS
def test_reservation_of_a_stream_in_which_the_activity_failed_stands(drive: Drive, do: Any, kind: Any) -> None:
    """Whether the stream came to its end meanwhile or was dropped, it is counted once."""
    driven = drive(chart(do, priced(kind.of("one", "two", usage=False)), handles=("error.activity",)))
    assert driven.start({}).path == "HELP"
    assert entry(driven).usd >= 1e-3, entry(driven).status
