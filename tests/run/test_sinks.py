"""No planted secret comes to a place it must not come to: database, stream, store, model, log."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

import stateward as sw
from stateward.govern.policy import Data, Policy, Redaction
from stateward.testing import How, ScriptedModel
from tests.charts.one import one
from tests.govern.secrets import DISGUISES, PLANTED, bare, left_of

LONE = "after a lone surrogate"
"""No database takes these: what has one is refused before it is kept."""
DRESSED = [dress(secret) for secret in PLANTED.values() for how, dress in DISGUISES.items() if how != LONE]
REFUSED = [DISGUISES[LONE](secret) for secret in PLANTED.values()]
EVERYTHING = {f"n{number}": each for number, each in enumerate(DRESSED)}


@sw.tool(effect="pure")
def echo(given: dict[str, Any]) -> dict[str, Any]:
    """Give back what was given."""
    return given


@sw.tool(effect="pure")
def fail(given: str) -> str:
    """Say what was wrong, as providers do."""
    raise ValueError(f"incorrect key: {given}")


def conversation() -> list[BaseMessage]:
    call = {"name": "echo", "args": {"given": EVERYTHING}, "id": "c1"}
    text = "\n".join(map(str, DRESSED))
    return [
        SystemMessage(text),
        HumanMessage([{"type": "text", "text": text}]),
        AIMessage(text, tool_calls=[call], additional_kwargs={"function": text}),
        ToolMessage(text, tool_call_id="c1"),
        HumanMessage("go on"),
    ]


async def spill(state: Any, run: sw.Run[Any]) -> Any:
    await run.tool("echo", given=EVERYTHING)
    for each in PLANTED.values():
        await run.tool("fail", given=each)
        await run.tool(each, given=each)
        await run.tool("echo", given={"refused": REFUSED})
        await run.tool("echo", given=each)
    for each in (*DRESSED, *REFUSED):
        run.emit({"seen": each})
    run.store.put(("notes",), "n1", EVERYTHING)
    await run.model().ainvoke(conversation())


def spill_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    run.tool("echo", given=EVERYTHING)
    for each in PLANTED.values():
        run.tool("fail", given=each)
        run.tool(each, given=each)
        run.tool("echo", given={"refused": REFUSED})
        run.tool("echo", given=each)
    for each in (*DRESSED, *REFUSED):
        run.emit({"seen": each})
    run.store.put(("notes",), "n1", EVERYTHING)
    run.model().invoke(conversation())


def spilled(do: Any, how: How, url: str, model: ScriptedModel) -> tuple[list[Any], Any]:
    """Run it once, and return what the custom stream told and what the store has."""
    chart = one(do, tools=["echo", "fail"], model="m")
    with sw.open(url) as database:
        graph = chart.compile(tools=[echo, fail], models={"m": model}).attach(database)
        session = sw.Session("s1", graph, database)

        async def collect() -> list[Any]:
            return [part async for part in session.astream({}, stream_mode="custom")]

        told = list(session.stream({}, stream_mode="custom")) if how == "sync" else asyncio.run(collect())
        return told, database.store.search(("notes",))[0].value


@pytest.mark.parametrize("do", [spill, spill_sync])
def test_no_planted_secret_is_left_anywhere(
    do: Any, how: How, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Twenty kinds, each dressed up in every way, through every sink at once."""
    model = ScriptedModel.of("done")
    streamed, stored = spilled(do, how, f"sqlite:///{tmp_path / 'one.db'}", model)
    places = {
        "database": "".join(each.read_bytes().decode(errors="replace") for each in tmp_path.glob("one.db*")),
        "stream": streamed,
        "store": stored,
        "model": [each.model_dump() for call in model.calls for each in call],
        "log": caplog.text,
    }
    assert len(streamed) > len(DRESSED)
    assert len(model.calls) == 1
    for place, told in places.items():
        text = bare(told)
        assert {kind: left_of(secret, text) for kind, secret in PLANTED.items() if left_of(secret, text)} == {}, place


async def tell(state: Any, run: sw.Run[Any]) -> Any:
    await run.tool("echo", given={"to": "ann@example.org"})
    run.emit("to ann@example.org")
    run.store.put(("notes",), "n1", {"to": "ann@example.org"})
    await run.model().ainvoke("to ann@example.org")


def places(policy: Policy | None, database: Any) -> tuple[str, str, str, str]:
    """Return what came to log, audit, memory and model."""
    model = ScriptedModel.of("done")
    chart = one(tell, tools=["echo"], model="m", policy=policy)
    cleared = sw.ModelRole(name="m", model=model, cleared="secret")
    tool = sw.tool(effect="pure", cleared="secret", name="echo")(echo.fn)
    graph = chart.compile(tools=[tool], models={"m": cleared}).attach(database)
    streamed = list(sw.Session("s1", graph, database).stream({}, stream_mode="custom"))
    kept = [entry.arguments for entry in database.journal.entries("s1")]
    found = database.store.search(("notes",))[0].value["to"]
    return str(streamed), str(kept[0]), found, cast("str", model.calls[0][0].content)


@pytest.mark.parametrize("sink", ["log", "audit", "memory", "model"])
def test_policy_takes_more_out_before_one_place(sink: str, database: Any) -> None:
    """A place that a policy names is kept from personal data; the other places are told them."""
    policy = Policy(name="p", redact=Redaction(**cast("Any", {sink: ("personal",)})))
    came = dict(zip(("log", "audit", "memory", "model"), places(policy, database), strict=True))
    assert {name for name, text in came.items() if "ann@example.org" not in text} == {sink}


@pytest.mark.parametrize(("sensitivity", "log"), [("internal", True), ("personal", False), ("secret", False)])
def test_classified_data_does_not_come_to_the_custom_stream(sensitivity: Any, log: bool, database: Any) -> None:
    """Personal data are redacted there whatever the policy says; of secret data nothing is told at all."""
    told, *_ = places(Policy(name="p", data=Data(sensitivity=sensitivity)), database)
    assert ("ann@example.org" in told) is log
    assert (told == "[]") is (sensitivity == "secret")
