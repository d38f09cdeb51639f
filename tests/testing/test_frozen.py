"""Frozen runs, in files and as tests of pytest."""

from __future__ import annotations

from pathlib import Path

import pytest

import stateward as sw
from graphs.working import build
from stateward.errors import DefinitionError, NotExpected
from stateward.run.store.database import Database
from stateward.run.store.retention import Retention, prune
from stateward.testing.frozen import freeze, play_frozen

PLUGIN = ("-p", "_stateward_pytest", "-p", "no:cacheprovider")
NAME = "graphs.working:graph"


@pytest.fixture
def session(database: Database) -> sw.Session:
    """A session with one run that ended."""
    session = sw.Session("s1", build(env={}).attach(database), database)
    session.start({"messages": [("user", "What is a fuse?")]})
    return session


def test_a_frozen_run_plays_with_the_graph_that_it_names(session: sw.Session, tmp_path: Path) -> None:
    """Folders are made; nothing looks like a secret."""
    file = tmp_path / "new" / "fuse.json"
    assert freeze(session, file, graph=NAME) == ()
    played = play_frozen(file)
    assert (played.same, played.calls) == (True, 2)


def test_overrides_build_the_graph_as_it_was(session: sw.Session, tmp_path: Path) -> None:
    """Under a smaller fuse the same run differs."""
    file = tmp_path / "fuse.json"
    freeze(session, file, graph=NAME, overrides=["policy.fuses.calls=1"])
    played = play_frozen(file)
    assert played.divergence is not None
    assert played.drift == ("policy",)


def test_a_secret_in_the_state_is_told(session: sw.Session, tmp_path: Path) -> None:
    """The state is kept as it is: the key is named, so that somebody looks."""
    session.start({"messages": [("user", "my key is sk-proj-" + "a1B2" * 12)]})
    assert freeze(session, tmp_path / "s.json", graph=NAME) == ("messages",)


def test_a_run_that_is_at_work_is_not_frozen(database: Database, tmp_path: Path) -> None:
    """It has no end to compare with."""
    graph = build(env={}).attach(database)
    session = sw.Session("s1", graph, database)
    graph.invoke({"messages": [("user", "fuse")]}, session.config, interrupt_before=["WORKING.ACT"])
    with pytest.raises(NotExpected, match="Resume it first"):
        freeze(session, tmp_path / "s.json", graph=NAME)


def test_a_run_that_lost_steps_is_not_frozen(session: sw.Session, tmp_path: Path) -> None:
    """It would be a test that cannot pass; a later run that is whole is one."""
    prune(session.database, retention=Retention(keep=1))
    with pytest.raises(NotExpected, match="not stored any more"):
        freeze(session, tmp_path / "s.json", graph=NAME)
    session.start({"messages": [("user", "What is a fuse?")]})
    freeze(session, tmp_path / "s.json", graph=NAME)
    assert play_frozen(tmp_path / "s.json").same


@pytest.mark.parametrize("name", ["no.such.module:graph", "graphs.working:nothing", "graphs.working:POLICIES"])
def test_a_graph_that_is_not_there_is_an_error_that_names_the_file(
    session: sw.Session, tmp_path: Path, name: str
) -> None:
    """Whatever is missing of it."""
    file = tmp_path / "s.json"
    freeze(session, file, graph=name)
    with pytest.raises(DefinitionError, match=r"s\.json"):
        play_frozen(file)


def test_pytest_plays_every_frozen_run(session: sw.Session, pytester: pytest.Pytester) -> None:
    """Each file of `tests/runs` is a test."""
    freeze(session, pytester.path / "tests" / "runs" / "fuse.json", graph=NAME)
    result = pytester.runpytest_inprocess(*PLUGIN, "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*tests/runs/fuse.json::fuse PASSED*"])


def test_a_difference_is_told_without_a_traceback(session: sw.Session, pytester: pytest.Pytester) -> None:
    """Step, state, what was recorded and what came, and how to accept it."""
    file = pytester.path / "tests" / "runs" / "fuse.json"
    freeze(session, file, graph=NAME)
    file.write_text(file.read_text().replace("Looked up so far", "Looked up"))
    result = pytester.runpytest_inprocess(*PLUGIN)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["Run 1 differs from its record at step *", "*value of `messages`*", "*--force*"])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_another_folder_can_be_named(session: sw.Session, pytester: pytest.Pytester) -> None:
    """JSON files elsewhere are left alone."""
    pytester.makeini("[pytest]\nstateward_runs = recorded\n")
    freeze(session, pytester.path / "recorded" / "fuse.json", graph=NAME)
    (pytester.path / "tests" / "runs").mkdir(parents=True)
    (pytester.path / "tests" / "runs" / "other.json").write_text("{}")
    pytester.runpytest_inprocess(*PLUGIN).assert_outcomes(passed=1)


def test_the_chart_that_was_frozen_can_be_another(session: sw.Session, tmp_path: Path) -> None:
    """A test may play a run with the graph it has made."""
    file = tmp_path / "s.json"
    freeze(session, file, graph="not.looked:at")
    assert play_frozen(file, graph=build(env={})).same
