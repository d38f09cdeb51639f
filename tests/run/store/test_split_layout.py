"""The layout of the PostgreSQL saver: values apart from their checkpoints, each once for each version."""

from __future__ import annotations

from pathlib import Path

import pytest

from stateward.run.store.database import open_database
from stateward.run.store.layout import Layout
from stateward.run.store.split_layout import SplitLayout
from tests.postgres import Server
from tests.run.store.desk import Fresh
from tests.run.store.lines import CONFIG, SESSION, act, lines


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_sqlite_has_the_plain_layout(kind: str, tmp_path: Path) -> None:
    """Values are inside their checkpoints."""
    with open_database("memory:" if kind == "memory" else f"sqlite:///{tmp_path / 'a.db'}") as database:
        assert type(database.layout) is Layout


@pytest.mark.parametrize("scheme", ["postgres", "postgresql"])
def test_postgresql_has_the_split_one(scheme: str, postgres: Server) -> None:
    """Under both names of the scheme."""
    with open_database(postgres.url().replace("postgresql:", f"{scheme}:", 1)) as database:
        assert type(database.layout) is SplitLayout


def test_a_full_copy_is_told_once(fresh: Fresh) -> None:
    """The checkpoints after it have the same version, and do not hold it."""
    database = fresh()
    graph = lines(database)
    for turn in range(6):
        act(graph, f"turn {turn}")
    with database.read() as cur:
        held = [s.content["channel_values"] for s in database.layout.checkpoints(cur, SESSION)]
    assert sum("notes" in values for values in held) == 1
    assert len(graph.get_state(CONFIG).values["notes"]) == 6
