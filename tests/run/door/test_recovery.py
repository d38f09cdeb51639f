"""A call that a crash cut off, by what its tool declares: DESIGN decision 12, row by row."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward.effects import Completed, SafeToRetry, Unknown
from stateward.run.store.database import Database
from tests.charts.drive import Driven
from tests.charts.one import compiled

Drive = Callable[..., Driven]


class Crash(BaseException):
    """Stands for the end of the process."""


async def mail_only(state: Any, run: sw.Run[Any]) -> Any:
    sent = await run.tool("mail", to="bo")
    return {"log": [sent.status, sent.value]}


def crashed(drive: Drive, effect: Any, **tool: Any) -> tuple[Driven, list[str]]:
    """A session whose process ended in the middle of a call, after its effect; and the keys of the effects."""
    keys: list[str] = []

    @sw.tool(effect=effect, name="mail", **tool)
    async def mail(to: str, *, ctx: sw.ToolContext) -> str:
        """Send a mail."""
        keys.append(ctx.idempotency_key)
        if len(keys) == 1:
            raise Crash
        return "sent"

    driven = drive(compiled(mail_only, box=[mail]))
    with pytest.raises(Crash):
        driven.start({})
    return driven, keys


@pytest.mark.parametrize("effect", ["pure", "idempotent"])
def test_call_that_may_be_repeated_is_made_again_under_its_key(drive: Drive, effect: str) -> None:
    """Whoever is acted on knows it by the key."""
    driven, keys = crashed(drive, effect)
    assert driven.resume().values["log"] == ["ok", "sent"]
    assert (len(keys), len(set(keys))) == (2, 1)


def in_a_coroutine(answer: Any) -> Any:
    async def look(key: str) -> Any:
        await asyncio.sleep(0)
        return answer

    return look


@pytest.mark.parametrize("make", [lambda answer: lambda key: answer, in_a_coroutine])
@pytest.mark.parametrize(
    ("answer", "log", "effects"),
    [
        (Completed("sent before"), ["ok", "sent before"], 1),
        (Completed(), ["ok", None], 1),
        ("sent before", ["ok", "sent before"], 1),
        (SafeToRetry(), ["ok", "sent"], 2),
        (None, ["ok", "sent"], 2),
    ],
)
def test_look_up_that_knows_settles_a_once_call(drive: Drive, make: Any, answer: Any, log: Any, effects: int) -> None:
    """Taken over, or made now; sync and async look-ups."""
    driven, keys = crashed(drive, "once", lookup=make(answer))
    outcome = driven.resume()
    assert (outcome.values["log"], len(keys)) == (log, effects)
    assert len(set(keys)) == 1


def raises(key: str) -> Any:
    raise ConnectionError("no route")


async def raises_async(key: str) -> Any:
    raise ConnectionError("no route")


def hangs(key: str) -> Any:
    threading.Event().wait()


async def hangs_async(key: str) -> Any:
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("lookup", "limit_s"),
    [(lambda key: Unknown("down"), 60), (raises, 60), (raises_async, 60), (hangs, 0.3), (hangs_async, 0.3)],
)
def test_look_up_that_does_not_know_leaves_it_to_a_person(
    drive: Drive, database: Database, lookup: Any, limit_s: float
) -> None:
    """It says so, raises, or does not come back; the audit log has why."""
    driven, keys = crashed(drive, "once", lookup=lookup, timeout_s=limit_s)
    outcome = driven.resume()
    assert (outcome.status, len(outcome.asks), len(keys)) == ("waiting", 1, 1)
    reasons = [row.record["reason"] for row in database.audit.rows("s1") if row.record["event"] == "lookup_failed"]
    assert len(reasons) == 1
    assert any(word in reasons[0] for word in ("down", "no route", "took more than 0.3 s"))


def test_completed_call_is_returned_without_a_question_to_anybody(drive: Drive) -> None:
    """Neither the tool nor its look-up is called again."""
    asked: list[str] = []

    @sw.tool(effect="once", lookup=asked.append)
    async def mail(to: str) -> str:
        """Send a mail."""
        asked.append("made")
        return "sent"

    async def mail_and_die(state: Any, run: sw.Run[Any]) -> Any:
        sent = await run.tool("mail", to="bo")
        if asked == ["made"]:
            asked.append("died")
            raise Crash
        return {"log": [sent.value]}

    driven = drive(compiled(mail_and_die, box=[mail]))
    with pytest.raises(Crash):
        driven.start({})
    assert driven.resume().values["log"] == ["sent"]
    assert asked == ["made", "died"]
