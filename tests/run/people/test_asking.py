"""Questions that activities put: asked once, answered by whoever may, and what comes of no answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langgraph.types import Command
from pydantic import BaseModel, field_validator

import stateward as sw
from stateward import ask
from stateward.errors import AskClosed, GovernanceError, InputRefused, NotExpected
from stateward.migration import Migration
from stateward.replay import replay
from stateward.run.replay.frozen import frozen, opened, thawed
from stateward.run.replay.play import play
from stateward.run.replay.record import recordings
from stateward.run.store.database import Database
from stateward.run.store.serializer import StrictSerializer
from stateward.run.travel import Timeline
from stateward.testing import How, ManualClock, run_graph
from tests.charts.around import around
from tests.charts.drive import Driven
from tests.charts.migrated import migrate
from tests.charts.one import One, compiled
from tests.charts.people import asking, asks
from tests.charts.tools import Shop

Drive = Callable[..., Driven]
BOTH = pytest.mark.parametrize("is_sync", [False, True], ids=["async do", "sync do"])


class Even(BaseModel):
    """A number whose rule no JSON Schema says."""

    number: int

    @field_validator("number")
    @classmethod
    def halves(cls, number: int) -> int:
        if number % 2:
            raise ValueError("it is odd")
        return number


@BOTH
def test_an_activity_goes_on_with_what_a_person_said(drive: Drive, is_sync: bool) -> None:
    """One question after the other; what was answered is not asked again."""
    one = drive(asking(ask.text("City?"), ask.choose("Way?", ["train", "car"]), is_sync=is_sync))
    (first,) = one.start({}).asks
    (second,) = one.answer(first, "respond", note="Rome").asks
    done = one.answer(second, "respond", note=" Train")
    assert (done.status, done.values["log"]) == ("completed", ["Rome", "train"])


@BOTH
def test_questions_put_at_once_are_answered_by_one_map(drive: Drive, is_sync: bool) -> None:
    """Each has its kind of answer."""
    questions = ask.approve("Go?"), ask.edit({"days": 1}), ask.text("How many?", schema=int)
    one = drive(asking(*questions, at_once=True, is_sync=is_sync))
    go, edit, many = one.start({}).asks
    one.send(Command(resume={"values": {go: True, edit: {"days": 2}, many: 3}, "by": "ann"}))
    approval, days, number = one.session.outcome().values["log"]
    assert (approval["approved"], approval["by"], days, number) == (True, "ann", {"days": 2}, 3)


def test_one_of_several_questions_may_be_answered_alone(drive: Drive) -> None:
    """The activity waits until all are; then they are in the order in which they were put."""
    one = drive(asking(ask.text("A?"), ask.text("B?"), at_once=True))
    first, second = one.start({}).asks
    still = one.answer(second, "respond", note="b")
    assert (still.status, still.asks) == ("waiting", (first, second))
    assert one.answer(first, "respond", note="a").values["log"] == ["a", "b"]


def test_a_wrong_answer_is_refused_and_the_question_stays(drive: Drive) -> None:
    """Nothing of a map is recorded of which one value does not fit."""
    one = drive(asking(ask.text("City?"), ask.choose("Way?", ["train", "car"]), at_once=True))
    city, way = one.start({}).asks
    with pytest.raises(InputRefused, match="Choose `train`, `car`"):
        one.session.answer_all({city: "Rome", way: "bus"}, by="ann")
    assert [each.status for each in one.session.database.asks.of("s1")] == ["open", "open"]


def test_an_answer_that_only_the_activity_can_judge_is_asked_for_again(drive: Drive) -> None:
    """The question says then what was wrong."""
    one = drive(asking(ask.text("Number?", schema=Even)))
    (first,) = one.start({}).asks
    (second,) = one.answer(first, "respond", note='{"number": 3}').asks
    (third,) = one.answer(second, "respond", note='{"number": 3}').asks
    assert "it is odd" in one.session.database.asks.get(third).reason
    assert one.answer(third, "respond", note='{"number": 4}').values["log"] == [{"number": 4}]


def test_a_question_that_is_not_declared_is_an_error(drive: Drive) -> None:
    """The state has no place to wait in."""
    one = drive(asking(ask.text("City?"), asks=False, handles=["error.definition"]))
    assert one.start({}).path == "HELP"
    assert one.control["event"]["data"]["message"].count("State(…, asks=True)") == 1


def test_a_question_that_changes_is_put_anew(drive: Drive) -> None:
    """The old one is taken back, as that of a call is whose arguments changed."""
    texts = iter(["A?", "B?", "B?"])

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": await run.ask_all([ask.text(next(texts)), ask.text("C?")])}

    one = drive(compiled(act, asks=True))
    first, other = one.start({}).asks
    one.answer(other, "respond", note="c")
    (second,) = one.answer(first, "respond", note="a").asks
    assert second != first
    assert one.answer(second, "respond", note="b").values["log"] == ["b", "c"]


# -- who answers ----------------------------------------------------------------------------------------


def test_a_question_is_answered_by_those_who_may(drive: Drive) -> None:
    """Others are refused, and it stays open."""
    one = drive(asking(ask.text("City?", approvers=["bob"])))
    (city,) = one.start({}).asks
    with pytest.raises(GovernanceError, match="`ann` may not answer"):
        one.answer(city, "respond", note="Rome")
    assert one.session.answer(city, "respond", by="bob", note="Rome").values["log"] == ["Rome"]


def test_two_people_approve_where_two_must(drive: Drive) -> None:
    """The same one twice is one; one who rejects is enough."""
    one = drive(asking(ask.approve("Go?", approvals=2)))
    (go,) = one.start({}).asks
    assert one.answer(go).status == "waiting"
    with pytest.raises(GovernanceError, match="has approved"):
        one.answer(go)
    assert one.session.answer(go, "approve", by="bob").values["log"][0]["approved"] is True


def test_who_gave_the_input_does_not_approve_under_four_eyes(database: Database) -> None:
    """And where nobody says who gave it, nobody can be asked."""
    graph = asking(ask.approve("Go?", four_eyes=True), handles=["error.activity"])
    session = sw.Session("s1", graph.with_config(configurable={"user": "ann"}), database)
    (go,) = session.start({}).asks
    with pytest.raises(GovernanceError, match="four eyes"):
        session.answer(go, "approve", by="ann")
    assert session.answer(go, "approve", by="bob").values["log"][0]["by"] == "bob"
    assert sw.Session("s2", graph, database).start({}).path == "HELP"


# -- the review of a call ------------------------------------------------------------------------------


def reviewing(shop: Shop, **terms: Any) -> Any:
    async def act(state: Any, run: sw.Run[Any]) -> Any:
        review = await run.ask(ask.review_call("refund", {"order": "A1"}, **terms))
        results = await run.tools([review.call]) if review else []
        return {"log": [review.decision, *(result.status for result in results), *shop.done("refund")]}

    return compiled(act, box=shop.box, asks=True, policy=None)


@pytest.mark.parametrize(
    ("decision", "rest", "log"),
    [
        ("approve", {}, ["approve", "ok", "A1"]),
        ("edit", {"arguments": {"order": "A2"}}, ["edit", "ok", "A2"]),
        ("reject", {}, ["reject"]),
        ("respond", {"note": "It was paid."}, ["respond"]),
    ],
)
def test_a_reviewed_call_is_made_as_people_want_it(drive: Drive, decision: Any, rest: Any, log: Any) -> None:
    """As it is, edited, or not at all."""
    one = drive(reviewing(Shop()))
    (review,) = one.start({}).asks
    assert one.session.answer(review, decision, by="ann", **rest).values["log"] == log


def test_an_edit_that_leads_to_no_call_leaves_the_review_open(drive: Drive) -> None:
    """It is checked before it is recorded."""
    one = drive(reviewing(Shop()))
    (review,) = one.start({}).asks
    with pytest.raises(InputRefused, match="does not fit tool `refund`"):
        one.session.answer(review, "edit", by="ann", arguments={"order": "A1", "eur": "much"})
    assert one.session.outcome().asks == (review,)


def test_an_edited_call_is_approved_by_as_many_as_the_first(drive: Drive) -> None:
    """But not by who edited it, and it is shown as it was edited."""
    one = drive(reviewing(Shop(), approvals=2))
    (first,) = one.start({}).asks
    (second,) = one.session.answer(first, "edit", by="ann", arguments={"order": "A2"}).asks
    assert one.session.database.asks.get(second).shown == {"order": "A2"}
    one.session.answer(second, "approve", by="bob")
    assert one.session.answer(second, "approve", by="eve").values["log"] == ["approve", "ok", "A2"]


# -- nobody answers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "log"),
    [
        (ask.choose("Way?", ["a", "b"], default="b", expires_s=60), "b"),
        (ask.text("Days?", schema=int, default=3, expires_s=60), 3),
        (ask.edit({"days": 1}, keep=True, expires_s=60), {"days": 1}),
    ],
)
def test_a_default_counts_when_nobody_answers_in_time(
    drive: Drive, clock: ManualClock, question: Any, log: Any
) -> None:
    """An answer that comes later is refused."""
    one = drive(asking(question))
    (asked,) = one.start({}).asks
    clock.advance(60)
    assert one.resume().values["log"] == [log]
    with pytest.raises(AskClosed, match="has expired"):
        one.session.claim(asked, "approve", by="ann")


def test_an_approval_may_have_a_default(drive: Drive, clock: ManualClock) -> None:
    """It is told from one that somebody gave."""
    one = drive(asking(ask.approve("Go?", default=False, expires_s=60)))
    one.start({})
    clock.advance(61)
    (approval,) = one.resume().values["log"]
    assert (approval["approved"], approval["decision"]) == (False, "expired")


@BOTH
def test_without_a_default_the_chart_gets_an_event(drive: Drive, clock: ManualClock, is_sync: bool) -> None:
    """It says which question it was."""
    one = drive(asking(ask.text("City?", expires_s=60), handles=["ask.expired"], is_sync=is_sync))
    (city,) = one.start({}).asks
    clock.advance(60)
    assert one.resume().path == "HELP"
    assert one.control["event"]["data"] == {
        "ask": city,
        "state": "WORK.ACT",
        "question": "City?",
        "kind": "ask.text",
    }


def test_a_run_whose_chart_does_not_react_is_halted(drive: Drive, clock: ManualClock) -> None:
    """With the event as its reason."""
    one = drive(asking(ask.text("City?", expires_s=60)))
    one.start({})
    clock.advance(60)
    outcome = one.resume()
    assert outcome.reason is not None
    assert (outcome.status, outcome.reason["event"]) == ("halted", "ask.expired")


def test_nobody_outside_says_that_a_question_has_expired(drive: Drive) -> None:
    """It is the chart's own news."""
    one = drive(asking(ask.text("City?"), handles=["ask.expired"]))
    one.start({})
    with pytest.raises(NotExpected, match="only the chart itself"):
        one.resume("ask.expired")


