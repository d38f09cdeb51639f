"""The ticket: the draft of what the gate checks against the contract `Ticket` of the policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nodes.support_desk.facts import Facts, masked, shortened
from nodes.support_desk.outcome import Outcome
from nodes.support_desk.plan import Plan
from nodes.support_desk.triage import Triage
from nodes.support_desk.triage_rules import Intent
from stateward.govern.pattern import compile_pattern

SUMMARY_LENGTH = 200
STEP_LENGTH = 160
MAX_STEPS = 10
STEP_MARK = compile_pattern(r"(?:^|[\s:])\d{1,2}[.)] ")

EXPECTED: Mapping[Intent, str] = {
    "delay": "The order arrives by the promised day.",
    "return": "The goods go back and the label is free.",
    "double_charge": "The order is paid once.",
    "refund": "The money comes back.",
    "login": "The customer gets into the account.",
    "bug": "The shop works without the fault.",
    "feature": "The shop offers what the customer wishes for.",
    "performance": "Pages open within a few seconds.",
    "delete_account": "The account is deleted.",
    "question": "The question is answered.",
}

HANDED_ON: Mapping[str, str] = {
    "bug": "the developers look for the fault",
    "performance": "the operators look at the times",
    "feature_request": "the product team weighs the wish",
}


def ticket_draft(
    message_id: str,
    *,
    text: str,
    triage: Triage,
    facts: Facts,
    plan: Plan,
    outcomes: Sequence[Outcome] = (),
) -> dict[str, object]:
    """Write the ticket of one message. Personal data is replaced by its kind.

    Args:
        message_id: The message's id.
        text: The message.
        triage: The verdict on it.
        facts: What it says.
        plan: The last plan.
        outcomes: What was done.

    Returns:
        The ticket, as the contract `Ticket` wants it.
    """
    return {
        "id": f"T-{message_id}",
        "summary": _summary(text, triage=triage),
        "category": triage.category,
        "priority": triage.priority,
        "sentiment": triage.sentiment,
        "steps": _steps(text) if triage.category in ("bug", "performance", "login") else [],
        "expected": EXPECTED[triage.intent],
        "actual": shortened(facts.gist or masked(text), length=SUMMARY_LENGTH) or "nothing was said",
        "next_action": _next_action(plan, triage=triage, outcomes=outcomes),
    }


def _summary(text: str, *, triage: Triage) -> str:
    first = shortened(masked(text), length=SUMMARY_LENGTH - 20)
    return f"{triage.intent.replace('_', ' ')}: {first or 'no text'}"


def _steps(text: str) -> list[str]:
    # what comes before the first number is the introduction
    marked = STEP_MARK.sub(lambda _: "\n\x00", masked(text)).split("\x00")[1:]
    lines = [shortened(step.split("\n", 1)[0].split(". ", 1)[0].strip(" ."), length=STEP_LENGTH) for step in marked]
    return [line for line in lines if line][:MAX_STEPS]


def _next_action(plan: Plan, *, triage: Triage, outcomes: Sequence[Outcome]) -> str:
    if plan.escalate:
        return f"escalate to a person ({shortened(plan.reason, length=100)})"
    if plan.steps:
        return f"go on with {plan.steps[0].tool}"
    if plan.needs_person:
        return f"a person goes on: {shortened(plan.reason, length=100)}"
    if any(note.code in ("ask_order", "unknown_order", "lost_choice") for note in plan.notes):
        return "wait for the customer's answer"
    if triage.category in HANDED_ON:
        return HANDED_ON[triage.category]
    effects = [one.tool for one in outcomes if one.done and one.tool not in ("lookup_order", "search_kb")]
    return f"none: {', '.join(effects)} done" if effects else "none: answered"
