"""Retention: old checkpoints go, and each one that stays reads as it did."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.errors import CheckpointError, UnknownSession
from stateward.run.store.database import Database, open_database
from stateward.run.store.retention import Retention, pin, prune, prune_session
from tests.run.store.desk import Fresh, StillClock, control
from tests.run.store.lines import CONFIG, SESSION, act, history, lines

ACTS = st.tuples(
    st.sampled_from(["ask", "ask", "ask", "forget", "reset", "seldom", "edit", "go on"]),
    st.sampled_from([0, 0, 0, 3, 8]),
)
DAY = 86_400.0


@pytest.fixture
def database(fresh: Fresh) -> Database:
    """A fresh database."""
    return fresh()


def said(database: Database, *, turns: int) -> Any:
    graph = lines(database)
    for turn in range(turns):
        act(graph, f"turn {turn}")
    return graph


def ids(graph: Any) -> list[str]:
    """The checkpoints that are there, the newest first."""
    return list(history(graph))


@settings(max_examples=25, deadline=None)
@given(rounds=st.lists(st.tuples(st.lists(ACTS, min_size=1, max_size=12), st.integers(1, 9)), min_size=1, max_size=3))
def test_every_kept_checkpoint_reads_as_before(rounds: list[Any]) -> None:
    """Over random histories with forks, edits, removals and resets, pruned again and again."""
    with open_database("memory:", clock=StillClock()) as database:
        graph = lines(database)
        for acts, keep in rounds:
            for do, back in acts:
                act(graph, do, back=back)
            before = history(graph)
            pruned = prune_session(database, SESSION, retention=Retention(keep=keep))
            after = history(graph)
            assert after == {name: before[name] for name in after}
            assert (pruned.kept, pruned.removed) == (len(after), len(before) - len(after))


@settings(max_examples=15, deadline=None)
@given(acts=st.lists(ACTS, min_size=2, max_size=14), keep=st.integers(1, 6), back=st.integers(0, 9))
def test_a_pruned_session_goes_on_from_any_checkpoint(acts: list[Any], keep: int, back: int) -> None:
    """What a run over a kept checkpoint returns is what is read afterwards."""
    with open_database("memory:", clock=StillClock()) as database:
        graph = lines(database)
        for do, to in acts:
            act(graph, do, back=to)
        prune_session(database, SESSION, retention=Retention(keep=keep))
        found = list(graph.get_state_history(CONFIG))
        values = graph.invoke({"do": "after", "messages": [("user", "after")]}, found[back % len(found)].config)
        assert graph.get_state(CONFIG).values == values


def test_a_conversation_keeps_its_first_checkpoint_and_the_newest(database: Database) -> None:
    """What was said lies at the first one, so that the newest can be read."""
    graph = said(database, turns=4)
    before = ids(graph)
    pruned = prune_session(database, SESSION, retention=Retention(keep=2))
    assert ids(graph) == [*before[:2], before[-1]]
    assert (pruned.removed, pruned.kept, len(graph.get_state(CONFIG).values["messages"])) == (len(before) - 3, 3, 8)


def test_the_line_goes_on_after_pruning(database: Database) -> None:
    """Turns, a full copy and further prunings later nothing is lost."""
    graph = said(database, turns=3)
    for turn in range(3):
        prune_session(database, SESSION, retention=Retention(keep=1))
        act(graph, f"later {turn}")
    texts = [message.text for message in graph.get_state(CONFIG).values["messages"]]
    assert (len(texts), texts[0], texts[-2]) == (12, "turn 0", "later 2")


def test_what_is_freed_is_what_is_gone(database: Database) -> None:
    """A dry run tells the same and changes nothing; a second run finds nothing."""
    graph = said(database, turns=5)
    before, keep = history(graph), Retention(keep=1)
    told = prune_session(database, SESSION, retention=keep, dry_run=True)
    assert (history(graph), told.freed > 1000) == (before, True)
    done = prune_session(database, SESSION, retention=keep)
    assert (done.removed, done.kept) == (told.removed, told.kept)
    assert prune_session(database, SESSION, retention=keep).removed == 0


def test_days_keep_what_is_young(fresh: Fresh) -> None:
    """LangGraph's time of a checkpoint counts."""
    clock = StillClock()
    graph = said(database := fresh(clock), turns=2)
    clock.time = _time(graph) + 3 * DAY
    assert prune_session(database, SESSION, retention=Retention(days=4)).removed == 0
    assert prune_session(database, SESSION, retention=Retention(days=2)).removed > 0


def _time(graph: Any) -> float:
    return datetime.fromisoformat(graph.get_state(CONFIG).created_at).timestamp()


def test_a_pinned_checkpoint_stays_until_it_is_no_longer(database: Database) -> None:
    """It is told by its metadata."""
    graph = said(database, turns=4)
    chosen = ids(graph)[5]
    pin(database, SESSION, chosen)
    prune_session(database, SESSION, retention=Retention(keep=1))
    assert chosen in ids(graph)
    pin(database, SESSION, chosen, pinned=False)
    prune_session(database, SESSION, retention=Retention(keep=1))
    assert chosen not in ids(graph)


def test_only_a_checkpoint_that_is_there_can_be_pinned(database: Database) -> None:
    """Another name is an error."""
    with pytest.raises(CheckpointError, match="has no checkpoint `nope`"):
        pin(database, SESSION, "nope")


def test_a_session_that_somebody_runs_is_left_alone(database: Database) -> None:
    """It is told as busy, and the others are pruned."""
    graph = said(database, turns=3)
    before = ids(graph)
    database.leases.acquire("other")
    lease = database.leases.acquire(SESSION)
    assert all(one.busy for one in prune(database, retention=Retention(keep=1)))
    database.leases.release(lease)
    assert {one.session for one in prune(database, retention=Retention(keep=1)) if one.busy} == {"other"}
    assert len(ids(graph)) < len(before)


def test_one_session_can_be_chosen(database: Database) -> None:
    """Another name is an error."""
    said(database, turns=3)
    assert [one.session for one in prune(database, retention=Retention(keep=1), session=SESSION)] == [SESSION]
    with pytest.raises(UnknownSession):
        prune(database, retention=Retention(keep=1), session="nope")


@pytest.mark.parametrize("wrong", [{}, {"keep": 0}, {"days": -1}, {"days": math.nan}, {"keep": 2, "days": math.nan}])
def test_a_retention_says_what_is_kept(wrong: dict[str, Any]) -> None:
    """Nothing, no checkpoint, days to come and no number of days are refused."""
    with pytest.raises(CheckpointError):
        Retention(**wrong)


def test_the_end_of_the_last_run_and_of_each_branch_stay(database: Database) -> None:
    """They are known by the control channel and the terminal record."""
    graph = lines(database)
    for branch, status in (("try", "running"), ("main", "running"), ("main", "completed")):
        act(graph, status, stateward=control(status, branch=branch))
    act(graph, "edit")
    ended = database.sessions.terminals(SESSION)[0].checkpoint
    told = {name: read[0].get("stateward") for name, read in history(graph).items()}
    tried = next(name for name, value in told.items() if value and value["branch"] == "try")
    prune_session(database, SESSION, retention=Retention(keep=1))
    assert {tried, ended} <= set(ids(graph))
    assert not any(told[name] == control("running") for name in ids(graph))
