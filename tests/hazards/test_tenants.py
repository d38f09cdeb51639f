"""Hazard 21 for sessions: what belongs to one tenant is not there for another, whatever they try."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import stateward as sw
from stateward.errors import UnknownAsk, UnknownSession
from stateward.replay import areplay, replay
from stateward.run.graph import ChartGraph
from stateward.run.load import aload_session, load_session
from stateward.run.store.database import Database
from stateward.run.travel import Timeline
from stateward.testing import How
from stateward.testing.frozen import freeze
from tests.charts.refunds import asking
from tests.charts.tools import Shop

BOTH: dict[str, Callable[[Any, str], Any]] = {
    "start": lambda session, ask: session.start({"text": "y"}),
    "resume": lambda session, ask: session.resume(),
    "event": lambda session, ask: session.resume("stop"),
    "send": lambda session, ask: session.send("stop"),
    "cancel": lambda session, ask: session.cancel(by="eve"),
    "drain": lambda session, ask: session.drain(by="eve"),
}
"""What a session can be told both ways; the async form has an `a` before its name."""
ONE: dict[str, Callable[[sw.Session, str], Any]] = {
    "answer": lambda session, ask: session.answer(ask, "approve", by="eve"),
    "claim": lambda session, ask: session.claim(ask, "approve", by="eve"),
    "expect": lambda session, ask: session.expect(ask),
    "unknown ask": lambda session, ask: session.claim("ask_0", "approve", by="eve"),
    "outcome": lambda session, ask: session.outcome(),
    "load": lambda session, ask: load_session(session.database, session=session.id, graph=session.graph),
    "aload": lambda session, ask: asyncio.run(aload_session(session.database, session=session.id, graph=session.graph)),
    "get_state": lambda session, ask: session.graph.get_state(session.config),
    "history": lambda session, ask: list(session.graph.get_state_history(session.config)),
    "edit": lambda session, ask: session.graph.update_state(session.config, {"text": "z"}),
    "edit the past": lambda session, ask: session.graph.update_state(
        {"configurable": {**session.config.get("configurable", {}), "checkpoint_id": "1"}}, {"text": "z"}
    ),
    "copy": lambda session, ask: session.graph.update_state(session.config, None, as_node="__copy__"),
    "rows": lambda session, ask: Timeline(session.graph, session.database, session.id).rows,
    "at": lambda session, ask: Timeline(session.graph, session.database, session.id).at(1),
    "branches": lambda session, ask: Timeline(session.graph, session.database, session.id).branches(),
    "fork": lambda session, ask: Timeline(session.graph, session.database, session.id).fork(1),
}
TOLD: dict[str, Callable[[Owned, str], Any]] = {
    "load": lambda owned, who: load_session(owned.database, session="s1", graph=owned.graph, tenant=who),
    "aload": lambda owned, who: asyncio.run(aload_session(owned.database, session="s1", graph=owned.graph, tenant=who)),
    "rows": lambda owned, who: owned.timeline(who).rows,
    "at": lambda owned, who: owned.timeline(who).at(1),
    "at id": lambda owned, who: owned.timeline(who).at(owned.timeline("").rows[0].checkpoint),
    "diff": lambda owned, who: owned.timeline(who).diff(0, 1),
    "branches": lambda owned, who: owned.timeline(who).branches(),
    "fork": lambda owned, who: owned.timeline(who).fork(1),
    "afork": lambda owned, who: asyncio.run(owned.timeline(who).afork(1)),
    "switch": lambda owned, who: owned.timeline(who).switch("main"),
    "aswitch": lambda owned, who: asyncio.run(owned.timeline(who).aswitch("main")),
    "resume": lambda owned, who: owned.timeline(who).resume(),
    "aresume": lambda owned, who: asyncio.run(owned.timeline(who).aresume()),
    "answer": lambda owned, who: owned.timeline(who).answer(owned.ask, "approve", by="eve"),
    "expect": lambda owned, who: owned.timeline(who).expect(owned.ask),
    "replay": lambda owned, who: replay(owned.named(who)),
    "areplay": lambda owned, who: asyncio.run(areplay(owned.named(who))),
    "freeze": lambda owned, who: freeze(owned.named(who), Path("none") / "frozen.json", graph="none:none"),
}
"""What takes the tenant by name."""


class Async:
    """A session whose calls are made the async way."""

    def __init__(self, session: sw.Session) -> None:
        self._session = session

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **rest: Any) -> Any:
            return asyncio.run(getattr(self._session, f"a{name}")(*args, **rest))

        return call


@dataclass
class Owned:
    """A session of the tenant `acme` that waits for an answer about a refund."""

    shop: Shop
    graph: ChartGraph
    database: Database
    ask: str

    def session(self, tenant: str) -> sw.Session:
        """The session, in the eyes of a tenant; the graph says whose eyes, as every part takes one."""
        graph = self.graph.with_config(configurable={"tenant": tenant}) if tenant else self.graph
        return sw.Session("s1", graph, self.database, tenant=tenant)

    def named(self, tenant: str) -> sw.Session:
        """The session, where the graph says nothing."""
        return sw.Session("s1", self.graph, self.database, tenant=tenant)

    def timeline(self, tenant: str) -> Timeline:
        """The session's steps, in the eyes of a tenant."""
        return Timeline(self.graph, self.database, "s1", tenant=tenant)

    @property
    def kept(self) -> Any:
        """All that an attempt could change."""
        rows = [row.record for row in self.database.audit.rows("s1")]
        return rows, self.database.sessions.get("s1"), self.database.asks.get(self.ask), self.shop.effects


