"""The space of deleted rows goes back to the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from stateward.errors import CheckpointError
from stateward.run.store.database import open_database
from stateward.run.store.retention import Retention, prune_session
from stateward.run.store.vacuum import vacuum
from tests.run.store.desk import Fresh, url
from tests.run.store.lines import SESSION, act, history, lines


def test_a_pruned_file_becomes_smaller(tmp_path: Path) -> None:
    """And holds what it held."""
    with open_database(url(tmp_path)) as database:
        graph = lines(database)
        for turn in range(30):
            act(graph, f"turn {turn}")
        prune_session(database, SESSION, retention=Retention(keep=1))
        before = history(graph)
        assert vacuum(database) > 10_000
        assert history(graph) == before


def test_where_there_is_no_file_nothing_is_done(fresh: Fresh) -> None:
    """PostgreSQL does it by itself."""
    assert vacuum(fresh()) == 0


def test_a_file_that_cannot_be_rewritten_is_told(tmp_path: Path) -> None:
    """With its reason."""
    with open_database(url(tmp_path)) as database, database.transaction():
        database.url = f"sqlite:///{tmp_path}"
        with pytest.raises(CheckpointError, match="cannot be made smaller"):
            vacuum(database)
