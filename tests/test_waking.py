"""Waking: sessions that sleep are gone on with when their time has come, whoever put them to sleep."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import stateward as sw
from stateward.errors import SessionBusy
from stateward.run.graph import ChartGraph
from stateward.run.store.database import Database
from stateward.testing import How, ManualClock
from stateward.waking import Woken, awake, sleepers, wake
from tests.charts.one import One
from tests.charts.timed import nap


def woken(how: How, graph: ChartGraph, database: Database, **rest: Any) -> list[Woken]:
    if how == "sync":
        return wake(graph, database, **rest)
    return asyncio.run(awake(graph, database, **rest))


@pytest.fixture
def graph(database: Database, clock: ManualClock) -> ChartGraph:
    """The nap, with two sessions a second apart."""
    compiled = nap().compile(database=database)
    for session in ("a", "b"):
        sw.Session(session, compiled, database).start({"log": []})
        clock.advance(1)
    return compiled


def test_only_what_is_due_is_woken(how: How, graph: ChartGraph, database: Database, clock: ManualClock) -> None:
    """The longest overdue first; then there is nothing to do until the next moment."""
    assert woken(how, graph, database) == []
    clock.advance(8)
    assert [one.session for one in woken(how, graph, database)] == ["a"]
    assert woken(how, graph, database) == []
    clock.advance(1)
    (b,) = woken(how, graph, database)
    assert (b.session, b.outcome.path if b.outcome else "", b.error) == ("b", "HOUSE.UP", "")


def test_the_longest_overdue_comes_first(how: How, graph: ChartGraph, database: Database, clock: ManualClock) -> None:
    """Late as both are."""
    clock.advance(60)
    assert [one.session for one in woken(how, graph, database)] == ["a", "b"]


def test_a_session_that_another_runs_is_left_alone(
    how: How, graph: ChartGraph, database: Database, clock: ManualClock
) -> None:
    """Who runs it takes what is due."""
    clock.advance(60)
    database.leases.acquire("a")
    assert [one.session for one in woken(how, graph, database)] == ["b"]


def test_a_session_with_a_letter_is_woken(how: How, graph: ChartGraph, database: Database) -> None:
    """Nobody may be left who would take it."""
    database.mailbox.post("a", "call")
    (one,) = woken(how, graph, database)
    assert one.outcome is not None
    assert (one.session, one.outcome.path) == ("a", "HOUSE.UP")


def test_sessions_of_other_graphs_sleep_on(how: How, graph: ChartGraph, database: Database, clock: ManualClock) -> None:
    """A graph knows its own by its name."""
    clock.advance(60)
    other = sw.Chart("other", One, sw.State("A", on=[sw.on("go", "B")]), sw.Final("B"))
    assert woken(how, other.compile(database=database), database) == []


def test_one_that_fails_does_not_keep_the_others_asleep(how: How, database: Database, clock: ManualClock) -> None:
    """A run that its activity failed is told with its end, one that cannot go on with the reason."""

    def act(state: One) -> One:
        if state.get("text") == "bad":
            raise ValueError("no ink")
        return {}

    chart = sw.Chart("acts", One, sw.State("A", on=[sw.after(1, "B")]), sw.State("B", do=act, to="C"), sw.Final("C"))
    graph = chart.compile(database=database)
    for session, text in (("lost", ""), ("bad", "bad"), ("good", "")):
        sw.Session(session, graph, database).start({"text": text})
    database.saver.delete_thread("lost")
    clock.advance(1)
    told = {one.session: one for one in woken(how, graph, database)}
    assert {id: one.outcome.status if one.outcome else None for id, one in told.items()} == {
        "lost": None,
        "bad": "failed",
        "good": "completed",
    }
    assert ("no checkpoint" in told["lost"].error, told["bad"].error) == (True, "ValueError: no ink")


def test_a_session_is_woken_for_its_own_tenant_and_context(how: How, database: Database, clock: ManualClock) -> None:
    """Its activity sees whose session it is, and what the driver gives to all."""
    seen: list[tuple[str, Any]] = []

    def act(state: One, run: sw.SyncRun[Any]) -> None:
        seen.append((run.tenant, run.context))

    chart = sw.Chart("whose", One, sw.State("A", on=[sw.after(1, "B")]), sw.State("B", do=act, to="C"), sw.Final("C"))
    graph = chart.compile(database=database)
    graph.invoke({"text": "x"}, {"configurable": {"thread_id": "s", "tenant": "acme"}})
    clock.advance(1)
    woken(how, graph, database, context={"k": 1})
    assert seen == [("acme", {"k": 1})]


def test_sleepers_are_sessions_to_be_driven_by_other_means(
    graph: ChartGraph, database: Database, clock: ManualClock
) -> None:
    """A driver of one's own gets them as they are."""
    clock.advance(60)
    assert [session.id for session in sleepers(graph, database)] == ["a", "b"]
    assert sleepers(graph, database)[0].resume().path == "OUT"


def test_a_session_that_another_driver_woke_is_not_reported_again(
    how: How, graph: ChartGraph, database: Database, clock: ManualClock
) -> None:
    """Both found it; its timer fires once, and the second finds that somebody went on with it since."""
    clock.advance(60)
    (first, second) = sleepers(graph, database)
    assert (first.id, second.id) == ("a", "b")
    assert [one.session for one in woken(how, graph, database)] == ["a", "b"]
    with pytest.raises(SessionBusy, match="went on"):
        first.resume()
