"""Where the tables of a graph live."""

from __future__ import annotations

from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver

import stateward as sw
from stateward.run.tables import Tables


def test_tables_of_an_attached_graph_are_its_database_s() -> None:
    """Whatever saver a caller names."""
    with sw.open("memory:") as database:
        assert Tables(attached=database).database(InMemorySaver()) is database


def test_tables_beside_the_memory_saver_live_in_memory() -> None:
    """Nothing is left behind on disk that outlives the checkpoints."""
    with Tables().database(InMemorySaver()) as database:
        assert database.url == "memory:"


def test_tables_are_opened_once() -> None:
    """All copies of a graph share them."""
    tables = Tables(url="memory:")
    with tables.database(None) as first:
        assert tables.database(None) is first


def test_tables_apart_from_foreign_checkpoints_are_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another host would not find the journal, and could make an effect a second time."""
    monkeypatch.chdir(tmp_path)
    with (
        SqliteSaver.from_conn_string(str(tmp_path / "theirs.db")) as saver,
        pytest.warns(UserWarning, match="STATEWARD_DB"),
        Tables().database(saver) as database,
    ):
        assert database.url.endswith(".stateward/stateward.db")
