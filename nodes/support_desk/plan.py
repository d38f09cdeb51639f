"""The plan: which calls a message asks for, by rules.

`make_plan` is asked again after every round of calls. It returns only calls that were not made yet, so that the desk
acts until nothing is left: first orders are looked up, then what they allow is done, then a confirmation is sent.
Amounts and ownership come from the looked-up orders, never from the message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

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

    def made(self, call: PlannedCall) -> bool:
        return any(one.tool == call.tool and one.arguments == call.arguments for one in self.outcomes)


_Items = Iterator[PlannedCall | Note]


def make_plan(triage: Triage, *, facts: Facts, sender: Sender, outcomes: Sequence[Outcome] = ()) -> Plan:
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
        return Plan(escalate=True, needs_person=True, reason=", ".join(("threat", *facts.threats)))
    case = _Case(triage=triage, facts=facts, sender=sender, outcomes=outcomes)
    items = tuple(_items(case))
    notes = tuple(item for item in items if isinstance(item, Note))
    steps = tuple(item for item in items if isinstance(item, PlannedCall) and not case.made(item))
    reason = _person_reason(case)
    if not steps and facts.wants_mail and not facts.injection:
        steps = _confirmation(case, notes=notes, needs_person=bool(reason))
    return Plan(steps=steps, notes=notes, needs_person=bool(reason), reason=reason)


def _items(case: _Case) -> _Items:
    yield PlannedCall(tool="search_kb", arguments={"query": _topic(case)}, why="the rule for this kind of case")
    if case.triage.intent == "delete_account":
        yield from _deletion(case)
    if case.triage.intent in ORDER_INTENTS:
        yield from _about_orders(case)


def _topic(case: _Case) -> str:
    if case.facts.takeover:
        return TAKEOVER_TOPIC
    return TOPICS.get(case.triage.intent) or case.facts.gist


def _deletion(case: _Case) -> _Items:
    # planned on purpose, whoever asks: the policy forbids it, and the refusal is on record
    others = [email for email in case.facts.emails if email != case.sender.customer.lower()]
    email = others[0] if others else case.sender.customer
    yield PlannedCall(tool="delete_account", arguments={"email": email}, why="the customer asks for it")


def _about_orders(case: _Case) -> _Items:
    named = case.facts.order_ids[:MAX_ORDERS]
    if not named:
        yield Note(code="ask_order")
    lookups = orders_in(case.outcomes)
    for order_id in named:
        yield PlannedCall(tool="lookup_order", arguments={"order_id": order_id}, why="the order that is named")
        if order_id in lookups:
            yield from _about_order(case, order_id=order_id, lookup=lookups[order_id])


def _about_order(case: _Case, *, order_id: str, lookup: Outcome) -> _Items:
    refusal = _refusal(case, lookup=lookup)
    if refusal:
        yield Note(code=refusal, order=order_id)
        return
    order = cast(Mapping[str, Any], lookup.value)  # Any: a row of the shop
    if case.triage.intent == "delay" and order["status"] == "lost":
        yield Note(code="lost_choice", order=order_id)
    if case.triage.intent == "return":
        yield _return(case, order=order)
    if case.triage.intent in ("double_charge", "refund"):
        yield _refund(case, order=order)


def _refusal(case: _Case, *, lookup: Outcome) -> NoteCode | None:
    if lookup.value.get("error") == "unknown_order":
        return "unknown_order"
    if not lookup.done:
        return "lookup_failed"
    if not belongs(lookup.value, customer=case.sender.customer):
        return "not_yours"
    return "distrusted" if case.facts.injection else None


def _return(case: _Case, *, order: Mapping[str, Any]) -> PlannedCall | Note:
    order_id = str(order["order_id"])
    if order["status"] != "delivered":
        return Note(code="not_delivered", order=order_id)
    if order["return_id"]:
        return Note(code="already_returned", order=order_id)
    arguments = {"order_id": order_id, "reason": shortened(case.facts.gist, length=120)}
    return PlannedCall(tool="create_return", arguments=arguments, why="it is delivered and theirs")


def _refund(case: _Case, *, order: Mapping[str, Any]) -> PlannedCall | Note:
    order_id, price = str(order["order_id"]), float(order["amount_eur"])
    owed_times = int(order["paid_times"]) - (order["status"] != "lost")
    left = round(owed_times * price - float(order["refunded_eur"]), 2)
    if left > 0:
        why = "the order is lost" if order["status"] == "lost" else f"it was paid {order['paid_times']} times"
        arguments = {"order_id": order_id, "amount_eur": min(price, left)}
        return PlannedCall(tool="issue_refund", arguments=arguments, why=why)
    return Note(code=_no_refund(case, order=order), order=order_id)


def _no_refund(case: _Case, *, order: Mapping[str, Any]) -> NoteCode:
    if order["refunded_eur"]:
        return "already_refunded"
    if case.triage.intent == "double_charge":
        return "single_payment"
    return "refund_after_return" if order["return_id"] else "refund_needs_return"


def _person_reason(case: _Case) -> str:
    facts = case.facts
    if facts.takeover:
        return "somebody else may be inside the account"
    if facts.data_loss:
        return "the customer lost work"
    if case.triage.intent == "delete_account":
        return "only the privacy office deletes accounts"
    if facts.injection:
        return "the message gives orders to the machine"
    failed = [one.tool for one in case.outcomes if not one.done and one.value.get("error") != "unknown_order"]
    return f"`{failed[0]}` did not succeed" if failed else ""


def _confirmation(case: _Case, *, notes: Sequence[Note], needs_person: bool) -> tuple[PlannedCall, ...]:
    if any(one.tool == "send_email" for one in case.outcomes):
        return ()
    body = render_reply(
        case.outcomes,
        lang=case.sender.lang,
        name=case.sender.name,
        customer=case.sender.customer,
        sentiment=case.triage.sentiment,
        notes=notes,
        needs_person=needs_person,
    )
    subject = SUBJECTS.get(case.sender.lang, SUBJECTS["en"])
    arguments = {"to": case.sender.customer, "subject": subject, "body": body}
    return (PlannedCall(tool="send_email", arguments=arguments, why="a written confirmation is asked for"),)
