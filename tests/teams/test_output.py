"""What becomes of an answer besides: `output` of every block returns an update, or says that it did not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]  # a saver of anything

from stateward import teams
from stateward.errors import UpdateRefused
from stateward.testing import ScriptedModel
from tests.charts.drive import Driven
from tests.charts.team import in_order, worker
from tests.teams.agents import alone, ask

Drive = Callable[..., Driven]


def hi(state: Any) -> str:
    """Say so."""
    return "hi"


def words(answer: Any) -> Any:
    """Return what is no update."""
    return "text"


def nothing(answer: Any) -> Any:
    """Write nothing."""


BLOCKS: dict[str, Callable[[Any], Any]] = {
    "agent": lambda output: teams.agent("B", model="m", output=output),
    "graph": lambda output: teams.agent("B", graph=create_agent(ScriptedModel.of("hi"), []), output=output),
    "swarm": lambda output: teams.swarm("B", [teams.Peer("A", "m")], output=output),
    "supervisor": lambda output: teams.supervisor("B", [worker("A")], choose=in_order("A"), output=output),
    "chain_of_thought": lambda output: teams.chain_of_thought("B", {"ONE": hi}, output=output),
}


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_what_is_no_update_is_refused_by_its_name(drive: Drive, block: Callable[[Any], Any]) -> None:
    """Nothing is dropped without a word."""
    driven = drive(alone(block(words), ScriptedModel.of("hi")))
    with pytest.raises(UpdateRefused, match="`str` is not an update of the state"):
        driven.start(ask())


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_an_output_may_write_nothing(drive: Drive, block: Callable[[Any], Any]) -> None:
    """The answer is there all the same."""
    values = drive(alone(block(nothing), ScriptedModel.of("hi"))).start(ask()).values
    assert values["team"]["B"]["answer"] in ("hi", "A is done")
