"""What a model does when one is configured: unsure triage, the plan, the wording, behind the same door and gate.

Whatever a model answers is held against what the rules know: a verdict must name known labels, a planned call goes
through the policy like any other, and a letter must keep every number the tools returned; else the rules' own stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage
from pydantic import BaseModel, ConfigDict, ValidationError

import stateward as sw
from nodes.support_desk.activities import SupportDesk, answered
from nodes.support_desk.plan import Plan, PlannedCall
from nodes.support_desk.state import Desk, outcomes_in, plan_json, sender_of, text_of
from nodes.support_desk.triage import Triage, Triager
from nodes.support_desk.triage_rules import Category, Intent, Priority, Sentiment
from stateward.prompts import Prompts

PROMPTS = Path(__file__).parent / "prompts"
MAX_CALLS = 4
"""Calls of one plan that are taken from a model."""


class Verdict(BaseModel):
    """What a model says about a message the encoder is unsure of."""

    model_config = ConfigDict(extra="ignore")
    category: Category
    priority: Priority
    sentiment: Sentiment
    intent: Intent


class AssistedDesk(SupportDesk):
    """The desk with models in the roles `triage`, `planner` and `writer`.

    Args:
        open_triager: Loads the encoder and its prototypes.
        tools: The tools a planner may propose, in OpenAI's form.
    """

    def __init__(self, open_triager: Callable[[], Triager], *, tools: Sequence[dict[str, Any]]) -> None:
        super().__init__(open_triager)
        self._tools = list(tools)
        self._prompts = Prompts(PROMPTS)

    async def assisted_triage(self, state: Desk, run: sw.Run) -> dict[str, Any]:
        """Judge the message; ask the model when the encoder is unsure."""
        verdict = self.judge(state)
        if not verdict.sure:
            said = await run.model().ainvoke(self._prompts.render("triage", text=text_of(state)))
            verdict = merged(verdict, str(said.content))
        return {"triage": verdict.to_json()}

    async def assisted_plan(self, state: Desk, run: sw.Run) -> dict[str, Any]:
        """Let the model propose the next calls; none means that the rules' plan stands."""
        rules = self.next_plan(state)
        done = [one.to_json() for one in outcomes_in(state)]
        model = run.model().bind_tools(self._tools)
        said = await model.ainvoke(
            self._prompts.render("plan", text=text_of(state), customer=sender_of(state).customer, done=json.dumps(done))
        )
        return {"plan": plan_json(proposed(rules, said, made=done))}

    async def assisted_reply(self, state: Desk, run: sw.Run) -> dict[str, Any]:
        """Let the model word the letter; the template's own stands when a fact got lost."""
        letter = self.letter(state)
        said = await run.model().ainvoke(self._prompts.render("reply", letter=letter, lang=sender_of(state).lang))
        return answered(state, str(said.content) if keeps_facts(str(said.content), letter=letter) else letter)


def merged(verdict: Triage, said: str) -> Triage:
    """Take a model's verdict over the encoder's; one that cannot be read changes nothing.

    Args:
        verdict: The encoder's.
        said: The model's reply: a JSON object, with or without text around it.
    """
    found = re.search(r"\{[^{}]*\}", said)
    if found is None:
        return verdict
    try:
        answer = Verdict.model_validate_json(found.group())
    except ValidationError:
        return verdict
    return replace(verdict, **answer.model_dump())


def proposed(rules: Plan, said: AIMessage, *, made: Sequence[dict[str, Any]]) -> Plan:
    """Take the calls a model proposes into the plan.

    Args:
        rules: The rules' plan; its notes and escalation stand.
        said: The model's message.
        made: The calls that were made, which are not proposed again.
    """
    if rules.escalate or not said.tool_calls:
        return rules
    known = [(one["tool"], one["arguments"]) for one in made]
    steps = tuple(
        PlannedCall(tool=call["name"], arguments=call["args"], why="the planner proposes it")
        for call in said.tool_calls[:MAX_CALLS]
        if (call["name"], call["args"]) not in known
    )
    return replace(rules, steps=steps)


def keeps_facts(said: str, *, letter: str) -> bool:
    """Whether a reworded letter still has every number of the original and no other.

    Args:
        said: The model's wording.
        letter: The template's.
    """
    numbers = r"[A-Z]?-?\d[\d.,-]*\d|\d"
    return bool(said.strip()) and set(re.findall(numbers, said)) == set(re.findall(numbers, letter))