# -- what a run leaves ----------------------------------------------------------------------------------


def test_the_journal_has_each_answer_once(drive: Drive) -> None:
    """It is no call of a tool, costs nothing, and is in the audit log."""
    one = drive(asking(ask.text("A?"), ask.text("B?")))
    (first,) = one.start({}).asks
    (second,) = one.answer(first, "respond", note="a").asks
    one.answer(second, "respond", note="b")
    entries = one.session.database.journal.entries("s1")
    assert [(each.kind, each.name, each.result["value"], each.charges) for each in entries] == [
        ("ask", "ask.text", "a", ()),
        ("ask", "ask.text", "b", ()),
    ]


def test_a_run_with_answers_is_played_again(drive: Drive, clock: ManualClock) -> None:
    """Nobody is asked; what expired expires again, and what was asked twice is."""
    late = ask.choose("Way?", ["a", "b"], default="b", expires_s=60)
    one = drive(asking(ask.text("N?", schema=Even), ask.edit({"days": 1}), late))
    (first,) = one.start({}).asks
    (again,) = one.answer(first, "respond", note='{"number": 3}').asks
    (edit,) = one.answer(again, "respond", note='{"number": 4}').asks
    one.session.answer_all({edit: {"days": 2}}, by="ann")
    clock.advance(60)
    assert one.resume().values["log"] == [{"number": 4}, {"days": 2}, "b"]
    (played,) = replay(one.session)
    assert played.divergence is None


