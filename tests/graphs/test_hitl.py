"""`hitl` (B4): six patterns of people in the loop; no step that acts asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langgraph.types import Command

import stateward as sw
from graphs.hitl import build
from nodes.hitl.board import Board
from nodes.hitl.state import PATTERNS
from stateward.errors import InputRefused
from stateward.replay import replay
from stateward.run.store.database import Database
from stateward.testing import ManualClock, ScriptedModel
from tests.charts.drive import Driven

Drive = Callable[..., Driven]


@pytest.fixture
def board() -> Board:
    """What is published."""
    return Board()


@pytest.fixture
def show(drive: Drive, board: Board) -> Callable[..., tuple[Driven, Any]]:
    """Start a pattern."""

    def start(pattern: str, *, topic: str = "We move. All of us.", **rest: Any) -> tuple[Driven, Any]:
        one = drive(build(env={}, board=board, **rest))
        return one, one.start({"pattern": pattern, "topic": topic})

    return start


def test_the_menu_is_asked_for_when_the_input_names_no_pattern(drive: Drive) -> None:
    """Its options are the six."""
    one = drive(build(env={}))
    (menu,) = one.start({}).asks
    assert tuple(one.session.database.asks.get(menu).arguments["options"]) == PATTERNS
    assert one.answer(menu, "respond", note="edit").path == "DESK.EDIT.CORRECT.ask"


def test_a_client_that_can_only_approve_comes_to_an_end(drive: Drive, board: Board) -> None:
    """Every question on its way takes that."""
    one = drive(build(env={}, board=board))
    outcome = one.start({})
    while outcome.asks:
        outcome = one.answer(outcome.asks[0])
    assert (outcome.status, len(board.posts)) == ("completed", 1)


def test_feedback_is_worked_in_until_nothing_is_wished(show: Any) -> None:
    """Each round is a draft and a question."""
    one, outcome = show("feedback")
    for wish in ("Shorter", "more friendly", "Fine."):
        outcome = one.answer(outcome.asks[0], "respond", note=wish)
    assert (outcome.status, outcome.values["draft"]) == ("completed", "Hello! We move.")
    assert outcome.values["log"] == ["wish: Shorter", "wish: more friendly", "nothing to change"]


def test_feedback_has_an_end(show: Any) -> None:
    """However often somebody wants something else."""
    one, outcome = show("feedback", overrides=["config.rounds=2"])
    for wish in ("a", "b"):
        outcome = one.answer(outcome.asks[0], "respond", note=wish)
    assert (outcome.status, outcome.values["log"][-1]) == ("completed", "no more rounds")


def test_a_gate_is_come_back_to_until_the_draft_is_approved(show: Any, board: Board) -> None:
    """Nothing is published before, and once after."""
    one, outcome = show("approval")
    outcome = one.answer(outcome.asks[0], "respond", note="shorter")
    (gate,) = outcome.asks
    assert (one.session.database.asks.get(gate).shown, board.posts) == ({"draft": "We move."}, [])
    assert one.answer(gate).status == "completed"
    assert board.posts == ["board: We move."]


def test_what_is_rejected_without_a_wish_is_dropped(show: Any, board: Board) -> None:
    """And only those who may approve do."""
    one, outcome = show("approval", overrides=["config.approvers=[ann]"])
    assert one.answer(outcome.asks[0], "reject").status == "completed"
    assert board.posts == []


def test_a_value_is_edited_within_its_schema(show: Any) -> None:
    """What is no notice is refused, and the question stays."""
    one, outcome = show("edit")
    (notice,) = outcome.asks
    with pytest.raises(InputRefused, match="does not fit its schema"):
        one.session.answer(notice, "edit", by="ann", arguments={"title": "", "text": "x"})
    edited = {"title": "Move", "audience": "customers", "text": "We move."}
    done = one.session.answer(notice, "edit", by="ann", arguments=edited)
    assert (done.values["notice"], done.values["log"]) == (edited, ["edited: title, audience, text"])


def test_questions_of_two_regions_are_answered_by_one_map(show: Any) -> None:
    """Each answer goes to who asked."""
    one, outcome = show("parallel")
    kinds = {one.session.database.asks.get(each).kind: each for each in outcome.asks}
    values = {kinds["ask.text"]: 9, kinds["ask.choose"]: "Kitchen"}
    one.send(Command(resume={"values": values, "by": "ann"}))
    done = one.session.outcome()
    assert (done.status, done.values["draft"]) == ("completed", "We meet at 9 (kitchen).")


def test_questions_of_two_regions_may_be_answered_one_by_one(show: Any) -> None:
    """In any order, by whomever; the other one stays open."""
    one, outcome = show("parallel")
    first, second = outcome.asks
    kinds = {"ask.text": "17", "ask.choose": "hall"}
    for ask in (second, first):
        note = kinds[one.session.database.asks.get(ask).kind]
        outcome = one.session.answer(ask, "respond", by="ann", note=note)
    assert outcome.values["draft"] == "We meet at 17 (hall)."


@pytest.mark.parametrize(
    ("answer", "posts"),
    [
        ({"decision": "approve"}, ["mail: We move. All of us."]),
        ({"decision": "edit", "arguments": {"text": "Soon.", "channel": "wall"}}, ["wall: Soon."]),
        ({"decision": "respond", "note": "It is known."}, []),
        ({"decision": "reject"}, []),
    ],
)
def test_a_call_is_reviewed_before_it_is_made(show: Any, board: Board, answer: Any, posts: list[str]) -> None:
    """It passes, is edited, or something is said in its place."""
    one, outcome = show("review")
    done = one.session.answer(outcome.asks[0], by="ann", **answer)
    assert (done.status, board.posts) == ("completed", posts)


def test_a_breakpoint_stops_before_a_step_and_its_values_can_be_edited(drive: Drive, board: Board) -> None:
    """The chart knows nothing of it: it is set for a call."""
    one = drive(build(env={}, board=board))
    given: Any = {"pattern": "breakpoints", "topic": "We move."}
    for _ in one.session.stream(given, interrupt_before=["DESK.BREAKPOINTS.SHIP"]):
        assert board.posts == []
    graph, config = one.session.graph, one.session.config
    assert graph.get_state(config).next == ("DESK.BREAKPOINTS.SHIP",)
    graph.update_state(config, {"draft": "We stay."})
    assert (one.resume().status, board.posts) == ("completed", ["board: We stay."])


def test_who_is_silent_is_reminded_and_then_waited_for_no_longer(show: Any, clock: ManualClock) -> None:
    """What happens then is a transition; later the question is put again."""
    one, _ = show("approval")
    clock.advance(3_600)
    assert (one.resume().path, one.control["last"]["event"]) == ("DESK.APPROVAL.GATE.ask", "ask.reminder")
    clock.advance(86_400)
    assert one.resume().path == "LATER"
    (gate,) = one.resume("again").asks
    assert one.answer(gate).status == "completed"


def test_a_run_is_played_again(show: Any) -> None:
    """With all that people said."""
    one, outcome = show("approval")
    for decision, note in (("respond", "shorter"), ("approve", "")):
        outcome = one.answer(outcome.asks[0], decision, note=note)
    assert [played.divergence for played in replay(one.session)] == [None]


def test_a_model_may_write_the_drafts(database: Database) -> None:
    """Where it says nothing, the rules do."""
    price: dict[str, Any] = {"usd_per_million_input": 1.0, "usd_per_million_output": 1.0, "max_output_tokens": 200}
    writer = sw.ModelRole(name="writer", model=ScriptedModel.of("We are moving, all of us.", ""), **price)
    one = sw.Session("s1", build(env={}, models={"writer": writer}), database)
    outcome = one.start({"pattern": "feedback", "topic": "We move. All of us."})
    assert outcome.values["draft"] == "We are moving, all of us."
    assert one.answer(outcome.asks[0], "respond", by="ann", note="shorter").values["draft"] == "We move."
