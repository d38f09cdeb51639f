"""How a model plans, acts, judges and sums up: what it is told, and what is made of whatever it answers.

A model may answer anything. A plan or verdict that cannot be read, after a bounded number of calls, is made by rules:
the goal itself is the only step, and the work goes on as far as it went well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from pydantic import BaseModel, Field, create_model

from stateward.run.context import Run
from stateward.run.tool_schema import tool_schema
from stateward.teams.conversation import cleaned, has_calls, observed, refused, unread, without_tools
from stateward.teams.plan import LONGEST, MOST_STEPS, Limits, Plan, PlanStep, Verdicts, plan_of
from stateward.teams.reading import read
from stateward.teams.record_contract import Reason
from stateward.teams.wording import Wording
from stateward.teams.worker import Worked, job_text

MOST_ROUNDS = 4
"""Rounds of calls for one step; then the model has to answer."""
MOST_CALLS = 8
"""Calls of one reply that are made."""
_TOO_MANY = f"at most {MOST_CALLS} calls of one reply are made"

_Part = Literal["plan", "act", "reflect", "finish"]
INSTRUCTIONS: Mapping[_Part, str] = {
    "plan": "Make a plan for the goal: few short steps, in order, each of which can be done by itself.",
    "act": "Do this one step of the plan, with the tools if there are any. Answer with its result alone.",
    "reflect": (
        "Judge the work so far. Verdict `continue`: the next step of the plan is right. `replan`: another plan is "
        "needed. `finish`: the goal is reached, or cannot be reached. Give the reason in one sentence."
    ),
    "finish": "Answer the goal from the results of the steps. Say so if something is missing.",
}
"""What a model is told of its job when nobody says otherwise."""


_Text = Annotated[str, Field(min_length=1, max_length=LONGEST)]


class Judgement(BaseModel):
    """What a model is asked for when it judges."""

    verdict: Verdicts
    reason: Reason = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanAsking:
    """The four questions of one block."""

    name: str
    prompts: Mapping[_Part, Wording]
    """What the model is told instead of `INSTRUCTIONS`; empty for those."""
    limits: Limits
    retries: int

    async def plan(self, state: Any, run: Run[Any]) -> list[Any]:
        """Ask for a plan; by rules the open steps stay, or the goal is the only one."""
        plan = plan_of(state, self.name)
        contract = _steps(min(MOST_STEPS, max(1, self.limits.max_steps - plan.acted)))
        found = await read(run, self._messages("plan", state), contract=contract, retries=self.retries)
        if found.value is not None:
            return list(found.value["steps"])
        return [step.text for step in plan.steps if step.is_open] or [plan.goal[:LONGEST] or "Answer the user."]

    async def act(self, state: Any, run: Run[Any]) -> Worked:
        """Let the model do the step, with the tools of the state; after some rounds it has to answer without."""
        messages = self._messages("act", state)
        tools = [tool_schema(tool) for tool in run.shown(run.door.tools)]
        for step in range(MOST_ROUNDS if tools else 0):
            reply = cleaned(await run.model().bind_tools(tools).ainvoke(messages), name=self.name, step=step)
            if not has_calls(reply):
                return _result(reply)
            messages.extend([reply, *await _called(run, reply)])
        return _result(await run.model().ainvoke(without_tools(messages)))

    async def reflect(self, state: Any, run: Run[Any]) -> dict[str, Any]:
        """Ask for a verdict; one that cannot be read is made by rules."""
        plan = plan_of(state, self.name)
        found = await read(run, self._messages("reflect", state), contract=Judgement, retries=self.retries)
        return {**found.value} if found.value is not None else {**by_rules(plan), "reason": found.problem[:LONGEST]}

    async def finish(self, state: Any, run: Run[Any]) -> str:
        """Ask for the answer; when nothing is said, it is the results of the steps."""
        plan = plan_of(state, self.name)
        return (await run.model().ainvoke(self._messages("finish", state))).text.strip() or summed(plan)

    def _messages(self, part: _Part, state: Any) -> list[BaseMessage]:
        plan = plan_of(state, self.name)
        wording = self.prompts.get(part, "")
        text = job_text(wording, state, instead=INSTRUCTIONS[part], goal=plan.goal, max_steps=self.limits.max_steps)
        return [SystemMessage(text), HumanMessage(told(plan, part=part))]


def by_rules(plan: Plan) -> dict[str, Any]:
    """Judge without a model: go on while it goes well, plan anew when a step failed, finish when none is left.

    Args:
        plan: Where the work stands.
    """
    if plan.last is not None and plan.last.status == "failed":
        return {"verdict": "replan", "reason": f"`{plan.last.text[: LONGEST // 2]}` did not work"}
    if plan.place is None:
        return {"verdict": "finish", "reason": "every step was done"}
    return {"verdict": "continue", "reason": "the last step was done"}


def summed(plan: Plan) -> str:
    """Put the results of the steps that were done together.

    Args:
        plan: Where the work stands.
    """
    return "\n\n".join(step.result for step in plan.done if step.result)


def told(plan: Plan, *, part: _Part) -> str:
    """Say where the work stands, as a model is told.

    Args:
        plan: Where the work stands.
        part: What it is told for.
    """
    lines = [f"Goal: {plan.goal}"]
    tried = [*(step for each in plan.earlier for step in each if step.status == "failed"), *plan.steps]
    lines += ["", "Done so far:", *(_line(step) for step in plan.done)] if plan.done else []
    failed = [step for step in tried if step.status == "failed"]
    lines += ["", "Did not work:", *(_line(step) for step in failed)] if failed else []
    left = [step for step in plan.steps if step.is_open]
    lines += ["", "Still to be done:", *(f"- {step.text}" for step in left)] if left and part != "act" else []
    if part == "plan" and plan.verdict is not None:
        lines += ["", f"Why another plan is made: {plan.verdict.reason or 'some steps were done'}"]
    if part == "act" and plan.current is not None:
        lines += ["", f"The step: {plan.current.text}"]
    return "\n".join(lines)


async def _called(run: Run[Any], reply: AIMessage) -> list[ToolMessage]:
    """Make the calls of a reply; each has its answer, also those that are not made or cannot be read."""
    results = await run.tools(reply.tool_calls[:MOST_CALLS])
    over = (refused(call, _TOO_MANY) for call in reply.tool_calls[MOST_CALLS:])
    return [*map(observed, results), *over, *unread(reply)]


def _steps(most: int) -> type[BaseModel]:
    return create_model("Steps", steps=(Annotated[list[_Text], Field(min_length=1, max_length=most)], ...))


def _line(step: PlanStep) -> str:
    return f"- {step.text}: {step.result}" if step.result else f"- {step.text}"


def _result(reply: BaseMessage) -> Worked:
    text = reply.text.strip()
    return Worked(text or "The model said nothing.", ok=bool(text))
