"""One call of a compiled graph, from its opening to its end."""

from __future__ import annotations

from typing import Any

import pytest

import stateward as sw
from stateward.run.invocation import Invocation
from stateward.testing import How, run_graph
from tests.charts.one import compiled
from tests.charts.tools import Shop


def nothing(state: Any) -> None:
    """Do nothing."""


def searching(how: How) -> Any:
    """An activity that calls a tool, in the test's way."""

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        return {"text": (await run.tool("lookup", order="x")).status}

    def act_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
        return {"text": run.tool("lookup", order="x").status}

    return act_sync if how == "sync" else act


def test_call_that_opened_no_tables_ends_without_their_threads(how: How) -> None:
    """There is nothing to close, so nobody waits for a thread."""
    graph = compiled(nothing)
    run_graph(graph, {}, how=how)
    assert graph.tables.threads.database.threads == 0


def test_tables_that_a_call_opened_are_closed_at_its_end(how: How, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a graph without a saver live as long as its call."""
    ended: list[bool] = []
    close = Invocation.close_database

    def closing(call: Invocation) -> None:
        before = call.has_database
        close(call)
        ended.append(before and not call.has_database)

    monkeypatch.setattr(Invocation, "close_database", closing)
    run_graph(compiled(searching(how), box=[Shop().lookup]), {}, how=how)
    assert ended == [True]
