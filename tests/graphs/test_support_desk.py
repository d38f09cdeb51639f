"""The support desk by rules: what it does, what it asks, what it never does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from stateward.errors import AskClosed, Drift, NotExpected

if TYPE_CHECKING:
    from tests.graphs.conftest import OpenDesk

LATE = "Hi, where is my order A-10202? It should have arrived last week."
TWICE = "You charged me twice for order A-10226. Please give the money back."
WENDY = "wendy.okafor@example.com"
THREAT = "If A-10202 is not here by Friday my solicitor will take legal action."


def test_a_question_is_answered_and_filed(open_desk: OpenDesk) -> None:
    """A calm question runs to its end: a reply from tool results and a ticket that keeps the contract."""
    done = open_desk().write(LATE)

    assert done.status == "completed"
    assert done.values["ticket"]["category"] == "other"
    assert "A-10202" in done.values["reply"]


def test_a_refund_waits_for_a_person(open_desk: OpenDesk) -> None:
    """Nothing is paid before somebody approves."""
    desk = open_desk()

    waiting = desk.write(TWICE, customer=WENDY)

    assert (waiting.status, waiting.path, len(waiting.asks)) == ("waiting", "WORKING.ACT.ask", 1)
    assert desk.shop.effects() == ()


def test_an_approved_refund_is_paid_exactly_once(open_desk: OpenDesk) -> None:
    """The answer comes through another compiled graph and database connection, as from another process."""
    waiting = open_desk().write(TWICE, customer=WENDY)
    other = open_desk()

    done = other.session().answer(waiting.asks[0], "approve", by="ann")

    assert done.status == "completed"
    assert [effect.tool for effect in other.shop.effects()] == ["issue_refund"]


def test_a_second_answer_is_refused(open_desk: OpenDesk) -> None:
    """An ask takes one answer; the second changes nothing."""
    desk = open_desk()
    ask = desk.write(TWICE, customer=WENDY).asks[0]
    desk.session().answer(ask, "approve", by="ann")

    with pytest.raises(AskClosed):
        desk.session().answer(ask, "reject", by="bob")
    assert len(desk.shop.effects()) == 1


def test_a_rejected_refund_is_not_paid_and_the_run_ends(open_desk: OpenDesk) -> None:
    """The rejection is an observation; the desk goes on and files the ticket for a person."""
    desk = open_desk()
    ask = desk.write(TWICE, customer=WENDY).asks[0]

    done = desk.session().answer(ask, "reject", by="ann", note="already settled by phone")

    assert done.status == "completed"
    assert [one["status"] for one in done.values["outcomes"]].count("rejected") == 1
    assert desk.shop.effects() == ()


def test_a_forbidden_tool_is_never_called(open_desk: OpenDesk) -> None:
    """The plan asks for the deletion on purpose; the policy denies it and the refusal is on record."""
    desk = open_desk()

    done = desk.write("Please delete my account and all my data.")

    denied = [one["tool"] for one in done.values["outcomes"] if one["status"] == "denied"]
    assert denied == ["delete_account"]
    assert "denied" in {row.record["event"] for row in desk.database.audit.rows("s-1")}
    assert desk.shop.effects() == ()


def test_a_threat_escalates_and_resume_returns_through_history(open_desk: OpenDesk) -> None:
    """The same message does not make the chart leave WORKING a second time."""
    desk = open_desk()

    escalated = desk.write(THREAT)
    done = desk.session().resume("resume")

    assert (escalated.status, escalated.path) == ("waiting", "ESCALATED")
    assert escalated.values["escalation"] == {"why": "threat"}
    assert done.status == "completed"


def test_a_paused_case_withdraws_its_ask_and_asks_again(open_desk: OpenDesk) -> None:
    """`pause` leaves ACT; its question is closed, and resuming enters ACT anew with another one."""
    desk = open_desk()
    first = desk.write(TWICE, customer=WENDY)

    paused = desk.session().resume("pause")
    again = desk.session().resume("resume")

    assert paused.path == "PAUSED"
    assert desk.database.asks.get(first.asks[0]).status == "withdrawn"
    assert (again.path, again.asks == first.asks) == ("WORKING.ACT.ask", False)


def test_a_follow_up_opens_a_second_run_of_the_session(open_desk: OpenDesk) -> None:
    """It recalls the order of the first message and keeps the conversation."""
    desk = open_desk()
    desk.write(LATE)

    done = desk.write("Any news about it?", message="m-2")

    row = desk.session().row()
    assert row is not None
    assert row.run_no == 2
    assert [m.type for m in done.values["messages"]] == ["human", "ai", "human", "ai"]
    assert done.values["facts"]["order_ids"] == ["A-10202"]


def test_a_message_to_a_waiting_case_waits_its_turn(open_desk: OpenDesk) -> None:
    """The ask and the case stay as they are; the second message is worked on when the first is closed."""
    desk = open_desk()
    waiting = desk.write(TWICE, customer=WENDY)

    still = desk.write("Please delete my account and all my data.", customer=WENDY, message="m-2")
    done = desk.session().answer(waiting.asks[0], "approve", by="ann")

    assert (still.asks, still.values["case"]["id"]) == (waiting.asks, "m-1")
    closed = done.values["closed"]
    assert {key: value["triage"]["intent"] for key, value in closed.items()} == {
        "m-1": "double_charge",
        "m-2": "delete_account",
    }
    assert [closed[key]["ticket"]["id"] for key in ("m-1", "m-2")] == ["T-m-1", "T-m-2"]


def test_the_chart_s_own_events_cannot_be_sent_from_outside(open_desk: OpenDesk) -> None:
    """Nobody can claim that an activity has ended, or that a fuse tripped."""
    desk = open_desk()
    desk.write(TWICE, customer=WENDY)

    for forged in ("done.activity.WORKING.ACT", "fuse.turns", "error.activity", "timeout"):
        with pytest.raises(NotExpected):
            desk.session().resume(forged)


def test_an_event_nobody_expects_is_refused(open_desk: OpenDesk) -> None:
    """The wait is left as it was."""
    desk = open_desk()
    waiting = desk.write(TWICE, customer=WENDY)

    with pytest.raises(NotExpected):
        desk.session().resume("close")
    assert desk.session().outcome().asks == waiting.asks


def test_a_tripped_fuse_escalates_and_a_raised_limit_lets_it_go_on(open_desk: OpenDesk) -> None:
    """The call that would pass the limit is never made; a named person raises it and the case is resumed."""
    desk = open_desk("policy.fuses.calls=1")
    escalated = desk.write(LATE)
    row = desk.session().row()
    assert row is not None

    desk.database.ledger.raise_limit("s-1", row.run, "WORKING", "calls", 20, "ann", "a good customer")
    done = desk.session().resume("resume")

    assert (escalated.path, escalated.values["escalation"]["why"]) == ("ESCALATED", "fuse.calls")
    assert done.status == "completed"


def test_a_ticket_that_breaks_the_contract_is_never_committed(open_desk: OpenDesk) -> None:
    """The gate sends it back, gives up, and a person takes the case; the state holds no ticket."""
    desk = open_desk("policy.contracts.Ticket.fields.summary.min_length=190")

    escalated = desk.write(LATE)

    assert escalated.values["escalation"]["why"] == "error.contract"
    assert escalated.values["ticket"] == {}


def test_a_case_is_not_resumed_under_another_policy(open_desk: OpenDesk) -> None:
    """The policy was pinned when the run started; a loosened one is refused."""
    ask = open_desk().write(TWICE, customer=WENDY).asks[0]
    other = open_desk("policy.fuses.usd=5")

    with pytest.raises(Drift):
        other.session().answer(ask, "approve", by="ann")


def test_the_policy_of_working_binds_every_state_inside(open_desk: OpenDesk) -> None:
    """TRIAGE, PLAN, ACT and REFLECT have its limits; INTAKE does not."""
    machine = open_desk().graph.machine
    limits = {
        path: {limit.unit for limit in machine.effectives[index].limits}
        for path, index in machine.chart.by_path.items()
        if index in machine.plans
    }

    inside = [limits[f"WORKING.{name}"] for name in ("TRIAGE", "PLAN", "ACT", "REFLECT")]
    assert all({"turns", "usd", "calls"} <= units for units in inside)
    assert limits["INTAKE"] == set()


def test_the_drawing_shows_states_inside_working(open_desk: OpenDesk) -> None:
    """`get_graph` groups them, and shows where a person is asked."""
    nodes = set(open_desk().graph.get_graph().nodes)

    assert {"WORKING:TRIAGE", "WORKING:PLAN", "WORKING:ACT", "WORKING:REFLECT", "WORKING:ACT:ask"} <= nodes
