"""The state of the support desk's chart: every field that matters for recovery is in the checkpoint."""

from __future__ import annotations

from typing import Any, TypedDict, cast

from langchain_core.messages import AnyMessage, HumanMessage

import stateward as sw
from nodes.support_desk.facts import Facts
from nodes.support_desk.outcome import Note, Outcome, outcomes_from_json
from nodes.support_desk.plan import Plan, PlannedCall, Sender
from nodes.support_desk.triage import Triage


class CaseData(TypedDict, total=False):
    """Who wrote, and when; rides on the customer's message, so that no later message can change it."""

    id: str
    customer: str
    name: str
    lang: str
    received_at: str


class Desk(TypedDict, total=False):
    """The desk's state. Values are plain JSON, so that any process can read them."""

    messages: sw.Messages
    case: CaseData
    """Of the message that is worked on."""
    closed: dict[str, dict[str, Any]]
    """Message id to what came of it: its ticket, outcomes and reply."""
    facts: dict[str, Any]
    triage: dict[str, Any]
    plan: dict[str, Any]
    outcomes: list[dict[str, Any]]
    ticket: dict[str, Any]
    reply: str
    escalation: dict[str, Any]


def letter_in(content: str, *, case: CaseData) -> HumanMessage:
    """Make the message of a customer's letter.

    Args:
        content: What the customer wrote.
        case: Who wrote, and when; its `id` becomes the message's.
    """
    return HumanMessage(content=content, id=case.get("id") or None, additional_kwargs={"case": dict(case)})


def waiting_letters(state: Desk) -> list[AnyMessage]:
    """Return the customer's messages that were not worked on yet, the oldest first."""
    closed = state.get("closed") or {}
    return [m for m in state.get("messages", ()) if m.type == "human" and m.id not in closed]


def case_of(letter: AnyMessage) -> CaseData:
    """Return who wrote a message; only its id when it came without."""
    said = cast("CaseData", letter.additional_kwargs.get("case") or {})
    return {**said, "id": letter.id or ""}


def text_of(state: Desk) -> str:
    """Return the text of the message that is worked on."""
    wanted = (state.get("case") or {}).get("id")
    return next((str(m.content) for m in state.get("messages", ()) if m.id == wanted), "")


def sender_of(state: Desk) -> Sender:
    """Return who wrote."""
    case = state.get("case") or {}
    return Sender(customer=case.get("customer", ""), name=case.get("name", ""), lang=case.get("lang", "en"))


def facts_in(state: Desk) -> Facts:
    """Return the facts of the message; empty before INTAKE."""
    return Facts.from_json(state.get("facts") or {})


def triage_in(state: Desk) -> Triage:
    """Return the verdict of TRIAGE."""
    return Triage.from_json(state.get("triage") or {})


def outcomes_in(state: Desk) -> tuple[Outcome, ...]:
    """Return what was done so far."""
    return outcomes_from_json(state.get("outcomes") or [])


def plan_in(state: Desk) -> Plan:
    """Return the last plan."""
    data = state.get("plan") or {}
    steps = tuple(PlannedCall(**cast("dict[str, Any]", step)) for step in data.get("steps", ()))
    notes = tuple(Note(**cast("dict[str, Any]", note)) for note in data.get("notes", ()))
    return Plan(
        steps=steps,
        notes=notes,
        needs_person=bool(data.get("needs_person")),
        escalate=bool(data.get("escalate")),
        reason=str(data.get("reason", "")),
    )


def plan_json(plan: Plan) -> dict[str, Any]:
    """Return a plan as it is stored."""
    return {
        "steps": [step.to_json() for step in plan.steps],
        "notes": [{"code": note.code, "order": note.order} for note in plan.notes],
        "needs_person": plan.needs_person,
        "escalate": plan.escalate,
        "reason": plan.reason,
    }
