"""Contracts that blocks name: they are known when the chart is compiled, not at the first answer."""

from __future__ import annotations

from typing import Any

import pytest

from stateward import teams
from stateward.errors import DefinitionError
from stateward.govern.policy import Policy
from tests.charts.team import in_order, led, worker

BLOCKS = {
    "a member's answer": lambda: teams.supervisor("LEAD", [worker("A")], choose=in_order("A"), returns="Nowhere"),
    "an agent's answer": lambda: teams.agent("A", model="m", answer="Nowhere"),
    "a step's answer": lambda: teams.chain_of_thought("C", {"ONE": "m"}, answers={"ONE": "Nowhere"}),
}


@pytest.mark.parametrize("kind", BLOCKS)
def test_an_unknown_contract_is_refused_when_the_chart_is_compiled(kind: str) -> None:
    """The error says where, and which contracts there are."""
    with pytest.raises(DefinitionError, match=r"no policy has a contract `Nowhere`"):
        led(BLOCKS[kind]())


def test_a_members_own_contract_counts_before_the_one_for_all() -> None:
    """Only what is read is looked for."""
    member: Any = teams.Member(worker("A"), returns="last")
    block = teams.supervisor("LEAD", [member], choose=in_order("A"), returns="Nowhere")
    assert led(block, policy=Policy(name="p")).name == "team"
