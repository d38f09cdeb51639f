"""What a window leaves out is summed up by a model, once for many calls, and behind the same door."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward.errors import DefinitionError
from stateward.govern.policy import Fuses, Policy, Window
from stateward.run.door.role import ModelRole
from stateward.run.store.database import Database
from stateward.testing import ScriptedModel
from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.charts.replayed import same

Drive = Callable[..., Driven]
NARROW = Policy(name="narrow", window=Window(max_messages=6, keep_last=3, summary="small"))


def talk(*lengths: int) -> Callable[..., Any]:
    """Ask once over so many messages each, in one piece and in chunks by turns."""

    async def do(state: Any, run: sw.Run[Any]) -> Any:
        said: list[str] = []
        for number, length in enumerate(lengths):
            messages = [("system", "be kind"), *(("user", f"m{n}") for n in range(length))]
            if number % 2:
                said.append("".join([chunk.text async for chunk in run.model().astream(messages)]))
            else:
                said.append((await run.model().ainvoke(messages)).text)
        return {"log": said}

    return do


def talk_sync(*lengths: int) -> Callable[..., Any]:
    """Do the same in a sync activity."""

    def do(state: Any, run: sw.SyncRun[Any]) -> Any:
        said: list[str] = []
        for number, length in enumerate(lengths):
            messages = [("system", "be kind"), *(("user", f"m{n}") for n in range(length))]
            if number % 2:
                said.append("".join(chunk.text for chunk in run.model().stream(messages)))
            else:
                said.append(run.model().invoke(messages).text)
        return {"log": said}

    return do


WAYS = pytest.mark.parametrize("talk", [talk, talk_sync])


def over(do: Any, model: ScriptedModel, small: ScriptedModel, policy: Policy = NARROW, **rest: Any) -> Any:
    models = {"m": model, "small": ModelRole(name="small", model=small, cleared="secret")}
    return compiled(do, models=models, model="m", policy=policy, **rest)


@WAYS
def test_a_model_sums_up_what_is_left_out(drive: Drive, talk: Any) -> None:
    """The one who is asked reads the summary as material, after the count and before the end."""
    model, small = ScriptedModel.of("a"), ScriptedModel.of("They said m0 to m6.")
    assert drive(over(talk(9), model, small)).start({}).values["log"] == ["a"]
    (sent,) = model.calls
    assert [each.type for each in sent] == ["system", "system", "human", "human", "human", "human"]
    assert sent[2].text.endswith("\nThey said m0 to m6.")
    assert sent[2].additional_kwargs == {}
    assert [each.text for each in sent[3:]] == ["m6", "m7", "m8"]
    assert "human: m0\n" in small.calls[0][1].text
    assert "m7" not in small.calls[0][1].text


@WAYS
def test_a_summary_is_good_for_several_calls_and_the_next_goes_on_from_it(drive: Drive, talk: Any) -> None:
    """It is made anew each `keep_last` messages, of the one before and of what came since."""
    model, small = ScriptedModel.of(*"abcd"), ScriptedModel.of("first", "second")
    driven = drive(over(talk(7, 8, 9, 10), model, small))
    assert driven.start({}).values["log"] == list("abcd")
    assert [each[2].text.splitlines()[-1] for each in model.calls] == ["first", "first", "first", "second"]
    assert "first\n\nhuman: m6\nhuman: m7\nhuman: m8" in small.calls[1][1].text
    assert same(driven)


@WAYS
def test_a_summary_is_a_call_like_any_other(drive: Drive, database: Database, talk: Any) -> None:
    """It is journaled beside the activation, and takes a turn; the caller's own call is known by the count alone."""
    driven = drive(over(talk(9), ScriptedModel.of("a"), ScriptedModel.of("short")))
    driven.start({})
    summary, own = database.journal.entries("s1")
    assert (summary.key.path, summary.name, summary.tokens_in) == ("WORK.ACT/summary", "small", 10)
    assert (own.key.call, "short" in str(own.arguments)) == (1, False)
    assert database.ledger.spent("s1", own.key.run)["", "turns"] == 2


