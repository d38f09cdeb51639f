"""The ticket: a draft that the policy's contract takes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nodes.support_desk.facts import facts_of
from nodes.support_desk.inbox import Row
from nodes.support_desk.plan import Sender, make_plan
from nodes.support_desk.ticket import ticket_draft
from nodes.support_desk.triage import Triager
from stateward.config import load_policy
from stateward.govern.contract import contract
from stateward.govern.gate import Failed, Passed, check

POLICY = Path(__file__).parents[3] / "policies" / "support_desk.yaml"
Gate = Callable[[dict[str, object]], Passed | Failed]


def _ticket(triager: Triager, text: str, *, lang: str = "en") -> dict[str, object]:
    facts = facts_of(text)
    triage = triager.triage(text, facts=facts, lang=lang)
    plan = make_plan(triage, facts=facts, sender=Sender(customer="a@example.com"))
    return ticket_draft("m-1", text=text, triage=triage, facts=facts, plan=plan)


@pytest.fixture(scope="module")
def gate() -> Gate:
    """The gate with the contract of the desk's policy."""
    policy = load_policy(POLICY, env={})
    (spec,) = policy.contracts
    model = contract(spec, mode=policy.mode, policy_hash=policy.hash)
    return lambda value: check(model, value=value)


def test_every_ticket_of_the_sample_passes_the_contract(triager: Triager, inbox: tuple[Row, ...], gate: Gate) -> None:
    """The drafts fit `policies/support_desk.yaml` as they are."""
    failed = [row.id for row in inbox if isinstance(gate(_ticket(triager, row.text, lang=row.lang)), Failed)]
    assert failed == []


@pytest.mark.parametrize("text", ["", "x", "a" * 20_000, "1. a 2. b " * 50, "\x00"])
def test_the_ticket_of_any_text_passes_the_contract(triager: Triager, gate: Gate, text: str) -> None:
    """Empty and endless messages have tickets too."""
    assert isinstance(gate(_ticket(triager, text)), Passed)


@pytest.mark.parametrize(
    ("field", "given", "taken"),
    [
        ("priority", "critical", "p0"),
        ("priority", "urgent", "p1"),
        ("priority", "High", "p1"),
        ("priority", "medium", "p2"),
        ("priority", "low", "p3"),
        ("category", "authentication", "login"),
        ("category", "account access", "login"),
        ("sentiment", "frustrated/urgent", "frustrated"),
        ("sentiment", "anxious", "frustrated"),
    ],
)
def test_other_spellings_are_normalised(triager: Triager, gate: Gate, field: str, given: str, taken: str) -> None:
    """SYSTEMS.md, C5."""
    passed = gate({**_ticket(triager, "Where is my parcel?"), field: given})
    assert isinstance(passed, Passed)
    assert passed.value[field] == taken


def test_an_unmappable_priority_fails(triager: Triager, gate: Gate) -> None:
    """The gate does not guess."""
    assert isinstance(gate({**_ticket(triager, "Where is my parcel?"), "priority": "soonish"}), Failed)


def test_numbered_steps_become_the_reproduction(triager: Triager) -> None:
    """The introduction is not a step, and the sentence after the last one neither."""
    text = "The app crashes with an error. Steps: 1. open it 2. press back 3) wait. I expected no error."
    assert _ticket(triager, text)["steps"] == ["open it", "press back", "wait"]


def test_a_ticket_holds_no_personal_data(triager: Triager) -> None:
    """Card numbers and addresses are replaced."""
    ticket = _ticket(triager, "Charged twice on 4111 1111 1111 1111, mail me at a.b@example.com")
    assert "4111" not in str(ticket)
    assert "a.b@" not in str(ticket)


def test_the_next_action_of_a_threat_is_a_person(triager: Triager) -> None:
    """It says why."""
    ticket = _ticket(triager, "My lawyer will contact you.")
    assert str(ticket["next_action"]).startswith("escalate to a person (threat, my lawyer")
