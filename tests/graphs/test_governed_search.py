"""`governed_search` (D1, D2, D5): two policies on one chart, tools found at run time, budgets, approvals, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from graphs.governed_search import build
from stateward.run.session import Outcome
from stateward.testing import ScriptedModel, calls
from tests.charts.drive import Driven

QUESTION = {"question": "How do I return goods?"}
Make = Callable[..., Driven]


@pytest.fixture
def make(drive: Callable[..., Driven]) -> Make:
    """Drive a session of the graph."""

    def driven(*overrides: str, session: str = "s1", **options: Any) -> Driven:
        return drive(build(env={}, overrides=overrides, **options), session=session)

    return driven


def planner(*replies: Any) -> dict[str, sw.ModelRole]:
    """A priced model that chooses the calls, and then says that it has enough."""
    model = ScriptedModel.of(*replies, "enough")
    return {
        "planner": sw.ModelRole(
            name="planner", model=model, usd_per_million_input=1.0, usd_per_million_output=1.0, max_output_tokens=200
        )
    }


def made(outcome: Outcome) -> list[str]:
    """Tool and status of each call, in order."""
    return [f"{one['tool']} {one['status']}" for one in outcome.values["log"]]


def said(outcome: Outcome, tool: str) -> str:
    """What became of the last call of a tool."""
    return [one["said"] for one in outcome.values["log"] if one["tool"] == tool][-1]


def connected(driven: Driven) -> Outcome:
    """Come to the end of a first run, which connects."""
    (ask,) = driven.start(QUESTION).asks
    return driven.answer(ask)


FOUND = ["list_tools ok", "find_articles ok"]


# -- the two policies -----------------------------------------------------------------------------------------


def test_discovery_only_finds_and_touches_nothing(make: Make) -> None:
    """It learns what there is; the connection is denied, with the reason on record."""
    driven = make("policy.mode=discovery_only")
    done = driven.start(QUESTION)
    assert (done.status, made(done)) == ("completed", [*FOUND, "connect_archive denied"])
    assert done.values["best"] == "read_returns"
    events = [row.record["event"] for row in driven.session.database.audit.rows("s1")]
    assert events.count("denied") == 1


def test_separated_connects_in_one_run_and_reads_in_the_next(make: Make) -> None:
    """Both ask a person first; the second run of the session has the connection of the first."""
    driven = make()
    first = connected(driven)
    assert made(first) == [*FOUND, "connect_archive ok"]
    (ask,) = driven.start(QUESTION).asks
    done = driven.answer(ask)
    assert made(done)[3:] == [*FOUND, "read_returns ok", "save_note ok"]
    assert "within 30 days" in done.values["answer"]


def test_connecting_and_reading_never_meet_in_one_run(make: Make) -> None:
    """A model that wants both gets one, whichever comes first; the reason names the two groups."""
    wants = [calls(("connect_archive", {"reason": "to read"})), calls(("read_returns", {}))]
    driven = make(models=planner(*wants))
    done = connected(driven)
    assert made(done) == [*FOUND, "connect_archive ok", "read_returns denied"]
    assert "the two never meet in one run" in said(done, "read_returns")


def test_reading_and_then_connecting_is_refused_without_asking(make: Make) -> None:
    """Nobody is asked about a call that would be refused anyway."""
    driven = make(models=planner(calls(("read_returns", {})), calls(("connect_archive", {"reason": "to read"}))))
    waiting = driven.start({**QUESTION, "is_connected": True})
    assert [ask.tool for ask in driven.session.database.asks.open()] == ["save_note"]
    assert made(waiting) == [*FOUND, "read_returns ok", "connect_archive denied"]


# -- what is found at run time --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["purge_archive", "read_everything", "save_note", "rеad_returns"])
def test_only_listed_tools_that_are_there_are_called(make: Make, name: str) -> None:
    """What the archive offers and no list has, what nobody offers, what the state lacks, and a look-alike letter."""
    done = make(models=planner(calls((name, {})))).start(QUESTION)
    assert made(done) == [*FOUND, f"{name} denied"]


def test_tool_that_deletes_is_told_to_be_on_no_list(make: Make) -> None:
    """It is forbidden before it is looked up on the list; in the open it would be unlisted."""
    opened = "policy.tools.default=allowed"
    done = make(opened, models=planner(calls(("purge_archive", {})))).start(QUESTION)
    assert "found at run time and is not on the list" in said(done, "purge_archive")


# -- arguments, budgets, approvals ----------------------------------------------------------------------------


@pytest.mark.parametrize("lines", [0, 41, -1])
def test_arguments_of_found_tools_are_ruled(make: Make, lines: int) -> None:
    """The article's lines stay in their range."""
    done = make(models=planner(calls(("read_returns", {"lines": lines})))).start(QUESTION)
    assert made(done)[2:] == ["read_returns denied"]


def test_budget_of_calls_holds_over_rounds(make: Make) -> None:
    """The call that would pass the fuse is not made; the run halts."""
    rounds = [calls(*[("read_returns", {"lines": n + 1}), ("read_login", {"lines": n + 1})]) for n in range(3)]
    halted = make("policy.fuses.calls=5", models=planner(*rounds)).start(QUESTION)
    assert (halted.status, (halted.reason or {})["event"]) == ("halted", "fuse.calls")


def test_budgets_are_those_of_the_governor(make: Make) -> None:
    """Calls, parallel calls, runtime and the time of one call, at every state inside."""
    machine = make().session.graph.machine
    bound = machine.effectives[machine.chart.by_path["SEARCH.ACT"]]
    limits = {limit.unit: limit.value for limit in bound.limits}
    assert (limits["calls"], limits["runtime_s"], bound.call_timeout_s) == (20, 300, 20)
    assert bound.pace is not None
    assert bound.pace.parallel == 3


def test_rejected_connection_is_an_observation(make: Make) -> None:
    """The run ends without it."""
    driven = make()
    (ask,) = driven.start(QUESTION).asks
    done = driven.answer(ask, "reject", note="not now")
    assert (done.status, made(done)[-1]) == ("completed", "connect_archive rejected")


@pytest.mark.parametrize("file", ["../out.md", "notes/../../out.md", "/etc/motd.md", "notes/x.sh", "~/x.md", "out.md"])
def test_note_stays_under_its_folder(make: Make, monkeypatch: pytest.MonkeyPatch, file: str) -> None:
    """D5: nothing is written, and nobody is asked about it."""

    async def keep(self: Any, state: Any, run: sw.Run[Any]) -> Any:
        return {"answer": (await run.tool("save_note", file=file, text="x")).status}

    monkeypatch.setattr("nodes.governed_search.activities.Searcher.keep", keep)
    done = make(models=planner(calls(("read_returns", {})))).start(QUESTION)
    assert (done.status, done.values["answer"]) == ("completed", "denied")


def test_the_drawing_shows_where_people_are_asked() -> None:
    """At the connection, and before the note is kept."""
    assert {"SEARCH:ACT:ask", "SEARCH:KEEP:ask"} <= set(build(env={}).get_graph().nodes)
