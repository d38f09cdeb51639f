"""`stateward.replay`: the runs of a session, played with the graph as it is now."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import stateward as sw
from graphs.working import build
from stateward.errors import UnknownSession
from stateward.replay import replay
from stateward.run.store.database import Database
from tests.charts.drive import Driven
from tests.charts.refunds import asking
from tests.charts.replayed import replayed
from tests.charts.tools import Shop

Drive = Callable[..., Driven]
ROOT = Path(__file__).parents[1]
KILLED = """
import os, signal, sys
import stateward as sw
from graphs.working import chart
from nodes.working import list_topics

@sw.tool(effect="idempotent")
def look_up(topic: str) -> str:
    \"\"\"Look a topic up, or die.\"\"\"
    if sys.argv[2] == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    return f"On {topic}."

with sw.open(sys.argv[1]) as database:
    graph = chart(env={}).compile(tools=[list_topics, look_up], database=database)
    session = sw.Session("s", graph, database)
    print((session.start({"messages": [("user", "fuse")]}) if sys.argv[2] == "die" else session.resume()).status)
"""


def session(database: Database, *overrides: str) -> sw.Session:
    return sw.Session("s", build(env={}, overrides=overrides).attach(database), database)


def test_all_runs_are_played_up_to_the_first_that_differs(database: Database) -> None:
    """Under a smaller fuse the second run halts, which it did not; the third is not looked at."""
    for question in ("What is a fuse?", "What is a superstate?", "What is a fuse?"):
        session(database).start({"messages": [("user", question)]})
    assert [one.same for one in replay(session(database))] == [True, True, True]
    assert [one.same for one in replay(session(database, "policy.fuses.calls=3"))] == [True, False]
    assert [one.run_no for one in replay(session(database, "policy.fuses.calls=3"), run=3)] == [3]


def test_a_session_without_a_run_is_refused(database: Database) -> None:
    """There is nothing to play."""
    with pytest.raises(UnknownSession, match="`s`"):
        replay(session(database))


def test_a_replay_changes_nothing_of_the_session(drive: Drive) -> None:
    """Neither journal nor audit log, ledger, asks or checkpoints; and the session goes on."""
    driven = drive(asking(Shop()))
    ask = driven.start({}).asks[0]
    tables = driven.session.database
    before = [tables.journal.entries("s1"), tables.audit.rows("s1"), tables.asks.open(), len(driven.checkpoints)]
    assert replayed(driven).same
    assert before == [
        tables.journal.entries("s1"),
        tables.audit.rows("s1"),
        tables.asks.open(),
        len(driven.checkpoints),
    ]
    assert driven.answer(ask).status == "completed"


@pytest.mark.slow
def test_a_run_that_was_killed_and_resumed_is_played_as_one(tmp_path: Path) -> None:
    """SIGKILL inside a tool; another process went on with it, and a third plays it without its tools."""
    url = f"sqlite:///{tmp_path}/s.db"
    for how, code in (("die", -9), ("go on", 0)):
        command = [sys.executable, "-c", KILLED, url, how]
        assert subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == code
    with sw.open(url) as database:
        (played,) = replay(session(database))
    assert (played.same, played.calls) == (True, 2)
