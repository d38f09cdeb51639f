"""Checkpoints and their writes, as the savers lay them out: read and written on every kind of database."""

from __future__ import annotations

from tests.run.store.desk import Fresh
from tests.run.store.lines import SESSION, act, history, lines


def test_what_was_read_can_be_put_elsewhere(fresh: Fresh) -> None:
    """Nothing is lost between two databases of a kind."""
    there, here = fresh(), fresh()
    graph = lines(there)
    for turn in range(4):
        act(graph, f"turn {turn}")
    layout = there.layout
    with there.read() as source, here.transaction(SESSION) as cur:
        for stored in list(layout.checkpoints(source, SESSION)):
            layout.put(cur, SESSION, stored)
        layout.put_writes(cur, SESSION, list(layout.writes(source, SESSION)))
    assert history(lines(here)) == history(graph)


def test_writes_weigh_what_they_hold(fresh: Fresh) -> None:
    """By checkpoint."""
    database = fresh()
    act(lines(database), "ask")
    layout = database.layout
    with database.read() as cur:
        weights, writes = layout.weights(cur, SESSION), list(layout.writes(cur, SESSION))
    assert sum(weights.values()) == sum(len(write.data) for write in writes) > 0


def test_a_checkpoint_goes_with_its_writes(fresh: Fresh) -> None:
    """And with the values that no other one names."""
    database = fresh()
    act(lines(database), "ask")
    layout = database.layout
    with database.transaction(SESSION) as cur:
        names = [stored.id for stored in layout.checkpoints(cur, SESSION)]
        layout.drop(cur, SESSION, namespace="", checkpoints=names)
        layout.sweep(cur, SESSION, named=frozenset(), dry_run=False)
        left = [list(layout.checkpoints(cur, SESSION)), list(layout.writes(cur, SESSION))]
        assert (left, layout.sweep(cur, SESSION, named=frozenset(), dry_run=True)) == ([[], []], 0)
