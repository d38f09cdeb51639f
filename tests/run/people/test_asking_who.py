"""Who may answer a question: where nobody could, nobody is asked, and of a map either all is recorded or nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langgraph.types import Command

import stateward as sw
from stateward import ask
from stateward.errors import AskClosed, GovernanceError
from stateward.replay import replay
from stateward.run.store.database import Database
from tests.charts.drive import Driven
from tests.charts.people import asking

Drive = Callable[..., Driven]
BOTH = ask.text("City?"), ask.approve("Go?", approvers=["bob"])


def statuses(session: sw.Session) -> list[str]:
    return [each.status for each in session.database.asks.of(session.id)]


def as_map(one: Driven, city: str, go: str) -> Any:
    return one.session.answer_all({city: "Rome", go: True}, by="ann")


def as_resume(one: Driven, city: str, go: str) -> Any:
    return one.send(Command(resume={"values": {city: "Rome", go: True}, "by": "ann"}))


@pytest.mark.parametrize("send", [as_map, as_resume])
def test_nothing_of_a_map_is_recorded_of_which_one_may_not_be_said(drive: Drive, send: Any) -> None:
    """Who may not answer one of the questions has not answered the others either."""
    one = drive(asking(*BOTH, at_once=True))
    city, go = one.start({}).asks
    with pytest.raises(GovernanceError, match="`ann` may not answer"):
        send(one, city, go)
    assert statuses(one.session) == ["open", "open"]


@pytest.mark.parametrize("send", [as_map, as_resume])
def test_nothing_of_a_map_is_recorded_of_which_one_is_closed(drive: Drive, send: Any) -> None:
    """Somebody was faster with the other."""
    one = drive(asking(*BOTH, at_once=True))
    city, go = one.start({}).asks
    one.session.claim(go, "approve", by="bob")
    with pytest.raises(AskClosed, match="by `bob`"):
        send(one, city, go)
    assert statuses(one.session) == ["open", "answered"]


def test_an_approval_is_no_call_that_could_be_edited(drive: Drive) -> None:
    """It says what may be said."""
    one = drive(asking(ask.approve("Go?", about={"eur": 1})))
    (go,) = one.start({}).asks
    with pytest.raises(GovernanceError, match="Answer `approve` or `reject` or `respond`"):
        one.session.answer(go, "edit", by="ann", arguments={"eur": 2})


def test_where_four_eyes_leave_nobody_nobody_is_asked(database: Database) -> None:
    """The one who may approve gave the input: it would wait for ever."""
    graph = asking(ask.approve("Go?", four_eyes=True, approvers=["ann"]), handles=["error.activity"])
    session = sw.Session("s1", graph.with_config(configurable={"user": "Ann"}), database)
    assert (session.start({}).path, statuses(session)) == ("HELP", [])


@pytest.mark.parametrize(
    ("question", "left"),
    [
        (ask.approve("Go?", four_eyes=True), "must; `reject` is open"),
        (ask.review_call("pay", {"eur": 1}, four_eyes=True), "must; `reject` and `edit` are open"),
    ],
)
def test_who_may_not_approve_is_told_what_that_question_leaves(database: Database, question: Any, left: str) -> None:
    """An approval has nothing that could be edited."""
    session = sw.Session("s1", asking(question).with_config(configurable={"user": "bob"}), database)
    (put,) = session.start({}).asks
    with pytest.raises(GovernanceError, match=left):
        session.answer(put, "approve", by="bob")


def test_an_edit_that_leaves_nobody_to_approve_it_is_refused(database: Database) -> None:
    """Who edits a call may not approve it, and who gave the input may not; what is left is to say so."""
    question = ask.review_call("pay", {"eur": 1}, four_eyes=True, approvers=["ann", "bob"])
    session = sw.Session("s1", asking(question).with_config(configurable={"user": "bob"}), database)
    (pay,) = session.start({}).asks
    with pytest.raises(GovernanceError, match="Nobody would be left"):
        session.answer(pay, "edit", by="ann", arguments={"eur": 2})
    assert session.answer(pay, "approve", by="ann").values["log"][0]["made"] is True


@pytest.mark.parametrize("user", ["", "ann"])
def test_a_run_in_which_nobody_could_be_asked_is_played_again(database: Database, user: str) -> None:
    """The record says who gave the input, or that nobody did."""
    graph = asking(ask.approve("Go?", four_eyes=True, approvers=["ann"]), handles=["error.activity"])
    session = sw.Session("s1", graph.with_config(configurable={"user": user}) if user else graph, database)
    session.start({})
    session.resume("close")
    (played,) = replay(session)
    assert played.divergence is None
