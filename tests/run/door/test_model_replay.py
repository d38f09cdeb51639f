"""What a model said is said again, in one chunk, to an activity that is entered again."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator
from threading import Event
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk

import stateward as sw
from stateward.testing import ScriptedModel, calls
from tests.charts.drive import Driven, policy
from tests.charts.one import compiled
from tests.charts.spoken import Awaited, Spoken, hear, hear_sync, leave, leave_sync, listen, listen_sync

Drive = Callable[..., Driven]
LISTENERS = pytest.mark.parametrize("do", [listen, listen_sync])
KINDS = pytest.mark.parametrize("kind", [Spoken, Awaited])


class Crash(BaseException):
    """Stands for the end of the process."""


def chart(do: Any, model: Any, **other: Any) -> sw.ChartGraph:
    return compiled(do, models={"m": model}, model="m", **other)


@pytest.fixture
def never() -> Iterator[Event]:
    """What a model waits for; it comes when the test is over."""
    event = Event()
    yield event
    event.set()


def once(do: Any, left: list[int]) -> Any:
    """An activity that dies after its work, as often as `left` has something to give."""

    def end(update: Any) -> Any:
        if left:
            left.pop()
            raise Crash
        return update

    async def awaited(state: Any, run: Any) -> Any:
        return end(await do(state, run))

    return awaited if asyncio.iscoroutinefunction(do) else lambda state, run: end(do(state, run))


def twice(do: Any) -> Any:
    """An activity that dies after its work, the first time; then its update is what it heard, try by try."""
    seen = list[Any]()

    def keep(update: Any) -> Any:
        seen.append(update["log"])
        return {"log": [seen]}

    async def awaited(state: Any, run: Any) -> Any:
        return keep(await do(state, run))

    return once(awaited if asyncio.iscoroutinefunction(do) else lambda state, run: keep(do(state, run)), [1])


@LISTENERS
@KINDS
def test_what_was_said_is_replayed_as_one_chunk(drive: Drive, do: Any, kind: Any) -> None:
    """A re-entered activity gets the completion that was paid for."""
    model = kind.of("one ", "two")
    driven = drive(chart(twice(do), model))
    with pytest.raises(Crash):
        driven.start({})
    first, second = driven.resume().values["log"][0]
    assert ([text for text in first if text], second) == (["one ", "two"], ["one two"])
    assert (len(model.asked), driven.session.row().turns) == (1, 1)


@pytest.mark.parametrize("do", [leave, leave_sync])
def test_of_a_stream_that_was_left_what_was_heard_is_replayed(drive: Drive, do: Any, never: Event) -> None:
    """An activity that leaves again does not come to the failure."""
    model = Spoken.of("one", lambda: never.wait(60))
    driven = drive(chart(twice(do), model, policy=policy("patient_calls")))
    with pytest.raises(Crash):
        driven.start({})
    assert driven.resume().values["log"] == [[["one"], ["one"]]]
    assert len(model.asked) == 1


@LISTENERS
def test_call_made_in_one_piece_is_replayed_to_a_stream(drive: Drive, do: Any) -> None:
    """How the graph is streamed may change between two tries; the call is the same."""
    left = [1]

    async def act(state: Any, run: Any) -> Any:
        return await (hear if left else listen)(state, run)

    def act_sync(state: Any, run: Any) -> Any:
        return (hear_sync if left else listen_sync)(state, run)

    model = Spoken.of("one ", "two")
    driven = drive(chart(once(act if do is listen else act_sync, left), model))
    with pytest.raises(Crash):
        driven.start({})
    assert driven.resume().values["log"] == ["one two"]
    assert len(model.asked) == 1


async def endure(state: Any, run: sw.Run[Any]) -> Any:
    log = list[str]()
    try:
        async for chunk in run.model().astream("hi"):
            log.append(chunk.text)
    except Exception as error:  # noqa: BLE001  # any failure of the provider
        log.append(type(error).__name__)
    return {"log": log}


def endure_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    log = list[str]()
    try:
        log.extend(chunk.text for chunk in run.model().stream("hi"))
    except Exception as error:  # noqa: BLE001  # any failure of the provider
        log.append(type(error).__name__)
    return {"log": log}


@pytest.mark.parametrize("do", [endure, endure_sync])
def test_stream_that_broke_off_breaks_off_again(drive: Drive, do: Any) -> None:
    """Where it did, so that the activity goes the same way."""
    model = Spoken.of("one ", "two ", ConnectionError("down"))
    driven = drive(chart(twice(do), model))
    with pytest.raises(Crash):
        driven.start({})
    first, second = driven.resume().values["log"][0]
    assert (first, second) == (["one ", "two ", "ConnectionError"], ["one two ", "RunError"])
    assert len(model.asked) == 1


@LISTENERS
@KINDS
def test_replayed_chunk_has_its_tool_calls(drive: Drive, do: Any, kind: Any) -> None:
    """Put together from their pieces."""
    seen = list[Any]()

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [_calls(chunk, seen) async for chunk in run.model().astream("hi")]}

    def act_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
        return {"log": [_calls(chunk, seen) for chunk in run.model().stream("hi")]}

    driven = drive(chart(twice(act if do is listen else act_sync), kind.of(_piece("{", "look"), _piece('"n": 1}'))))
    with pytest.raises(Crash):
        driven.start({})
    driven.resume()
    assert seen[-1] == [("look", {"n": 1})]


def _piece(args: str, name: str | None = None) -> AIMessageChunk:
    return AIMessageChunk(
        content="", tool_call_chunks=[tool_call_chunk(name=name, args=args, id=name and "call_1", index=0)]
    )


def _calls(chunk: Any, seen: list[Any]) -> str:
    seen.append([(call["name"], call["args"]) for call in chunk.tool_calls])
    return chunk.text


STRANGE = [math.nan, math.inf, -math.inf, {"when": [1.5, math.nan]}]
"""Numbers of which JSON knows nothing, as `json.loads` reads them from what a model writes."""


async def ask(state: Any, run: sw.Run[Any]) -> Any:
    """Ask in one piece, and tell the arguments of the call that is wanted."""
    said = await run.model().ainvoke("?")
    return {"log": [repr(said.tool_calls[0]["args"]), said.response_metadata["logprobs"]]}


def ask_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    """The same, not awaited."""
    said = run.model().invoke("?")
    return {"log": [repr(said.tool_calls[0]["args"]), said.response_metadata["logprobs"]]}


@pytest.mark.parametrize("do", [ask, ask_sync])
def test_numbers_that_json_has_not_are_replayed_as_they_were_said(drive: Drive, do: Any) -> None:
    """A reply is paid for whatever is in it: it is kept, and an activity that is entered again hears the same."""
    reply = calls(("weigh", {"g": STRANGE})).model_copy(update={"response_metadata": {"logprobs": "{}"}})
    model = ScriptedModel.of(reply)
    driven = drive(chart(twice(do), model))
    with pytest.raises(Crash):
        driven.start({})
    first, second = driven.resume().values["log"][0]
    assert first == second == [repr({"g": STRANGE}), "{}"]
    assert len(model.calls) == 1


def test_what_no_text_can_hold_is_kept_in_words(drive: Drive) -> None:
    """What a provider's library leaves in the metadata ends no run."""
    odd = AIMessage("ok", response_metadata={"logprobs": {1: Event, "p": -math.inf}}, tool_calls=[])
    done = drive(chart(keep_reply, ScriptedModel.of(odd))).start({})
    assert (done.status, done.values["text"]) == ("completed", "ok")


async def keep_reply(state: Any, run: sw.Run[Any]) -> Any:
    """Ask, and keep the words."""
    return {"text": (await run.model().ainvoke("?")).text}
