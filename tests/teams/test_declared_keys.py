"""A block in a chart whose state lacks what the block writes."""

from __future__ import annotations

from typing import Any, TypedDict, cast

import pytest
from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]  # a saver of anything

import stateward as sw
from stateward import teams
from stateward.errors import DefinitionError
from stateward.testing import ScriptedModel
from tests.charts.team import in_order, worker
from tests.teams.agents import Work


class Bare(TypedDict, total=False):
    """A state of something else."""

    messages: sw.Messages


def graph() -> Any:
    """Somebody's agent."""
    return cast("Any", create_agent)(ScriptedModel.of("hi"), [])


def nothing(state: Any) -> dict[str, Any]:
    """Give it nothing of the state."""
    return {"messages": []}


@pytest.mark.parametrize(
    ("schema", "block", "told"),
    [
        (Bare, teams.agent("A", model="m"), r"its record in `team`.*at A\.DECIDE.*teams\.TeamState"),
        (Bare, teams.agent("A", model="m", detached=True), r"its record in `team`.*at A\.LOOP"),
        (Bare, teams.supervisor("A", [worker("B")], choose=in_order("B")), r"its record in `team`.*at A\.CHOOSE"),
        (Work, teams.agent("A", model="m", conversation="talk"), r"in `talk`.*Declare `talk: sw\.Messages`"),
        (Work, teams.agent("A", graph=graph, conversation="talk"), r"in `talk`.*at A\)"),
        (Work, teams.swarm("A", [teams.Peer("B", "m")], conversation="talk"), r"in `talk`.*at A\.B\.DECIDE"),
    ],
)
def test_a_key_that_the_state_does_not_have_is_found_when_the_chart_is_compiled(
    schema: Any, block: Any, told: str
) -> None:
    """Not behind the first reply of a model."""
    chart = sw.Chart("c", schema, teams.placed(block, to="DONE"), sw.Final("DONE"))
    with pytest.raises(DefinitionError, match=told):
        chart.compile(models={"m": ScriptedModel.of("hi")})


@pytest.mark.parametrize("rest", [{"memory": "none"}, {"input": nothing}])
def test_a_graph_of_which_nothing_is_kept_needs_no_key(rest: dict[str, Any]) -> None:
    """Its conversation is its own."""
    block = teams.agent("A", graph=graph, conversation="talk", **rest)
    assert sw.Chart("c", Work, teams.placed(block, to="DONE"), sw.Final("DONE")).compile()