@WAYS
@pytest.mark.parametrize("reply", [ConnectionError("down"), "  "], ids=["fails", "empty"])
def test_without_a_summary_what_is_left_out_is_counted(drive: Drive, talk: Any, reply: Any) -> None:
    """What goes wrong with the summary ends nothing; a replay comes to the same."""
    model = ScriptedModel.of("a")
    driven = drive(over(talk(9), model, ScriptedModel.of(reply)))
    assert driven.start({}).values["log"] == ["a"]
    assert [each.type for each in model.calls[0]] == ["system", "system", "human", "human", "human"]
    assert same(driven)


@WAYS
def test_the_last_turn_is_not_spent_on_a_summary(drive: Drive, talk: Any) -> None:
    """Nor any other part of a fuse that would trip: the conversation is counted then."""
    policy = Policy(name="short", window=NARROW.window, fuses=Fuses(turns=1))
    small = ScriptedModel.of("never")
    driven = drive(over(talk(9), ScriptedModel.of("a"), small, policy))
    assert (driven.start({}).values["log"], len(small.calls)) == (["a"], 0)


@WAYS
def test_a_summary_is_refused_by_the_same_fuse(drive: Drive, database: Database, talk: Any) -> None:
    """What cannot be bounded is not asked where money is limited, and the log says so."""
    policy = Policy(name="poor", window=NARROW.window, fuses=Fuses(usd=1.0))
    model = ModelRole(
        name="m",
        model=ScriptedModel.of("a"),
        usd_per_million_input=1.0,
        usd_per_million_output=1.0,
        max_output_tokens=50,
    )
    small = ScriptedModel.of("never")
    graph = compiled(talk(9), models={"m": model, "small": small}, model="m", policy=policy)
    driven = drive(graph)
    assert (driven.start({}).values["log"], len(small.calls)) == (["a"], 0)
    refused = [row.record["path"] for row in database.audit.rows("s1") if row.record["event"] == "fuse"]
    assert refused == ["WORK.ACT/summary"]
    assert same(driven)


def test_calls_at_the_same_time_share_one_summary(drive: Drive, database: Database) -> None:
    """The second waits for it: two calls under one number would be charged once."""
    model, small = ScriptedModel.of("a", "b", "c"), ScriptedModel.of("first", "second", "third")

    async def do(state: Any, run: sw.Run[Any]) -> Any:
        messages = [("user", f"m{n}") for n in range(9)]
        said = await asyncio.gather(*(run.model().ainvoke(messages) for _ in range(3)))
        return {"log": sorted(each.text for each in said)}

    assert drive(over(do, model, small)).start({}).values["log"] == ["a", "b", "c"]
    assert len(small.calls) == 1
    assert ["first" in str(sent) for sent in model.calls] == [True] * 3
    assert [entry.tries for entry in database.journal.entries("s1")] == [1] * 4


def test_secrets_do_not_reach_who_sums_up(drive: Drive) -> None:
    """As they do not reach who is asked."""
    model, small = ScriptedModel.of("a"), ScriptedModel.of("the key sk-proj4abcDEF7ghiJKL0mnoPQR")

    async def do(state: Any, run: sw.Run[Any]) -> Any:
        messages = [("user", f"sk-proj4abcDEF7ghiJKL0mnoPQR m{n}") for n in range(9)]
        return {"log": [(await run.model().ainvoke(messages)).text]}

    drive(over(do, model, small)).start({})
    assert "sk-proj" not in str((small.calls, model.calls))


def test_nobody_who_reads_the_stream_sees_the_summary(drive: Drive) -> None:
    """It is no answer of the activity's."""
    driven = drive(over(talk_sync(9), ScriptedModel.of("a"), ScriptedModel.of("short")))
    graph, config = driven.session.graph, driven.session.config
    told = [part[0].text for part in graph.stream({}, config, stream_mode="messages")]  # pyright: ignore[reportAttributeAccessIssue]  # LangGraph's parts have no types
    assert told == ["a"]


def test_a_role_without_a_model_cannot_sum_up(drive: Drive) -> None:
    """The message names the key of the policy."""
    with pytest.raises(DefinitionError, match=r"`small` sum up .* `window\.summary`"):
        drive(compiled(talk(1), models={"m": ScriptedModel.of("a")}, model="m", policy=NARROW)).start({})
