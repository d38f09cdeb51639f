"""Whatever a model says, a team system ends in a legal state, and no history is torn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graphs import billing, fintech_swarm, react, weather
from stateward.run.session import Outcome
from stateward.testing import How
from tests.charts.drive import Driven
from tests.graphs.rubbish import Babbler
from tests.graphs.team import ask, is_whole, scripted

pytestmark = pytest.mark.slow
TURNS = 2
"""Inputs of one session."""
LEGAL = {("completed", ""), ("halted", "error.contract"), ("halted", "fuse.turns"), ("halted", "fuse.calls")}
"""How a run may end, and by what event."""
SYSTEMS: dict[str, tuple[Any, str, str]] = {
    "react": (react.build, "config.max_steps=8", "messages"),
    "weather": (weather.build, "config.memory=thread", "messages"),
    "weather, single": (weather.build, "config.memory=none", "thinking"),
    "billing, thread": (billing.build, "config.memory=thread", "case"),
    "billing, invocation": (billing.build, "config.memory=invocation", "case"),
    "billing, none": (billing.build, "config.memory=none", "case"),
    "fintech, full": (fintech_swarm.build, "config.history=full", "messages"),
    "fintech, filtered": (fintech_swarm.build, "config.history=filtered", "messages"),
    "fintech, summary": (fintech_swarm.build, "config.history=summary", "messages"),
}
"""Name to the graph, how it is configured, and the key of the conversation with the tools."""


@pytest.fixture
def how() -> How:
    """One way is enough: the systems' own tests go both."""
    return "async"


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("system", SYSTEMS)
def test_any_words_lead_to_a_legal_state(drive: Callable[..., Driven], system: str, seed: int) -> None:
    """Two turns of one session; what is asked is rejected and approved in turn."""
    build, override, key = SYSTEMS[system]
    babbler = Babbler(seed)
    roles = ("agent", "specialist", "researcher", "writer")
    models = scripted(**{role: babbler.replies(99) for role in roles})
    driven = drive(build(env={}, overrides=[override], models=models))
    ends = [answered(driven, driven.start(ask("I was charged twice by HARB, a refund!"))) for _ in range(TURNS)]
    assert {(end.status, (end.reason or {}).get("event", "")) for end in ends} <= LEGAL
    assert all(is_whole(end, key=one) for end in ends for one in (key, "messages"))
    assert babbler.torn == []


def answered(driven: Driven, outcome: Outcome) -> Outcome:
    """Answer all that is asked."""
    number = 0
    while outcome.asks:
        number += 1
        outcome = driven.answer(outcome.asks[0], "approve" if number % 2 else "reject")
    return outcome
