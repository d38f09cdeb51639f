"""What is worked out at compile time, and what is refused there."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

import stateward as sw
from stateward.errors import DefinitionError
from tests.charts.drive import policy
from tests.charts.one import One, compiled
from tests.charts.tools import Shop


def plan(do: Any = lambda state: None, **rest: Any) -> Any:
    machine = compiled(do, **rest).machine
    return machine.plans[machine.chart.by_path["WORK.ACT"]]


def act(state: Any, event: Any, run: sw.SyncRun[Any]) -> None:
    """Name everything."""


async def aact(state: Any, *, run: sw.Run[Any]) -> None:
    """Name the run by keyword."""


class Ticket(BaseModel):
    summary: str


class Desk(One, total=False):
    """A state with a key of the contract's type."""

    ticket: Ticket


@pytest.mark.parametrize(
    ("do", "takes", "is_async"), [(act, True, False), (aact, True, True), (lambda s: None, False, False)]
)
def test_plan_knows_what_the_activity_names(do: Any, takes: bool, is_async: bool) -> None:
    """Signatures are read once."""
    made = plan(do)
    assert (made.takes_run, made.is_sync) == (takes, not is_async)


def test_activity_that_names_something_else_is_refused() -> None:
    """Nobody can give it."""

    def wrong(state: Any, database: Any) -> None:
        """Name what is not there."""

    with pytest.raises(DefinitionError, match="database"):
        plan(wrong)


@pytest.mark.parametrize("do", [7, "text", object()])
def test_activity_must_be_callable(do: Any) -> None:
    """A number is no activity."""
    with pytest.raises(DefinitionError):
        plan(do)


@pytest.mark.parametrize(("names", "can_ask"), [(["lookup"], False), (["refund"], True), (["mail"], True), ([], False)])
def test_plan_knows_whether_it_may_ask(names: list[str], can_ask: bool) -> None:
    """Restricted tools, and `once` tools without a look-up."""
    assert plan(box=Shop().box, tools=names, policy=policy("approve_refunds")).can_ask is can_ask


def test_gate_finds_the_key_of_its_type() -> None:
    """A contract that one key is declared with covers that key."""
    chart = sw.Chart("desk", Desk, sw.State("A", do=act, output=Ticket, to="DONE"), sw.Final("DONE"))
    (only,) = chart.compile().machine.plans.values()
    assert (only.gate.key, only.gate.retries) == ("ticket", 2)


def test_gate_without_such_a_key_covers_the_whole_update() -> None:
    """The update itself must keep the contract."""
    assert plan(output=Ticket).gate.key is None


def test_gate_takes_the_policys_number_of_retries() -> None:
    """A named contract is the policy's."""
    assert plan(output="Ticket", policy=policy("ticket")).gate.retries == 2
    assert plan(output=sw.Gate("Ticket", retries=0), policy=policy("ticket")).gate.retries == 0


@pytest.mark.parametrize("output", ["Nobody", 7, dict])
def test_output_must_be_a_contract(output: Any) -> None:
    """A name the policy does not have, or no contract at all."""
    with pytest.raises(DefinitionError):
        plan(output=output, policy=policy("ticket"))


@pytest.mark.parametrize("name", ["forbids_refunds", "two_turns"])
def test_graph_as_activity_is_refused_under_a_policy(name: str) -> None:
    """Its calls would not go through the state's door."""
    with pytest.raises(DefinitionError, match="would not bind"):
        plan(compiled(lambda state: None), policy=policy(name))


def test_graph_as_activity_runs_where_nothing_restricts_it() -> None:
    """Without a policy any Runnable is an activity."""
    assert plan(compiled(lambda state: None)).runnable is not None
