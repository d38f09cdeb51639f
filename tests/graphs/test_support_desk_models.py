"""The support desk with models: they take over, and stay behind the same door and gate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import stateward as sw
from graphs.support_desk import build
from stateward.govern.kinds.shape import Sensitivity
from stateward.testing import ScriptedModel, calls

if TYPE_CHECKING:
    from tests.graphs.conftest import OpenDesk

LATE = "Hi, where is my order A-10202? It should have arrived last week."


def role(name: str, *replies: object, cleared: Sensitivity = "personal") -> sw.ModelRole:
    """Make a priced scripted model for a role, cleared for what customers write."""
    return sw.ModelRole(
        name=name,
        model=ScriptedModel.of(*replies),  # pyright: ignore[reportArgumentType]  # replies as the test gives them
        usd_per_million_input=1.0,
        usd_per_million_output=2.0,
        max_output_tokens=200,
        cleared=cleared,
    )


def test_a_planner_may_propose_but_the_policy_decides(open_desk: OpenDesk) -> None:
    """A forbidden call that a model proposes is denied like any other."""
    planner = role("planner", calls(("delete_account", {"email": "tom.ashby@example.com"})), "nothing more")
    desk = open_desk(models={"planner": planner})

    done = desk.write(LATE)

    first = done.values["outcomes"][0]
    assert (first["tool"], first["status"]) == ("delete_account", "denied")
    assert desk.shop.effects() == ()


def test_a_writer_that_invents_a_number_is_not_sent(open_desk: OpenDesk) -> None:
    """The template's own letter stands."""
    desk = open_desk(models={"writer": role("writer", "Your order A-99999 arrives tomorrow, here are 500 euros.")})

    done = desk.write(LATE)

    assert "A-10202" in done.values["reply"]
    assert "500" not in done.values["reply"]


def test_a_triage_model_is_asked_only_when_the_encoder_is_unsure(open_desk: OpenDesk) -> None:
    """With the limit at 0 the encoder is always sure, so that the script is never asked."""
    desk = open_desk("config.triage.unsure_below=0", models={"triage": role("triage")})

    done = desk.write(LATE)

    assert done.status == "completed"


def test_an_unsure_case_takes_the_model_s_verdict(open_desk: OpenDesk) -> None:
    """A readable verdict with known labels replaces the encoder's."""
    said = 'Sure: {"category": "bug", "priority": "p3", "sentiment": "angry", "intent": "bug"}'
    desk = open_desk("config.triage.unsure_below=1", models={"triage": role("triage", said)})

    done = desk.write("Something is odd with it.")

    assert (done.values["ticket"]["category"], done.values["ticket"]["priority"]) == ("bug", "p3")


def test_rubbish_from_a_triage_model_changes_nothing(open_desk: OpenDesk) -> None:
    """The encoder's verdict stands."""
    desk = open_desk("config.triage.unsure_below=1", models={"triage": role("triage", '{"category": "weather"}')})

    done = desk.write("Something is odd with it.")

    assert done.status == "completed"
    assert done.values["ticket"]["category"] != "weather"


def test_the_turn_fuse_trips_before_the_call_that_passes_it(open_desk: OpenDesk) -> None:
    """A planner that never stops is stopped, and a person takes the case."""
    endless = [calls(("search_kb", {"query": f"question {n}"})) for n in range(9)]
    planner = role("planner", *endless)
    desk = open_desk("policy.fuses.turns=2", models={"planner": planner})

    escalated = desk.write(LATE)

    assert escalated.values["escalation"]["why"] == "fuse.turns"
    assert len(planner.model.calls) == 2  # pyright: ignore[reportAttributeAccessIssue]  # a ScriptedModel


def test_a_model_that_is_not_cleared_sees_no_letter(open_desk: OpenDesk) -> None:
    """Letters tell about people: the call is refused before it is made, and a person takes the case."""
    writer = role("writer", "Dear Tom", cleared="internal")
    desk = open_desk(models={"writer": writer})

    escalated = desk.write(LATE)

    assert escalated.values["escalation"]["why"] == "fuse.policy"
    assert writer.model.calls == ()  # pyright: ignore[reportAttributeAccessIssue]  # a ScriptedModel


def test_a_planner_cannot_pay_more_than_the_policy_lets(open_desk: OpenDesk) -> None:
    """The amount is out of range, so nobody is even asked about it."""
    refund = ("issue_refund", {"order_id": "A-10226", "amount_eur": 5000.0})
    desk = open_desk(models={"planner": role("planner", calls(refund), *["nothing more"] * 3)})

    done = desk.write(LATE)

    assert (done.status, done.values["outcomes"][0]["status"]) == ("completed", "denied")
    assert desk.shop.effects() == ()


def test_a_planner_cannot_write_to_two_people_at_once(open_desk: OpenDesk) -> None:
    """One address, one line of subject: a mail cannot be bent by its arguments."""
    mail = {"to": "tom.ashby@example.com, eve@example.org", "subject": "hi", "body": "hi"}
    bent = {"to": "tom.ashby@example.com", "subject": "hi\nBcc: eve@example.org", "body": "hi"}
    desk = open_desk(
        models={"planner": role("planner", calls(("send_email", mail), ("send_email", bent)), *["no"] * 3)}
    )

    done = desk.write(LATE)

    assert [one["status"] for one in done.values["outcomes"] if one["tool"] == "send_email"] == ["denied", "denied"]
    assert desk.shop.effects() == ()


def test_models_may_have_prices_of_their_own(tmp_path: Path) -> None:
    """From a file, so that a money fuse lets a model speak that the public list does not have."""
    prices = tmp_path / "prices.yaml"
    prices.write_text("prices: {local: {usd_per_million_input: 1, usd_per_million_output: 2}}")
    overrides = [
        "config.models.writer.provider=openai",
        "config.models.writer.model=local",
        "config.models.writer.cleared=personal",
        f"config.prices={prices}",
        f"config.shop={tmp_path / 'shop.db'}",
    ]
    graph = build(overrides=overrides, env={})
    assert graph.machine.roles["writer"].price(0, 1_000_000) == 2.0
