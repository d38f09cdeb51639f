"""Team systems on the local model: whatever it says, the run ends in a legal state, with whole histories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graphs import billing, fintech_swarm, react, weather
from stateward.run.session import Outcome
from stateward.run.store.database import Database
from stateward.testing import How
from tests.charts.drive import Driven
from tests.graphs.team import answer, ask, is_whole
from tests.llm.asking import role, tokens, told
from tests.llm.shim import Shim

pytestmark = pytest.mark.slow
Drive = Callable[..., Driven]
LEGAL = ("completed", "halted", "waiting")
"""How a run may end or rest; it never fails, whatever the model says."""
STEPS = "config.max_steps=2"
WORDS = 80
"""The most tokens of one reply: enough for a call."""


@pytest.fixture
def how() -> How:
    """One way is enough: the other tests go both, and this model takes its time."""
    return "async"


def run_of(drive: Drive, build: Any, role_name: str, shim: Shim, text: str, *overrides: str) -> Outcome:
    """Ask one question of a system whose role is the local model."""
    models = {role_name: role(shim, name=role_name, max_output_tokens=WORDS, cleared="personal")}
    driven = drive(build(env={}, overrides=(STEPS, *overrides), models=models))
    return driven.start(ask(text))


def test_react_ends_with_an_answer(shim: Shim, drive: Drive, database: Database) -> None:
    """At most two replies with calls and the last word; every token is in the journal."""
    done = run_of(drive, react.build, "agent", shim, "How much is 12 * (3 + 4)?")
    assert (done.status, bool(answer(done)), is_whole(done)) == ("completed", True, True)
    assert len(shim.asked) <= 3
    assert tokens(database) == told(shim)


def test_weather_ends_with_an_answer(shim: Shim, drive: Drive) -> None:
    """In a conversation."""
    done = run_of(drive, weather.build, "agent", shim, "How warm is it in New York?")
    assert (done.status, bool(answer(done)), is_whole(done)) == ("completed", True, True)


def test_weather_ends_with_a_record_or_says_that_there_is_none(shim: Shim, drive: Drive) -> None:
    """What is kept fits the contract; else the run is halted by it."""
    done = run_of(drive, weather.build, "agent", shim, "How warm is it in New York?", "config.memory=none")
    kept = done.values.get("reading")
    ended = ("completed", None) if kept else ("halted", "error.contract")
    assert (done.status, (done.reason or {}).get("event")) == ended
    assert not kept or kept["unit"] in weather.UNITS
    assert is_whole(done, key="thinking")


@pytest.mark.parametrize("memory", ["thread", "invocation", "none"])
def test_billing_gives_nothing_back_without_a_person(shim: Shim, drive: Drive, database: Database, memory: str) -> None:
    """It answers, or waits for somebody; no refund was made either way."""
    text = "I was charged twice, give the money for CH-103 back."
    done = run_of(drive, billing.build, "specialist", shim, text, f"config.memory={memory}")
    made = [entry.name for entry in database.journal.entries("s1")]
    assert done.status in LEGAL
    assert (done.status == "waiting", "give_back" in made) in ((False, False), (True, False))
    assert done.status == "waiting" or is_whole(done, key="case")


def test_the_swarm_ends_with_an_answer(shim: Shim, drive: Drive) -> None:
    """Both members are the local model; handoffs, steps and turns are bounded."""
    models = {name: role(shim, name=name, max_output_tokens=WORDS) for name in ("researcher", "writer")}
    graph = fintech_swarm.build(env={}, overrides=("config.max_handoffs=1", "policy.fuses.turns=6"), models=models)
    done = drive(graph).start(ask("A report on HARB, please."))
    assert (done.status in LEGAL, is_whole(done), len(shim.asked) <= 6) == (True, True, True)
    assert done.values["team"]["DESK"]["handoffs"] <= 1
