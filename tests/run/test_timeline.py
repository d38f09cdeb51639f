"""The timeline of a session."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, TypedDict

import pytest

import stateward as sw
from stateward.govern.policy import Policy
from stateward.run.store.database import Database
from stateward.run.timeline import UNCOMMITTED, GuardVerdict, timeline
from stateward.testing import ScriptedModel


class Case(TypedDict):
    """The state."""

    question: str
    rounds: int


@sw.tool(effect="pure")
def look() -> str:
    """Look."""
    return "found"


@sw.tool(effect="idempotent")
def pay() -> str:
    """Pay."""
    return "paid"


@sw.tool(effect="pure")
def die() -> str:
    """End the process, as far as this test can."""
    raise KeyboardInterrupt


def is_long(state: Case) -> bool:
    """Whether another round is needed."""
    return state["rounds"] < 2


async def act(state: Case, run: sw.Run[Any]) -> dict[str, Any]:
    """Look, think and pay."""
    await run.tool("look")
    await run.model("thinker").ainvoke([("user", state["question"])])
    if state["question"] == "die":
        await run.tool("die")
    await run.tool("pay")
    return {"rounds": state.get("rounds", 0) + 1}


@pytest.fixture
def database() -> Iterator[Database]:
    """A database in memory."""
    with sw.open("memory:") as opened:
        yield opened


@pytest.fixture
def policy(tmp_path) -> Policy:
    """Paying needs a person."""
    file = tmp_path / "desk.yaml"
    file.write_text(
        "version: 1\ntools: {default: allowed, rules: [{match: pay, level: restricted}]}\nfuses: {turns: 9}\n"
    )
    return sw.load_policy(file)


@pytest.fixture
def session(database: Database, policy: Policy) -> sw.Session:
    """A session of a chart that works in rounds."""
    chart = sw.Chart(
        "desk",
        Case,
        sw.State(
            "ACT", do=act, model="thinker", tools=["look", "pay", "die"], to=[sw.when(is_long, "ACT"), "DONE"],
            policy=policy,
        ),
        sw.Final("DONE"),
    )  # fmt: skip
    model = ScriptedModel.of(*["hm"] * 9)
    role = sw.ModelRole(name="thinker", model=model, usd_per_million_input=1.0, usd_per_million_output=2.0)
    return sw.Session(
        "s1", chart.compile(tools=[look, pay, die], models={"thinker": role}, database=database), database
    )


def finish(session: sw.Session) -> None:
    outcome = session.outcome()
    while outcome.asks:
        outcome = session.answer(outcome.asks[0], "approve", by="ann")


def test_each_step_tells_state_event_guards_and_changes(session, database):
    """From the input to the end, the oldest first."""
    session.start({"question": "why?"})
    finish(session)
    rows = timeline(session.graph, database=database, session="s1")
    assert [(row.event, row.status) for row in rows] == [
        ("start", "running"),
        ("ask", "waiting"), ("answer", "running"), ("done.activity.ACT", "running"),
        ("ask", "waiting"), ("answer", "running"), ("done.activity.ACT", "completed"),
    ]  # fmt: skip
    assert [row.activation for row in rows] == [0, 1, 1, 1, 2, 2, 2]
    assert rows[3].taken == ("ACT -> ACT",)
    assert rows[3].verdicts == (GuardVerdict(guard=rows[3].verdicts[0].guard, passed=True),)
    assert (rows[6].changed, rows[6].path) == (("rounds",), ("DONE",))
    assert [row.step for row in rows] == list(range(7))


def test_each_call_is_told_once_at_the_step_it_was_made_in(session, database):
    """Before the ask what was made before it, at the end what was made after the answer."""
    session.start({"question": "why?"})
    finish(session)
    rows = timeline(session.graph, database=database, session="s1")
    assert [[call.name for call in row.calls] for row in rows] == [
        [], ["look", "thinker"], [], ["pay"], ["look", "thinker"], [], ["pay"],
    ]  # fmt: skip


def test_the_cost_of_the_steps_is_the_cost_of_the_session(session, database):
    """Turns, tokens and money add up to what the session's row says."""
    session.start({"question": "why?"})
    finish(session)
    rows, total = timeline(session.graph, database=database, session="s1"), database.sessions.get("s1")
    assert sum(row.turns for row in rows) == total.turns == 2
    assert sum(row.tokens for row in rows) == total.tokens == 30
    assert sum(row.usd for row in rows) == pytest.approx(total.usd)
    assert total.usd > 0


def test_runs_of_one_session_are_told_apart(session, database):
    """A second input opens run 2, whose calls are its own."""
    for _ in range(2):
        session.start({"question": "why?", "rounds": 1})
        finish(session)
    rows = timeline(session.graph, database=database, session="s1")
    assert [row.run_no for row in rows] == [1, 1, 1, 1, 2, 2, 2, 2]
    assert [len(row.calls) for row in rows] == [0, 2, 0, 1] * 2


def test_calls_without_a_checkpoint_stand_at_the_end(session, database):
    """A process that died in an activity has left calls and no checkpoint."""
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(session.astart({"question": "die"}))
    last = timeline(session.graph, database=database, session="s1")[-1]
    assert (last.event, last.step, last.state, last.run_no) == (UNCOMMITTED, None, "ACT", 1)
    assert [call.name for call in last.calls][:2] == ["look", "thinker"]


def test_a_session_that_was_never_started_has_no_timeline(session, database):
    """There is nothing to tell."""
    assert timeline(session.graph, database=database, session="s1") == ()