@pytest.fixture
def owned(database: Database) -> Owned:
    shop = Shop()
    graph = asking(shop, handles=["stop"]).attach(database)
    (ask,) = sw.Session("s1", graph, database, tenant="acme").start({"text": "x"}).asks
    return Owned(shop, graph, database, ask)


def refused(owned: Owned, attempt: Callable[[], Any]) -> None:
    """Hold an attempt against what is told of a session that does not exist."""
    before = owned.kept
    with pytest.raises(UnknownSession, match="No session `s1`"):
        attempt()
    assert owned.kept == before


@pytest.mark.parametrize("way", BOTH)
@pytest.mark.parametrize("stranger", ["acme-corp", "acm"])
def test_another_tenant_can_tell_a_session_nothing(owned: Owned, how: How, way: str, stranger: str) -> None:
    """Look-alikes included; nothing of the attempt is kept."""
    session = owned.session(stranger)
    refused(owned, lambda: BOTH[way](session if how == "sync" else Async(session), owned.ask))


@pytest.mark.parametrize("way", ONE)
def test_another_tenant_can_neither_answer_nor_look(owned: Owned, way: str) -> None:
    """Whether it names an ask that exists or one that does not."""
    refused(owned, lambda: ONE[way](owned.session("acme-corp"), owned.ask))


@pytest.mark.parametrize("way", TOLD)
def test_what_takes_a_tenant_by_name_keeps_to_it(owned: Owned, way: str) -> None:
    """Also where no session object stands between."""
    refused(owned, lambda: TOLD[way](owned, "acme-corp"))


@pytest.mark.parametrize("way", ["load", "rows", "at", "branches", "fork", "replay"])
@pytest.mark.parametrize("tenant", ["acme", ""])
def test_what_takes_a_tenant_by_name_lets_the_owner_in(owned: Owned, way: str, tenant: str) -> None:
    """And the host, who names none."""
    assert TOLD[way](owned, tenant)


def test_a_stranger_is_told_what_is_told_of_a_session_that_does_not_exist(owned: Owned) -> None:
    """Word by word, but for the id."""
    told = list[str]()
    for id in ("s1", "s2"):
        with pytest.raises(UnknownSession) as error:
            sw.Session(id, owned.graph, owned.database, tenant="eve").cancel(by="eve")
        told.append(str(error.value).replace(id, "ID"))
    assert told[0] == told[1]
    assert owned.session("eve").row() is None


def test_an_ask_of_another_tenant_is_no_ask_of_mine(owned: Owned) -> None:
    """Through a session of one's own, neither the ask nor its session is told of."""
    mine = sw.Session("mine", owned.graph, owned.database, tenant="eve")
    mine.start({"text": "x"})
    for attempt in (mine.answer, mine.claim):
        with pytest.raises(UnknownAsk, match=f"No ask `{owned.ask}`"):
            attempt(owned.ask, "approve", by="eve")
    assert owned.database.asks.get(owned.ask).status == "open"


@pytest.mark.parametrize("tenant", ["acme", ""])
def test_the_owner_and_the_host_are_let_in(owned: Owned, tenant: str) -> None:
    """Who names no tenant is the host: an operator's command line names none."""
    assert owned.session(tenant).answer(owned.ask, "approve", by="ann").status == "completed"
    assert owned.shop.done("refund") == ["A1"]
