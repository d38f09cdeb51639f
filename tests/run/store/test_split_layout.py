"""The layout of the PostgreSQL saver: values apart from their checkpoints, each once for each version."""

from __future__ import annotations

import pytest

from stateward.run.store.layout import Layout
from stateward.run.store.split_layout import SplitLayout, layout_of
from tests.run.store.desk import Fresh
from tests.run.store.lines import CONFIG, SESSION, act, lines


@pytest.mark.parametrize("url", ["memory:", "sqlite:///a.db"])
def test_sqlite_has_the_plain_layout(url: str) -> None:
    """Values are inside their checkpoints."""
    assert type(layout_of(url)) is Layout


@pytest.mark.parametrize("url", ["postgres://h/d", "postgresql://h/d"])
def test_postgresql_has_the_split_one(url: str) -> None:
    """Under both names of the scheme."""
    assert type(layout_of(url)) is SplitLayout


def test_a_full_copy_is_told_once(fresh: Fresh) -> None:
    """The checkpoints after it have the same version, and do not hold it."""
    database = fresh()
    graph = lines(database)
    for turn in range(6):
        act(graph, f"turn {turn}")
    with database.read() as cur:
        held = [s.content["channel_values"] for s in layout_of(database.url).checkpoints(cur, SESSION)]
    assert sum("notes" in values for values in held) == 1
    assert len(graph.get_state(CONFIG).values["notes"]) == 6
