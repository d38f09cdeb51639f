"""Breakers: a provider that fails again and again is left alone, then asked once whether it works again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

import stateward as sw
from stateward.errors import BreakerOpen
from stateward.govern.kinds.models import ModelRule
from stateward.run.door.breaker import Breakers, Open, Ticket, provider_of
from stateward.run.store.database import Database
from stateward.testing import ManualClock, ScriptedModel
from tests.charts.drive import Driven
from tests.charts.replayed import same
from tests.charts.spoken import Awaited, hear, hear_sync, leave
from tests.charts.stand_in import Status, attempts, chart, role, ruled

Drive = Callable[..., Driven]


@pytest.fixture
def breakers(clock: ManualClock) -> Breakers:
    return Breakers(now=clock.monotonic)


def came(breakers: Breakers, *, provider: str = "p", after: int = 2) -> Ticket | Open:
    return breakers.ask(provider, after=after, for_s=10.0)


def ask(breakers: Breakers) -> Ticket:
    ticket = came(breakers)
    assert isinstance(ticket, Ticket)
    return ticket


def fail(breakers: Breakers, times: int = 2) -> None:
    for _ in range(times):
        breakers.failed(ask(breakers))


def test_failures_in_a_row_open_it(breakers: Breakers) -> None:
    """A success between them closes it for good."""
    fail(breakers, 1)
    breakers.succeeded(ask(breakers))
    fail(breakers, 2)
    assert came(breakers) == Open(provider="p", failures=2, closes_in_s=10.0)
    assert isinstance(came(breakers, provider="q"), Ticket)


def test_exactly_one_call_probes(breakers: Breakers, clock: ManualClock) -> None:
    """Of many that come at once when the time is over."""
    fail(breakers)
    clock.advance(10.0)
    with ThreadPoolExecutor(8) as pool:
        all_of_them = list(pool.map(came, [breakers] * 64))
    assert [each.is_probe for each in all_of_them if isinstance(each, Ticket)] == [True]


def test_probe_that_succeeds_closes_it(breakers: Breakers, clock: ManualClock) -> None:
    """All calls pass again."""
    fail(breakers)
    clock.advance(10.0)
    breakers.succeeded(ask(breakers))
    assert not ask(breakers).is_probe


def test_probe_that_fails_opens_it_anew(breakers: Breakers, clock: ManualClock) -> None:
    """For the whole time."""
    fail(breakers)
    clock.advance(10.0)
    breakers.failed(ask(breakers))
    clock.advance(9.0)
    assert came(breakers) == Open(provider="p", failures=3, closes_in_s=1.0)


def test_probe_of_which_nobody_learned_is_made_again(breakers: Breakers, clock: ManualClock) -> None:
    """A cancelled call says nothing about the provider."""
    fail(breakers)
    clock.advance(10.0)
    breakers.dropped(ask(breakers))
    assert ask(breakers).is_probe


def test_each_rule_looks_at_the_same_failures(breakers: Breakers) -> None:
    """A stricter policy leaves a provider alone earlier."""
    fail(breakers, 1)
    assert isinstance(came(breakers, after=1), Open)
    assert isinstance(came(breakers, after=2), Ticket)


def test_roles_share_the_breaker_of_their_provider() -> None:
    """The same class, address and model; a model without a name has the breaker of its role."""

    def openai(url: str) -> ChatOpenAI:
        return ChatOpenAI(model="small", base_url=url, api_key=SecretStr("k"))

    names = [
        provider_of(role(name, openai(url))) for name, url in [("a", "http://x"), ("b", "http://x"), ("c", "http://y")]
    ]
    assert names[0] == names[1] != names[2]
    assert provider_of(role("a", ScriptedModel.of())) == "role a"


# -- at the door ------------------------------------------------------------------------------------------

ONCE = ruled(ModelRule(break_after=1, break_s=10.0))
BACKUP = ruled(ModelRule(break_after=1, break_s=10.0, fallback=("backup",)))


@pytest.mark.parametrize("do", [hear, hear_sync])
def test_open_breaker_is_an_error_that_says_when_it_closes(drive: Drive, clock: ManualClock, do: Any) -> None:
    """Nothing is asked meanwhile; other sessions of the process know too."""
    model = ScriptedModel.of(Status(503), "never")
    graph = chart(do, ONCE, m=model)
    drive(graph).start({})
    clock.advance(4.0)
    second = drive(graph, session="s2")
    assert second.start({}).path == "HELP"
    told = second.control["event"]["data"]
    assert (told["type"], len(model.calls)) == ("BreakerOpen", 1)
    assert "in 6 s" in told["message"]


def test_open_breaker_costs_nothing(drive: Drive, database: Database) -> None:
    """No request was sent."""
    graph = chart(hear, ONCE, m=ScriptedModel.of(Status(503)))
    drive(graph).start({})
    drive(graph, session="s2").start({})
    (entry,) = database.journal.entries("s2")
    assert (entry.status, entry.usd, entry.result["attempts"][0]["outcome"]) == ("failed", 0.0, "open")


def test_refused_request_says_the_provider_works(drive: Drive) -> None:
    """A 400 opens no breaker."""
    graph = chart(hear, ONCE, m=ScriptedModel.of(Status(400), "bye"))
    drive(graph).start({})
    assert drive(graph, session="s2").start({}).status == "completed"


def test_open_breaker_hands_on_at_once(drive: Drive, database: Database) -> None:
    """The first provider is not even asked."""
    model = ScriptedModel.of(Status(503), "never")
    graph = chart(hear, BACKUP, m=model, backup=ScriptedModel.of("one", "two"))
    drive(graph).start({})
    assert drive(graph, session="s2").start({}).values["log"] == ["two"]
    (entry,) = database.journal.entries("s2")
    assert [each["outcome"] for each in entry.result["attempts"]] == ["open", "ok"]
    assert len(model.calls) == 1


def test_first_provider_is_asked_again_after_its_time(drive: Drive, clock: ManualClock) -> None:
    """And answers."""
    graph = chart(hear, BACKUP, m=ScriptedModel.of(Status(503), "back"), backup=ScriptedModel.of("one"))
    drive(graph).start({})
    clock.advance(10.0)
    assert drive(graph, session="s2").start({}).values["log"] == ["back"]


def test_stream_that_is_left_is_a_probe_of_which_nobody_learned(drive: Drive, database: Database) -> None:
    """The next call may probe."""
    model = Awaited.of("one", asyncio.Event().wait)
    drive(chart(leave, ONCE, m=role("m", model))).start({})
    assert isinstance(database.providers.breakers.ask("role m", after=1, for_s=1.0), Ticket)


def test_activity_catches_the_same_error_in_a_replay(drive: Drive) -> None:
    """By its type."""

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        try:
            await run.model().ainvoke("hi")
        except BreakerOpen as barred:
            return {"log": [str(barred)]}

    graph = chart(act, ONCE, m=ScriptedModel.of(Status(503)))
    drive(graph).start({})
    second = drive(graph, session="s2")
    assert second.start({}).status == "completed"
    assert same(second)


def test_open_breaker_after_a_failure_does_not_hide_it(drive: Drive, database: Database) -> None:
    """The second try finds the breaker open that the first one opened."""
    graph = chart(hear, ruled(ModelRule(tries=3, break_after=1, wait_s=0.001)), m=ScriptedModel.of(Status(503)))
    driven = drive(graph)
    driven.start({})
    assert driven.control["event"]["data"]["type"] == "Status"
    assert attempts(database) == [("m", "failed"), ("m", "open")]
