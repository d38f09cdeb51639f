"""The plan: which calls a message asks for, by rules.

`make_plan` is asked again after every round of calls. It returns only calls that were not made yet, so that the desk
acts until nothing is left: first orders are looked up, then what they allow is done, then a confirmation is sent.
Amounts and ownership come from the looked-up orders, never from the message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from nodes.support_desk.facts import Facts, shortened
from nodes.support_desk.outcome import Note, NoteCode, Outcome, belongs, orders_in
from nodes.support_desk.reply import render_reply
from nodes.support_desk.triage import Triage
from nodes.support_desk.triage_rules import Intent

MAX_ORDERS = 3
"""How many orders of one message are looked up."""

ORDER_INTENTS: frozenset[Intent] = frozenset(("delay", "return", "double_charge", "refund"))
TOPICS: Mapping[Intent, str] = {
    "delay": "late parcel delay tracking",
    "return": "return send back label",
    "double_charge": "charged twice double charge",
    "refund": "refund money back",
    "login": "login password reset code",
    "bug": "bug error crash",
    "feature": "feature wish idea",
    "performance": "slow loading performance",
    "delete_account": "delete account data",
}
"""What is searched for; a `question` is searched for in its own words."""

TAKEOVER_TOPIC = "account takeover hacked security"
SUBJECTS: Mapping[str, str] = {
    "en": "Your message to us",
    "de": "Ihre Nachricht an uns",
    "fr": "Votre message",
    "es": "Su mensaje",
    "it": "Il suo messaggio",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Who wrote."""

    customer: str
    """The e-mail address."""
    name: str = ""
    lang: str = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall:
    """One call to be made."""

    tool: str
    arguments: Mapping[str, object]
    why: str

    def to_json(self) -> dict[str, object]:
        """Return the call as plain JSON data."""
        return {"tool": self.tool, "arguments": dict(self.arguments), "why": self.why}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to do next."""

    steps: tuple[PlannedCall, ...] = ()
    """The calls that are left, in order."""
    notes: tuple[Note, ...] = ()
    needs_person: bool = False
    """Whether a person has to go on after the reply."""
    escalate: bool = False
    """Whether the case leaves the desk at once."""
    reason: str = ""
    """Why it is escalated, or why a person is needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    triage: Triage
    facts: Facts
    sender: Sender
    outcomes: Sequence[Outcome]
    orders: Mapping[str, Outcome] = field(default_factory=dict[str, Outcome])


_Item = PlannedCall | Note


def make_plan(
    triage: Triage, *, facts: Facts, sender: Sender, outcomes: Sequence[Outcome] = ()
) -> Plan:
    """Say which calls a message asks for and were not made yet.

    Args:
        triage: The verdict on the message.
        facts: What the message says; for a follow-up, with the orders of the earlier message recalled.
        sender: Who wrote.
        outcomes: The calls that were made for this message, whatever became of them.

    Returns:
        The plan; no step is left when everything was tried.
    """
    if triage.threat:
        return Plan(escalate=True, needs_person=True, reason=f"threat: {facts.threats[0]}" if facts.threats else "threat")
    case = _Case(
        triage=triage, facts=facts, sender=sender, outcomes=outcomes, orders=orders_in(outcomes)
    )
    items = tuple(dict.fromkeys(_Hashed.of(item) for item in _items(case)))
    return Plan()
