"""What is read of a session: its runs, each from its own line of checkpoints."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import stateward as sw
from stateward.errors import NotExpected, UnknownSession
from stateward.run.replay.record import recordings
from stateward.run.store.database import Database
from stateward.run.store.retention import Retention, pin, prune
from tests.charts.drive import Driven
from tests.charts.replayed import two_runs

Drive = Callable[..., Driven]


@pytest.fixture
def driven(drive: Drive) -> Driven:
    """Two runs, the second with a wait."""
    return two_runs(drive)


def test_a_run_begins_with_its_input_and_after_the_one_before_it(driven: Driven) -> None:
    """LangGraph's two checkpoints of an input are one moment."""
    first, second = recordings(driven.session.graph, database=driven.session.database, session="s1")
    assert (first.before, [one.source for one in first.moments]) == (None, ["input"] + ["step"] * 6)
    assert second.before is not None
    assert second.before.checkpoint == first.moments[-1].checkpoint
    assert second.moments[0].given["messages"][0].text == "stop"


def test_a_wait_says_what_it_was_resumed_with(driven: Driven) -> None:
    """As admission let it pass."""
    (second,) = recordings(driven.session.graph, database=driven.session.database, session="s1", run_no=2)
    (wait,) = [one for one in second.moments if one.resumed]
    assert (wait.next, wait.payload) == (("PAUSED",), {"event": "resume", "data": {"note": "on"}})


def test_a_run_that_is_not_there_is_named_with_those_that_are(driven: Driven) -> None:
    """So is a session without a checkpoint."""
    with pytest.raises(NotExpected, match=r"no run 3.*1, 2"):
        recordings(driven.session.graph, database=driven.session.database, session="s1", run_no=3)
    with pytest.raises(UnknownSession, match="`s2`"):
        recordings(driven.session.graph, database=driven.session.database, session="s2")


def test_the_journal_of_a_run_is_its_own(database: Database) -> None:
    """Calls, asks and audit records of other runs are left out."""
    from graphs.working import build

    session = sw.Session("s1", build(env={}).attach(database), database)
    for _ in range(2):
        session.start({"messages": [("user", "What is a fuse?")]})
    for recording in recordings(session.graph, database=database, session="s1"):
        assert {call.key.run for call in recording.calls} == {recording.run}
        assert {note["run"] for note in recording.notes} == {recording.run}


@pytest.mark.parametrize("run_no", [None, 1, 2])
@pytest.mark.parametrize("keep", [1, 2, 4])
def test_a_run_of_which_steps_were_pruned_is_refused(driven: Driven, keep: int, run_no: int | None) -> None:
    """Nothing in it has changed, so it is no difference; a run whose end is gone is not one that was cut off."""
    session = driven.session
    prune(session.database, retention=Retention(keep=keep))
    with pytest.raises(NotExpected, match=rf"Run {run_no or 1} .* not stored any more.*No run of the session is whole"):
        recordings(session.graph, database=session.database, session="s1", run_no=run_no)


def test_a_run_that_is_whole_is_read_beside_one_that_is_not(driven: Driven) -> None:
    """With the checkpoint before it."""
    session = driven.session
    (second,) = recordings(session.graph, database=session.database, session="s1", run_no=2)
    prune(session.database, retention=Retention(keep=len(second.moments) + 2))
    assert recordings(session.graph, database=session.database, session="s1", run_no=2) == (second,)
    with pytest.raises(NotExpected, match="Play run 2"):
        recordings(session.graph, database=session.database, session="s1")


def test_a_step_in_the_middle_that_is_gone_is_told(driven: Driven) -> None:
    """A pin keeps one, and not those after it."""
    session = driven.session
    (first,) = recordings(session.graph, database=session.database, session="s1", run_no=1)
    for moment in first.moments[:2]:
        pin(session.database, "s1", moment.checkpoint)
    prune(session.database, retention=Retention(keep=1))
    with pytest.raises(NotExpected, match="Run 1 "):
        recordings(session.graph, database=session.database, session="s1", run_no=1)