def test_a_fork_asks_again_what_was_open_and_keeps_what_was_answered(drive: Drive) -> None:
    """The branches get answers of their own."""
    one = drive(asking(ask.text("A?"), ask.text("B?")))
    (first,) = one.start({}).asks
    (second,) = one.answer(first, "respond", note="a").asks
    timeline = Timeline(one.session.graph, one.session.database, "s1")
    timeline.fork(timeline.rows[-1].checkpoint, name="other")
    (again,) = one.session.outcome().asks
    assert again != second
    assert one.answer(again, "respond", note="c").values["log"] == ["a", "c"]


def test_a_frozen_run_has_what_people_said(drive: Drive) -> None:
    """Read from its file it plays the same."""
    one = drive(asking(ask.edit({"days": 1}), ask.text("How many?", schema=int)))
    (edit,) = one.start({}).asks
    (many,) = one.session.answer_all({edit: {"days": 2}}, by="ann").asks
    one.answer(many, "respond", note="3")
    serde = StrictSerializer()
    recording = recordings(one.session.graph, database=one.session.database, session="s1")[-1]
    text = frozen(recording, graph="m:g", overrides=(), serde=serde)
    thawn = thawed(opened(text, where="f.json"), serde=serde, where="f.json")
    assert (thawn.asks == recording.asks, play(one.session.graph, thawn).same) == (True, True)


