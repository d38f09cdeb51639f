"""Editing a session's values from outside."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.types import Command

import stateward as sw
from stateward.errors import Drift, InputRefused, NotExpected, SessionBusy
from tests.charts.drive import Driven, policy
from tests.charts.one import compiled
from tests.charts.tools import Shop
from tests.charts.waiting import Heard, waiting

Drive = Callable[..., Driven]


async def refund(state: Any, run: sw.Run[Any]) -> Any:
    return {"log": [(await run.tool("refund", order=state["text"])).status]}


def edit(driven: Driven, values: Any, **rest: Any) -> None:
    """Edit the session the test's way."""
    graph, config = driven.session.graph, driven.session.config
    if driven.how == "sync":
        graph.update_state(config, values, **rest)
    else:
        asyncio.run(graph.aupdate_state(config, values, **rest))


def test_edit_of_a_waiting_session_leaves_it_waiting(drive: Drive) -> None:
    """LangGraph alone would end the wait, for it goes on where the named node's edges lead."""
    driven = drive(waiting().compile())
    before = driven.start({"text": "x"})
    edit(driven, {"text": "y"})
    after = driven.session.outcome()
    assert (after.status, after.path, after.values["text"]) == (before.status, before.path, "y")


def test_edit_keeps_the_ask_and_its_answer_leads_on(drive: Drive) -> None:
    """The call is made with what was approved."""
    shop = Shop()
    driven = drive(compiled(refund, box=shop.box, policy=policy("approve_refunds")))
    ask = driven.start({"text": "A"}).asks[0]
    edit(driven, {"number": 7})
    done = driven.answer(ask, "approve")
    assert (done.status, done.values["number"], shop.effects) == ("completed", 7, [("refund", "A")])


def test_edit_that_changes_what_was_asked_is_asked_again(drive: Drive) -> None:
    """An approval holds for the arguments that the person saw."""
    shop = Shop()
    driven = drive(compiled(refund, box=shop.box, policy=policy("approve_refunds")))
    ask = driven.start({"text": "A"}).asks[0]
    edit(driven, {"text": "B"})
    again = driven.answer(ask, "approve")
    assert (again.status, again.asks != (ask,), shop.effects) == ("waiting", True, [])


@pytest.mark.parametrize("values", [{"stateward": {"status": "completed"}}, {"text": ["many"]}, {"nobody": 1}])
def test_edit_is_validated_like_an_update(drive: Drive, values: Any) -> None:
    """The control channel is not the caller's to write, and what does not fit is refused."""
    driven = drive(waiting().compile())
    before = driven.start({"text": "x"})
    with pytest.raises(InputRefused):
        edit(driven, values)
    assert driven.session.outcome() == before


def test_node_an_edit_names_has_no_say(drive: Drive) -> None:
    """`as_node` cannot move the chart past its own transitions."""
    driven = drive(waiting().compile())
    before = driven.start({"text": "x"})
    edit(driven, {"text": "y"}, as_node="OPEN")
    assert driven.session.outcome().path == before.path


def test_session_without_a_run_cannot_be_edited(drive: Drive) -> None:
    """There is nothing yet that could be edited."""
    with pytest.raises(NotExpected):
        edit(drive(waiting().compile()), {"text": "x"})


def test_values_of_a_finished_session_can_be_edited(drive: Drive) -> None:
    """It stays finished."""
    driven = drive(compiled(lambda state: {"text": "done"}))
    driven.start({})
    edit(driven, {"text": "corrected"})
    outcome = driven.session.outcome()
    assert (outcome.status, outcome.values["text"]) == ("completed", "corrected")


@pytest.mark.parametrize(
    "forged",
    [
        Command(update={"stateward": {"status": "completed"}}),
        Command(resume="lock", update={"stateward": {"run": {"id": "forged"}}}),
        Command(resume={"event": "lock", "update": {"stateward": {"status": "completed"}}}),
        Command(resume="lock", update={"text": ["many"]}),
        Command(goto="DONE"),
        Command(resume="lock", goto="DONE"),
    ],
)
def test_no_command_writes_what_the_chart_keeps(drive: Drive, forged: Command[Any]) -> None:
    """A fuse cannot be reset, nor an end declared, by whoever can send a `Command`."""
    driven = drive(waiting().compile())
    before = driven.start({"text": "x"})
    with pytest.raises((InputRefused, NotExpected)):
        driven.send(forged)
    assert driven.session.outcome() == before


def test_copy_that_brings_updates_is_an_edit(drive: Drive) -> None:
    """LangGraph's copy takes updates along, which would pass the validation by."""
    driven = drive(waiting().compile())
    before = driven.start({"text": "x"})
    forged: Any = [(Command(update={"stateward": {"status": "completed"}}, goto="LOCKED"), "OPEN")]
    with pytest.raises(NotExpected):
        edit(driven, forged, as_node="__copy__")
    assert driven.session.outcome() == before


def test_plain_copy_of_a_checkpoint_still_works(drive: Drive) -> None:
    """The server forks threads with it."""
    driven = drive(waiting().compile())
    before = driven.start({"text": "x"})
    edit(driven, None, as_node="__copy__")
    after = driven.session.outcome()
    assert (after.path, after.values) == (before.path, before.values)


def test_edit_waits_for_no_run_to_be_overwritten_by(drive: Drive) -> None:
    """While a run holds the session nobody edits it, whatever the saver."""
    driven = drive(waiting().compile())
    driven.start({"text": "x"})
    lease = driven.session.database.leases.acquire("s1")
    with pytest.raises(SessionBusy):
        edit(driven, {"text": "y"})
    driven.session.database.leases.release(lease)


def test_edit_under_another_definition_is_refused(drive: Drive) -> None:
    """It could drop the node that the run goes on with."""
    driven = drive(waiting().compile())
    driven.start({"text": "x"})
    other = drive(sw.Chart("waiting", Heard, sw.State("OPEN", on=[sw.on("end", "DONE")]), sw.Final("DONE")).compile())
    with pytest.raises(Drift):
        edit(other, {"text": "y"})
