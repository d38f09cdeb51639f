"""A plan as a typed list of steps, what has become of it, and what a verdict on it leads to.

Everything here is a function of the block's record: nothing is called, nothing waits. `docs/teams.md` shows the words
that an author needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, model_validator

from stateward.teams.state import record_of

StepStatus = Literal["pending", "doing", "done", "failed", "dropped"]
"""What has become of a step.

pending: its turn has not come. doing: it is being done. done: it was done. failed: it was tried and did not work.
dropped: another plan took its place, or the work ended before its turn.
"""
Verdicts = Literal["continue", "replan", "finish"]
"""What a look at the work so far comes to.

continue: do the next step. replan: make another plan. finish: enough is done.
"""
Ending = Literal["finish", "done", "empty", "max_steps", "max_replans", "contract"]
"""Why the work ended.

finish: the verdict said so. done: no step was left. empty: there was nothing to do. max_steps, max_replans: the limit
was reached. contract: a function returned, too often, what is no plan or no verdict.
"""
MOST_STEPS = 100
"""Steps of one plan."""
LONGEST = 2_000
"""Characters of a step's text, and of a reason."""
MOST_KEPT = 4_000
"""Characters of a step's result that the record keeps."""


class PlanStep(BaseModel):
    """One step of a plan."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    text: str = Field(min_length=1, max_length=LONGEST)
    """What is to be done."""
    status: StepStatus = "pending"
    """What has become of it."""
    result: str = ""
    """What it came to."""

    @model_validator(mode="before")
    @classmethod
    def _of_text(cls, given: Any) -> Any:
        return {"text": given} if isinstance(given, str) else given

    @property
    def is_open(self) -> bool:
        """Whether it is still to be done."""
        return self.status in ("pending", "doing")


class Verdict(BaseModel):
    """What a look at the work so far comes to, and why."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    verdict: Verdicts
    reason: str = Field(default="", max_length=LONGEST)

    @model_validator(mode="before")
    @classmethod
    def _of_text(cls, given: Any) -> Any:
        return {"verdict": given} if isinstance(given, str) else given


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What bounds the work of one entry into the block."""

    max_steps: int
    """Steps that are done or tried, ≥ 1."""
    max_replans: int
    """Plans that a verdict may ask for, after the first, ≥ 0."""
    replan_every: int | None = None
    """After how many steps another plan is made, whatever the verdict, ≥ 1; None for never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Where the work stands."""

    goal: str = ""
    """What the plan is for."""
    steps: tuple[PlanStep, ...] = ()
    """The present plan."""
    earlier: tuple[tuple[PlanStep, ...], ...] = ()
    """The plans before it, oldest first."""
    verdict: Verdict | None = None
    """The last verdict; None before the first."""
    acted: int = 0
    """Steps that were done or tried, of all plans."""
    replans: int = 0
    """Plans that a verdict asked for."""
    since: int = 0
    """Steps that were done or tried since the present plan was made."""
    ended: Ending | None = None
    """Why the work ended; None while it goes on."""

    @property
    def place(self) -> int | None:
        """The index of the step whose turn it is; None when none is left."""
        return next((index for index, step in enumerate(self.steps) if step.is_open), None)

    @property
    def current(self) -> PlanStep | None:
        """The step whose turn it is; None when none is left."""
        return None if self.place is None else self.steps[self.place]

    @property
    def last(self) -> PlanStep | None:
        """The step of the present plan that was done or tried last; None before the first."""
        return next((step for step in reversed(self.steps) if step.status in ("done", "failed")), None)

    @property
    def done(self) -> tuple[PlanStep, ...]:
        """The steps that were done, of all plans, in the order in which they were planned.

        One that a later plan took over counts once; equal ones of the same plan are several.
        """
        done: list[PlanStep] = []
        for plan in (*self.earlier, self.steps):
            known = Counter(done)
            for step in plan:
                if step.status == "done" and known[step] <= 0:
                    done.append(step)
                known[step] -= 1
        return tuple(done)


def plan_of(state: object, name: str) -> Plan:
    """Return where the work of a block stands, for its functions and for guards around it.

    Args:
        state: The state.
        name: The block's name.

    Returns:
        The plan; an empty one before the block was entered.
    """
    record = record_of(state, name)
    verdict = record.get("verdict")
    return Plan(
        goal=record.get("goal", ""),
        steps=_steps(record.get("plan", ())),
        earlier=tuple(_steps(plan) for plan in record.get("plans", ())),
        verdict=None if verdict is None else Verdict.model_validate(verdict),
        acted=record.get("acted", 0),
        replans=record.get("replans", 0),
        since=record.get("since", 0),
        ended=record.get("ended"),
    )


def begun(goal: str) -> dict[str, Any]:
    """Return the fields of work that begins: nothing of earlier work is left.

    Args:
        goal: What it is for.
    """
    fresh = dict.fromkeys(("plan", "plans", "verdict", "next", "ended", "problem", "answer"))
    return {**fresh, "goal": goal, "acted": 0, "replans": 0, "since": 0}


def planned(plan: Plan, steps: object) -> dict[str, Any]:
    """Return the fields of a new plan; the one before goes to the history.

    Args:
        plan: Where the work stands.
        steps: The new steps, texts among them, not yet validated.
    """
    new = [_raw(step) for step in cast("Iterable[object]", steps)] if _is_list(steps) else steps
    fields: dict[str, Any] = {"plan": new, "since": 0}
    if plan.steps:
        fields["plans"] = [_json(each) for each in (*plan.earlier, closed(plan.steps))]
    return fields


def doing(plan: Plan) -> dict[str, Any]:
    """Return the fields of a step that is begun.

    Args:
        plan: Where the work stands.
    """
    return _with_current(plan, status="doing")


def acted(plan: Plan, *, ok: bool, result: str) -> dict[str, Any]:
    """Return the fields of a step that was done or tried.

    Args:
        plan: Where the work stands.
        ok: Whether it was done.
        result: What it came to.
    """
    whole = result.encode("utf-8", "replace").decode()  # half a letter, as a model may write it, cannot be kept
    kept = whole if len(whole) <= MOST_KEPT else f"{whole[: MOST_KEPT - 1]}…"
    step = _with_current(plan, status="done" if ok else "failed", result=kept)
    return {**step, "acted": plan.acted + 1, "since": plan.since + 1}


def judged(plan: Plan, verdict: object, *, limits: Limits) -> dict[str, Any]:
    """Return the fields of a verdict, and of what follows from it.

    Args:
        plan: Where the work stands.
        verdict: The verdict, not yet validated.
        limits: What bounds the work.
    """
    raw = _raw_verdict(verdict)
    said = cast("Mapping[str, Any]", raw).get("verdict") if isinstance(raw, Mapping) else None
    following, ended = _following(plan, said, limits)
    fields: dict[str, Any] = {"verdict": raw, "next": following, "ended": ended}
    return {**fields, "replans": plan.replans + 1} if (said, following) == ("replan", "plan") else fields


def finished(plan: Plan, answer: Any) -> dict[str, Any]:
    """Return the fields of work that has ended.

    Args:
        plan: Where the work stood.
        answer: What it came to.
    """
    ended = plan.ended or ("done" if plan.steps else "empty")
    return {"plan": _json(closed(plan.steps)), "ended": ended, "next": None, "answer": answer}


def closed(steps: Sequence[PlanStep]) -> tuple[PlanStep, ...]:
    """Drop the steps that nobody will do any more.

    Args:
        steps: A plan's steps.
    """
    return tuple(step.model_copy(update={"status": "dropped"}) if step.is_open else step for step in steps)


def _following(plan: Plan, said: object, limits: Limits) -> tuple[str, Ending | None]:
    if said not in ("continue", "replan"):
        return "finish", "finish"
    if said == "continue" and plan.place is None:
        return "finish", "done"
    if plan.acted >= limits.max_steps:
        return "finish", "max_steps"
    if said == "replan":
        return ("plan", None) if plan.replans < limits.max_replans else ("finish", "max_replans")
    return ("plan" if limits.replan_every is not None and plan.since >= limits.replan_every else "act"), None


def _with_current(plan: Plan, **changed: Any) -> dict[str, Any]:
    if plan.place is None:
        return {}
    steps = list(plan.steps)
    steps[plan.place] = steps[plan.place].model_copy(update=changed)
    return {"plan": _json(steps)}


def _steps(given: Iterable[object]) -> tuple[PlanStep, ...]:
    return tuple(PlanStep.model_validate(step) for step in given)


def _json(steps: Iterable[PlanStep]) -> list[dict[str, Any]]:
    return [step.model_dump(mode="json") for step in steps]


def _is_list(given: object) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping | BaseModel)


def _raw(step: object) -> object:
    return step.model_dump(mode="json") if isinstance(step, BaseModel) else step


def _raw_verdict(given: Any) -> Any:  # Any: whatever a function returned
    if isinstance(given, str):
        return {"verdict": given}
    if isinstance(given, tuple):
        return dict(zip(("verdict", "reason"), cast("tuple[object, ...]", given), strict=False))
    return _raw(cast(object, given))
