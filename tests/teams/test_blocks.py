"""What blocks may not share: a record, a name that is read alike, a conversation that calls are kept in."""

from __future__ import annotations

from typing import Any

import pytest

import stateward as sw
from stateward import teams
from stateward.errors import DefinitionError
from tests.charts.team import Team, in_order, led, worker


def nested(*, inner: str, outer: str = "B", lead: str = "LOW") -> sw.Superstate[Any]:
    """A team in a team."""
    low = teams.supervisor(lead, [worker(inner)], choose=in_order(inner))
    return teams.supervisor("LEAD", [low, worker(outer)], choose=in_order(lead))


@pytest.mark.parametrize("names", [{"inner": "A", "outer": "A"}, {"inner": "LEAD"}, {"inner": "LOW2", "outer": "LOW2"}])
def test_blocks_of_one_name_at_different_depths_are_refused(names: dict[str, str]) -> None:
    """They would share a record: task and answer of one would be the other's."""
    with pytest.raises(DefinitionError, match="share a record"):
        nested(**names)


def test_teams_beside_each_other_may_not_have_members_of_one_name() -> None:
    """Their tasks would be mixed up."""
    low = [teams.supervisor(name, [worker("A")], choose=in_order("A")) for name in ("LEFT", "RIGHT")]
    with pytest.raises(DefinitionError, match=r"`A`.*LEFT.*RIGHT"):
        teams.supervisor("LEAD", low, choose=in_order("LEFT"), parallel=True)


def test_states_inside_blocks_may_be_named_alike() -> None:
    """Only blocks have records: every agent has a DECIDE."""
    agents = [teams.agent(name, model="m", conversation=name.lower()) for name in ("A", "B")]
    assert teams.supervisor("LEAD", [*agents, worker("DECIDE")], model="m", parallel=True).name == "LEAD"


@pytest.mark.parametrize("name", ["a", "Finish"])
def test_a_name_that_reads_like_another_choice_is_refused(name: str) -> None:
    """Models write names in any letters: which was meant could not be told."""
    with pytest.raises(DefinitionError, match="reads like"):
        teams.supervisor("LEAD", [worker("A"), worker(name)], model="lead")


def test_agents_with_tools_that_would_share_a_conversation_beside_each_other_are_refused() -> None:
    """Calls and results of one would stand between those of the other."""
    agents = [teams.agent(name, model="m", tools=["look"]) for name in ("A", "B")]
    with pytest.raises(DefinitionError, match=r"`messages`.*`A`.*`B`"):
        teams.supervisor("LEAD", agents, model="m", parallel=True)
    assert teams.supervisor("LEAD", agents, model="m").name == "LEAD"


def charted(*children: Any) -> sw.Chart[Any]:
    """A chart of blocks that no supervisor holds together."""
    return sw.Chart("two", Team, *children, sw.Final("DONE"))


def test_teams_without_a_common_supervisor_may_not_have_members_of_one_name() -> None:
    """Nobody above them would see that task and answer of one are the other's."""
    one, other = (teams.supervisor(name, [worker("A")], choose=in_order("A")) for name in ("LEFT", "RIGHT"))
    with pytest.raises(DefinitionError, match=r"`A`.*`LEFT\.A`.*`RIGHT\.A`.*share a record"):
        charted(teams.placed(one, to="RIGHT"), teams.placed(other, to="DONE"))


def test_agents_of_one_name_in_different_states_are_refused() -> None:
    """A block is known in the chart by its name alone, wherever it stands; one that is a graph as well."""
    loop, graph = teams.agent("A", model="m"), teams.agent("A", graph=led(worker("X")))
    with pytest.raises(DefinitionError, match=r"`A`.*`ONE\.A`.*`TWO\.A`.*share a record"):
        charted(sw.Superstate("ONE", loop, to="TWO"), sw.Superstate("TWO", graph, to="DONE"))


def test_a_state_that_is_no_block_may_be_named_like_one() -> None:
    """It has no record."""
    block = teams.supervisor("LEAD", [worker("A")], choose=in_order("A"))
    held = sw.Superstate("ONE", sw.State("A", to="END"), sw.Final("END"), to="LEAD")
    assert charted(held, teams.placed(block, to="DONE")).name == "two"
