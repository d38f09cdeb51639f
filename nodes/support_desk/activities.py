"""The work of each state of the support desk, by local rules; `assisted` puts models beside them."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

from langchain_core.messages import AIMessage

import stateward as sw
from nodes.support_desk.facts import facts_of
from nodes.support_desk.outcome import outcome
from nodes.support_desk.plan import Plan, make_plan
from nodes.support_desk.reply import render_reply
from nodes.support_desk.state import (
    Desk,
    case_of,
    facts_in,
    outcomes_in,
    plan_in,
    plan_json,
    sender_of,
    text_of,
    triage_in,
    waiting_letters,
)
from nodes.support_desk.ticket import ticket_draft
from nodes.support_desk.triage import Triage, Triager


class SupportDesk:
    """The desk's activities and guards.

    Args:
        open_triager: Loads the encoder and its prototypes; called once, when the first message is judged.
    """

    def __init__(self, open_triager: Callable[[], Triager]) -> None:
        self._open_triager = open_triager
        self._triager: Triager | None = None
        self._lock = Lock()

    def intake(self, state: Desk) -> dict[str, Any]:
        """Take the oldest message that waits; one without an order number speaks of the earlier one's.

        Raises:
            ValueError: No message of a customer waits.
        """
        letters = waiting_letters(state)
        if not letters:
            raise ValueError("there is no message of a customer to work on")
        case = case_of(letters[0])
        facts = facts_of(str(letters[0].content), received_at=case.get("received_at", ""))
        fresh: dict[str, Any] = {"triage": {}, "plan": {}, "outcomes": [], "ticket": {}, "reply": "", "escalation": {}}
        return {"case": case, "facts": facts.recalling(facts_in(state)).to_json(), **fresh}

    def judge(self, state: Desk) -> Triage:
        """Judge the message with the local encoder."""
        with self._lock:
            if self._triager is None:
                self._triager = self._open_triager()
        return self._triager.triage(text_of(state), facts=facts_in(state), lang=sender_of(state).lang)

    def triage(self, state: Desk) -> dict[str, Any]:
        """Say what the message is about, how urgent it is and how the customer feels."""
        return {"triage": self.judge(state).to_json()}

    def next_plan(self, state: Desk) -> Plan:
        """Say by rules what is to be done next."""
        return make_plan(triage_in(state), facts=facts_in(state), sender=sender_of(state), outcomes=outcomes_in(state))

    def plan(self, state: Desk) -> dict[str, Any]:
        """Plan the calls; asked again after every round of them."""
        return {"plan": plan_json(self.next_plan(state))}

    async def act(self, state: Desk, run: sw.Run) -> dict[str, Any]:
        """Make the planned calls through the door."""
        steps = plan_in(state).steps
        results = await run.tools([{"name": step.tool, "args": dict(step.arguments)} for step in steps])
        made = [
            outcome(step.tool, arguments=step.arguments, status=result.status, value=result.value)
            for step, result in zip(steps, results, strict=True)
        ]
        return {"outcomes": [one.to_json() for one in (*outcomes_in(state), *made)]}

    def ticket(self, state: Desk) -> dict[str, Any]:
        """Write the ticket; the gate holds it against the contract."""
        draft = ticket_draft(
            (state.get("case") or {}).get("id", ""),
            text=text_of(state),
            triage=triage_in(state),
            facts=facts_in(state),
            plan=plan_in(state),
            outcomes=outcomes_in(state),
        )
        return {"ticket": draft}

    def letter(self, state: Desk, *, escalated: bool = False) -> str:
        """Fill the reply's template, only from what the tools returned."""
        sender = sender_of(state)
        plan = plan_in(state)
        triage = state.get("triage") or {}
        return render_reply(
            outcomes_in(state),
            lang=sender.lang,
            name=sender.name,
            customer=sender.customer,
            sentiment=triage.get("sentiment", "calm"),
            notes=plan.notes,
            needs_person=plan.needs_person,
            escalated=escalated,
        )

    def reply(self, state: Desk) -> dict[str, Any]:
        """Answer the customer."""
        return answered(state, self.letter(state))

    def hand_over(self, state: Desk, run: sw.SyncRun) -> dict[str, Any]:
        """Tell the customer that a person takes the case, and write down why."""
        event = run.event
        letter = answered(state, self.letter(state, escalated=True))
        if event is not None:
            return {"escalation": {"why": event.name, "details": event.data}, **letter}
        # A threat leaves WORKING before TRIAGE: whoever takes the case still wants the verdict.
        return {"escalation": {"why": "threat"}, "triage": self.judge(state).to_json(), **letter}


def answered(state: Desk, letter: str) -> dict[str, Any]:
    """Return the update that says something to the customer and closes the message."""
    case = (state.get("case") or {}).get("id", "")
    kept = {"ticket": state.get("ticket"), "triage": state.get("triage"), "outcomes": state.get("outcomes")}
    result = {**kept, "reply": letter}
    closed = {**(state.get("closed") or {}), case: result}
    return {"reply": letter, "closed": closed, "messages": [AIMessage(content=letter)]}


def more_mail(state: Desk) -> bool:
    """Whether the customer wrote again before the case was closed."""
    return bool(waiting_letters(state))


def more_to_do(state: Desk) -> bool:
    """Whether the plan has calls that were not made."""
    return bool((state.get("plan") or {}).get("steps"))


def threatens(state: Desk) -> bool:
    """Whether a new message threatens with lawyers, authorities or the press."""
    return any(facts_of(str(letter.content)).threats for letter in waiting_letters(state))
