"""`working` (A1): leaves WORKING from any substate, goes on through history, and one policy binds all three."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import stateward as sw
from graphs.working import build, chart
from stateward.errors import NotExpected
from stateward.run.store.database import Database
from stateward.testing import How, run_graph

ROOT = Path(__file__).parents[2]
PARTS = ("WORKING.PLAN", "WORKING.ACT", "WORKING.REFLECT")
RESUME = """
import sys
import stateward as sw
from graphs.working import build
with sw.open(sys.argv[1]) as database:
    outcome = sw.Session("s", build(env={}).attach(database), database).resume("resume")
print(outcome.status, outcome.path)
"""


def session(database: Database, *overrides: str) -> sw.Session:
    return sw.Session("s", build(env={}, overrides=overrides).attach(database), database)


def asked(text: str) -> dict[str, object]:
    return {"messages": [("user", text)]}


@pytest.mark.parametrize("how", ["sync", "async"])
def test_it_looks_up_what_the_question_mentions_and_what_that_refers_to(how: How) -> None:
    """Rounds of PLAN, ACT and REFLECT follow the references until nothing is open."""
    values = run_graph(build(env={}), asked("What is a superstate?"), how=how)
    assert sorted(values["found"]) == ["fuse", "history", "policy", "superstate"]
    assert values["messages"][-1].content == "Looked up so far: fuse, history, policy, superstate."


def test_the_word_stop_leaves_from_any_substate_and_history_leads_back(database: Database) -> None:
    """The question, the plan and the finding each say stop; each activity still runs once, after its return."""
    it = session(database)
    left = [it.start(asked("What does stop do?"))]
    while left[-1].path == "PAUSED":
        left.append(it.resume("resume"))
    assert [one.path for one in left] == ["PAUSED", "PAUSED", "PAUSED", "DONE"]
    lasts = [step.values["stateward"].get("last", {}) for step in it.graph.get_state_history(it.config)]
    ended = [last["state"] for last in reversed(lasts) if last.get("event", "").startswith("done.activity")]
    assert ended == list(PARTS)


def test_stop_counts_only_in_the_three_newest_messages(database: Database) -> None:
    """A word that was said four messages ago no longer leaves WORKING."""
    old = [("user", "stop"), ("user", "one"), ("user", "two"), ("user", "three")]
    assert session(database).start({"messages": old}).path == "DONE"


@pytest.mark.slow
def test_another_process_goes_on_where_the_work_was_left(tmp_path: Path) -> None:
    """Every return through history happens in a process of its own, over one SQLite file."""
    url = f"sqlite:///{tmp_path}/w.db"
    with sw.open(url) as database:
        assert session(database).start(asked("What does stop do?")).path == "PAUSED"
    command = [sys.executable, "-c", RESUME, url]
    ends = [subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout for _ in range(3)]
    assert ends == ["waiting PAUSED\n", "waiting PAUSED\n", "completed DONE\n"]


def test_a_policy_on_the_superstate_binds_all_three_substates() -> None:
    """PLAN, ACT and REFLECT have the same limits, counted in the scope WORKING; PAUSED has none."""
    machine = build(env={}).machine
    bound = {path: machine.effectives[machine.chart.by_path[path]] for path in (*PARTS, "PAUSED")}
    assert {bound[path].hash for path in PARTS} == {bound["WORKING.PLAN"].hash}
    assert {limit.scope for path in PARTS for limit in bound[path].limits} == {"WORKING"}
    assert {bound[path].level("delete_everything").level for path in PARTS} == {"forbidden"}
    assert bound["PAUSED"].limits == ()


def test_a_fuse_on_the_superstate_counts_what_its_substates_spend_together(database: Database) -> None:
    """One call of PLAN and one of ACT use up a fuse of two calls; the next one, PLAN's again, is not made."""
    outcome = session(database, "policy.fuses.calls=2").start(asked("What is a superstate?"))
    assert (outcome.status, outcome.path) == ("halted", "WORKING.PLAN")
    assert outcome.reason is not None
    assert outcome.reason["event"] == "fuse.calls"


def test_pause_is_refused_where_nothing_waits_for_it(database: Database) -> None:
    """Only `resume` is awaited in PAUSED; another event changes nothing."""
    it = session(database)
    it.start(asked("stop"))
    with pytest.raises(NotExpected, match="Awaited: resume"):
        it.resume("pause")
    assert it.outcome().path == "PAUSED"


def test_the_drawings_show_the_states_inside_the_superstate() -> None:
    """Both the chart's diagram and LangGraph's have the three states inside WORKING."""
    drawn = build(env={}).get_graph().draw_mermaid()
    assert "subgraph WORKING" in drawn
    assert all(path.replace(".", "__") in chart(env={}).draw() for path in PARTS)
    assert chart(env={}).check() == ()