# -- charts around, and other definitions ---------------------------------------------------------------


def test_a_chart_inside_another_graph_asks_through_it(how: How) -> None:
    """A wrong answer is told, and waited on; a right one goes on."""
    graph = around(asking(ask.choose("Way?", ["train", "car"])))
    config: Any = {"configurable": {"thread_id": "t", "approver": "ann"}}

    def send(given: Any) -> Any:
        return run_graph(graph, given, how=how, config=config)

    (asked,) = send({"log": []})["__interrupt__"]
    (id,) = (one["id"] for one in asked.value["asks"])
    (again,) = send(Command(resume={"values": {id: "bus"}}))["__interrupt__"]
    assert "Choose `train`, `car`" in again.value["refused"]
    assert "train" in send(Command(resume={"values": {id: "train"}}))["log"]


def test_a_chart_that_is_put_into_another_asks_in_its_state(drive: Drive) -> None:
    """What its states declare comes with it."""
    inner = sw.Chart("inner", One, sw.State("ASK", do=asks([ask.text("A?")]), asks=True, to="END"), sw.Final("END"))
    part = inner.as_superstate("PART", output={"log": "log"}, to="DONE")
    one = drive(sw.Chart("outer", One, part, sw.Final("DONE")).compile())
    waiting = one.start({})
    assert waiting.path == "PART.ASK.ask"
    assert one.answer(waiting.asks[0], "respond", note="a").values["log"] == ["a"]


def test_an_open_question_goes_along_when_its_state_is_renamed(drive: Drive) -> None:
    """What was answered is not asked again; a state that asks nobody cannot take it."""

    def desk(act: str, **state: Any) -> Any:
        do = asks([ask.text("A?"), ask.text("B?", remind_s=[60])])
        return sw.Chart("desk", One, sw.State(act, do=do, to="DONE", **state), sw.Final("DONE")).compile()

    one = drive(desk("ACT", asks=True))
    (first,) = one.start({}).asks
    one.answer(first, "respond", note="a")
    renamed = Migration(states={"ACT": "DO"})
    report = migrate(drive(desk("DO")), renamed, dry_run=True)
    assert any("does not declare that it asks people" in line.note for line in report.lines if line.blocks)
    other = drive(desk("DO", asks=True))
    migrate(other, renamed)
    (second,) = other.session.outcome().asks
    assert other.answer(second, "respond", note="b").values["log"] == ["a", "b"]
    assert not other.control.get("timers")
