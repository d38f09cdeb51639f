"""What deletes and lists checkpoints from outside keeps to leases, questions, branches and tenants."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint

import stateward as sw
from stateward.errors import CheckpointError, SessionBusy
from stateward.run.store.database import Database, open_database
from tests.charts.refunds import asking
from tests.charts.tools import Shop
from tests.postgres import Server
from tests.run.store.desk import Fresh


def waiting(database: Database, *names: str) -> None:
    """Sessions of one tenant each, named like it, that wait for an answer about a refund."""
    graph = asking(Shop()).attach(database)
    for name in names:
        sw.Session(name, graph, database, tenant=name).start({"text": "x"})


def threads(database: Database, **named: Any) -> list[str]:
    """Whose checkpoints are listed."""
    found = database.saver.list({"configurable": named})
    return sorted({one.config["configurable"]["thread_id"] for one in found})  # pyright: ignore[reportTypedDictNotRequiredAccess]


def foreign(database: Database, thread: str) -> None:
    """Two checkpoints of a graph that is no chart."""
    config: RunnableConfig = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    for _ in range(2):
        database.saver.put(config, empty_checkpoint(), {}, {})


def test_deleting_checkpoints_withdraws_what_their_session_asks(fresh: Fresh) -> None:
    """Nobody could go on with an answer; the audit log says so, and other sessions are left alone."""
    database = fresh()
    waiting(database, "a", "b")
    database.saver.delete_thread("a")
    assert [ask.session for ask in database.asks.open()] == ["b"]
    assert [row.record["session"] for row in database.audit.rows() if row.record["event"] == "withdrawn"] == ["a"]


def test_deleting_adds_to_a_log_that_has_a_key(url: str) -> None:
    """In the log's own chain, which verifies as before."""
    with sw.open(url, audit_keys={"k1": b"k" * 16}) as database:
        waiting(database, "a")
        database.saver.delete_thread("a")
        assert database.audit.rows()[-1].record["event"] == "withdrawn"
        assert database.audit.verify() == len(database.audit.rows())


def test_deleting_leaves_what_is_asked_while_somebody_holds_the_session(fresh: Fresh) -> None:
    """All or nothing."""
    database = fresh()
    waiting(database, "a")
    database.leases.acquire("a")
    with pytest.raises(SessionBusy):
        database.saver.delete_thread("a")
    assert len(database.asks.open()) == 1


def test_a_tenant_lists_its_own_sessions(fresh: Fresh) -> None:
    """Where no session is named; who names no tenant lists all."""
    database = fresh()
    waiting(database, "acme", "acme-corp")
    assert threads(database, tenant="acme") == ["acme"]
    assert threads(database) == ["acme", "acme-corp"]
    assert threads(database, tenant="eve") == []


def test_a_tenant_lists_its_own_sessions_async_and_no_more_than_it_wants(fresh: Fresh) -> None:
    """The limit counts what is its own."""
    database = fresh()
    waiting(database, "acme", "acme-corp")

    async def listed() -> list[Any]:
        return [one async for one in database.saver.alist({"configurable": {"tenant": "acme"}}, limit=2)]

    assert [one.config["configurable"]["thread_id"] for one in asyncio.run(listed())] == ["acme"] * 2


@pytest.fixture
def split(postgres: Server) -> Any:
    """A database whose saver of LangGraph's can prune."""
    with open_database(postgres.url()) as database:
        yield database


def test_langgraphs_prune_leaves_sessions_alone(split: Database) -> None:
    """It knows nothing of branches, pins and ends of runs."""
    waiting(split, "a")
    foreign(split, "f")
    before = len(list(split.saver.list(None)))
    with pytest.raises(CheckpointError, match=r"session `a`.*stateward prune"):
        split.saver.prune(["f", "a"])
    assert len(list(split.saver.list(None))) == before


def test_langgraphs_prune_works_for_other_graphs(split: Database) -> None:
    """Its latest checkpoint stays."""
    foreign(split, "f")
    split.saver.prune(["f"])
    assert len(list(split.saver.list(None))) == 1


def test_langgraphs_prune_deletes_as_a_deletion_does(split: Database) -> None:
    """Behind the fence, with what is asked."""
    waiting(split, "a", "b")
    split.saver.prune(["a"], strategy="delete")
    assert ([ask.session for ask in split.asks.open()], threads(split)) == (["b"], ["b"])
    split.leases.acquire("b")
    with pytest.raises(SessionBusy):
        split.saver.prune(["b"], strategy="delete")


@pytest.mark.parametrize(("given", "strategy"), [("ab", "delete"), (["a"], "some")])
def test_langgraphs_prune_refuses_what_it_always_did(split: Database, given: Any, strategy: str) -> None:
    """A text for several names, and a strategy that is none."""
    with pytest.raises((TypeError, ValueError)):
        split.saver.prune(given, strategy=strategy)
