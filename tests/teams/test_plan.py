"""A plan's record: what is kept of steps, plans and verdicts, and what follows from them."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.teams.plan import (
    MOST_KEPT,
    Limits,
    Plan,
    PlanStep,
    Verdict,
    acted,
    begun,
    doing,
    finished,
    judged,
    plan_of,
    planned,
)

A, B = PlanStep(text="a"), PlanStep(text="b")
DONE, FAILED = PlanStep(text="a", status="done", result="A"), PlanStep(text="a", status="failed")
LIMITS = Limits(max_steps=5, max_replans=1, replan_every=2)


def test_nothing_recorded_is_an_empty_plan() -> None:
    """Before the block was entered."""
    assert plan_of({}, "W") == Plan()


def test_what_was_written_is_read_again() -> None:
    """Field by field, as plain JSON."""
    record = {**begun("go"), **planned(Plan(), ["a", B]), **judged(Plan(steps=(A,)), "continue", limits=LIMITS)}
    read = plan_of({"team": {"W": {field: value for field, value in record.items() if value is not None}}}, "W")
    assert (read.goal, read.steps, read.verdict) == ("go", (A, B), Verdict(verdict="continue"))


def test_the_step_whose_turn_it_is_is_the_first_open_one() -> None:
    """One that is being done is still open."""
    assert (Plan(steps=(DONE, B)).current, Plan(steps=(DONE,)).current) == (B, None)
    begun_step = doing(Plan(steps=(DONE, B)))["plan"][1]
    assert PlanStep.model_validate(begun_step).is_open


def test_a_long_result_is_cut() -> None:
    """The record stays small, and the cut is visible."""
    kept = acted(Plan(steps=(A,)), ok=True, result="x" * (MOST_KEPT + 1))["plan"][0]["result"]
    assert (len(kept), kept[-1]) == (MOST_KEPT, "…")


def test_half_a_letter_is_kept_as_a_question_mark() -> None:
    """A model may write a lone surrogate, which no encoding has."""
    record = {"team": {"W": acted(Plan(steps=(A,)), ok=True, result="\ud800x")}}
    assert plan_of(record, "W").steps[0].result == "?x"


def test_what_was_done_is_told_once() -> None:
    """A planner may take over steps that were done already."""
    assert Plan(steps=(DONE, B), earlier=((DONE, FAILED),)).done == (DONE,)


def test_a_step_that_was_done_twice_is_told_twice() -> None:
    """Steps of one plan may be equal: two of the same were ordered."""
    assert Plan(steps=(DONE, DONE), earlier=((DONE, FAILED),)).done == (DONE, DONE)


def test_a_new_plan_closes_the_one_before() -> None:
    """What nobody did is dropped, and the count of steps since begins anew."""
    fields = planned(Plan(steps=(DONE, B), since=1), ["c"])
    assert [step["status"] for step in fields["plans"][0]] == ["done", "dropped"]
    assert (fields["plan"], fields["since"]) == (["c"], 0)


FOLLOWING: list[tuple[Plan, Any, tuple[str, str | None]]] = [
    (Plan(steps=(DONE, B)), "continue", ("act", None)),
    (Plan(steps=(DONE, B), since=2), "continue", ("plan", None)),
    (Plan(steps=(DONE,)), "continue", ("finish", "done")),
    (Plan(steps=(DONE,), acted=5), "continue", ("finish", "done")),
    (Plan(steps=(DONE, B), acted=5), "continue", ("finish", "max_steps")),
    (Plan(steps=(DONE, B), acted=5), "replan", ("finish", "max_steps")),
    (Plan(steps=(DONE, B)), "replan", ("plan", None)),
    (Plan(steps=(DONE, B), replans=1), ("replan", "why"), ("finish", "max_replans")),
    (Plan(steps=(DONE, B)), Verdict(verdict="finish"), ("finish", "finish")),
    (Plan(steps=(DONE, B)), {"verdict": "what"}, ("finish", "finish")),
]


@pytest.mark.parametrize(("plan", "verdict", "following"), FOLLOWING)
def test_a_verdict_leads_on_within_the_limits(plan: Plan, verdict: Any, following: tuple[str, str | None]) -> None:
    """Nothing leads to more steps or plans than there may be."""
    fields = judged(plan, verdict, limits=LIMITS)
    assert (fields["next"], fields["ended"]) == following


def test_only_a_wish_for_another_plan_counts_as_one() -> None:
    """The plan at an interval does not."""
    wished, timed = Plan(steps=(DONE, B)), Plan(steps=(DONE, B), since=2)
    assert judged(wished, "replan", limits=LIMITS)["replans"] == 1
    assert "replans" not in judged(timed, "continue", limits=LIMITS)


def test_work_that_ended_says_why() -> None:
    """Also where no verdict was made."""
    assert [finished(plan, "x")["ended"] for plan in (Plan(), Plan(steps=(DONE,)), Plan(ended="finish"))] == [
        "empty",
        "done",
        "finish",
    ]
