"""The building block that plans, does the plan step by step, and looks after each step whether the plan still holds.

BEGIN → PLAN → ACT → REFLECT → (ACT | PLAN | FINISH) → END. What bounds the work is counted in the block's record, so
that it ends whatever anybody says; FINISH then answers with what is there. Left and entered again through its history,
it goes on in the state that was left, with the counters and the plan as they were.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any, cast

from langchain_core.messages import BaseMessage
from typing_extensions import Unpack

from stateward.chart.signature import Action
from stateward.chart.state import Final, State, Superstate
from stateward.chart.transition import Reaction, on, when
from stateward.errors import DefinitionError
from stateward.run.door.tool import ToolResult
from stateward.teams import plan as plans
from stateward.teams.around import Around
from stateward.teams.member import FAILED
from stateward.teams.placing import Element, placed
from stateward.teams.plan import Limits, PlanStep, Verdict, plan_of
from stateward.teams.plan_asking import PlanAsking, by_rules, summed
from stateward.teams.record_contract import misfit, record_gate
from stateward.teams.state import answer_of, record_of, recorded, task_of, told
from stateward.teams.worker import Job, Worked, Worker, work_state, worker_of

DEFAULT_STEPS = 12
DEFAULT_REPLANS = 3
DEFAULT_RETRIES = 2


def plan_act_reflect(
    name: str,
    *,
    plan: Job,
    act: Job | Element,
    reflect: Job | None = None,
    finish: Job | None = None,
    max_steps: int = DEFAULT_STEPS,
    max_replans: int = DEFAULT_REPLANS,
    replan_every: int | None = None,
    retries: int = DEFAULT_RETRIES,
    **around: Unpack[Around],
) -> Superstate[Any]:
    """Make the superstate that plans, acts and reflects.

    Who works is a function (by rules, or by an encoder), the role of a model, or a `Worker` that says more. A planner
    returns steps (texts, or `PlanStep`), an actor what the step came to (text, a tool's result, or `Worked`), a
    reflector `continue`, `replan` or `finish`, alone, with a reason, or as a `Verdict`; `finish` returns the answer.
    `plan_of(state, NAME)` tells a function where the work stands.

    Args:
        name: The block's name; its record is `team[NAME]`.
        plan: Who plans.
        act: Who does a step; or another block, which is told the step as its task and answers with the result.
        reflect: Who judges; None for rules: go on while it goes well, plan anew when a step failed.
        finish: Who answers in the end; None for the results of the steps that were done.
        max_steps: Steps that are done or tried before it has to finish, ≥ 1.
        max_replans: Plans that a verdict may ask for before it has to finish, ≥ 0.
        replan_every: After how many steps another plan is made, whatever the verdict, ≥ 1; None for never.
        retries: How often a plan or verdict that does not fit is sent back, ≥ 0.
        around: `history`, `on`, `always`, `entry`, `exit` and `policy`, as for `Superstate`; the history is shallow.

    Returns:
        The superstate, without `to`.

    Raises:
        DefinitionError: Nobody is said who could work, or a number is out of its range.

    Source:
        SYSTEMS.md, A1 and A4. Yao et al., ReAct (2022); Shinn et al., Reflexion (2023).
    """
    limits = _limits(name, max_steps=max_steps, max_replans=max_replans, replan_every=replan_every, retries=retries)
    workers = _workers(name, {"plan": plan, "act": act, "reflect": reflect, "finish": finish})
    prompts = cast("Any", {part: worker.prompt for part, worker in workers.items()})
    asking = PlanAsking(name=name, prompts=prompts, limits=limits, retries=retries)
    around.setdefault("history", "shallow")
    return Superstate(
        name,
        State("BEGIN", entry=partial(begin_work, name=name), to="PLAN"),
        _plan_state(name, workers["plan"], asking=asking),
        _act_block(name, act) if _is_block(act) else _act_state(name, workers["act"], asking=asking),
        _reflect_state(name, workers["reflect"], asking=asking),
        _finish_state(name, workers["finish"], asking=asking),
        Final("END"),
        **around,
    )


def _workers(name: str, jobs: Mapping[str, Any]) -> dict[str, Worker]:
    """Return who works by job; rules judge and sum up where nobody is named, and a block that acts is no worker."""
    rules = {"reflect": partial(reflect_by_rules, name=name), "finish": partial(sum_up, name=name)}
    named = {part: rules.get(part) if job is None else job for part, job in jobs.items()}
    return {part: worker_of(job, where=f"{name}.{part.upper()}") for part, job in named.items() if not _is_block(job)}


# -- the states ----------------------------------------------------------------------------------------


def _plan_state(name: str, worker: Worker, *, asking: PlanAsking) -> State[Any]:
    def fold(state: Any, worked: Worked) -> dict[str, Any]:
        return recorded(name, **plans.planned(plan_of(state, name), worked.value))

    return work_state(
        "PLAN",
        worker,
        where=f"{name}.PLAN",
        ask=asking.plan,
        fold=fold,
        output=record_gate(name, {"plan": list[PlanStep]}, title="Plan", retries=asking.retries),
        to=[when(partial(has_step, name=name), "ACT"), "FINISH"],
        on=[_given_up(name)],
    )


def _act_state(name: str, worker: Worker, *, asking: PlanAsking) -> State[Any]:
    def fold(state: Any, worked: Worked) -> dict[str, Any]:
        ok, result = _result(worked)
        return recorded(name, **plans.acted(plan_of(state, name), ok=ok, result=result))

    return work_state(
        "ACT",
        worker,
        where=f"{name}.ACT",
        ask=asking.act,
        fold=fold,
        entry=partial(begin_step, name=name),
        to="REFLECT",
    )


def _act_block(name: str, member: Any) -> Superstate[Any]:
    return Superstate(
        "ACT",
        placed(member, to="END"),
        Final("END", entry=partial(take_result, name=name, member=member.name)),
        entry=[partial(begin_step, name=name), partial(tell_step, name=name, member=member.name)],
        to="REFLECT",
    )


def _reflect_state(name: str, worker: Worker, *, asking: PlanAsking) -> State[Any]:
    def fold(state: Any, worked: Worked) -> dict[str, Any]:
        return recorded(name, **plans.judged(plan_of(state, name), worked.value, limits=asking.limits))

    return work_state(
        "REFLECT",
        worker,
        where=f"{name}.REFLECT",
        ask=asking.reflect,
        fold=fold,
        output=record_gate(name, {"verdict": Verdict}, title="Verdict", retries=asking.retries),
        to=[when(partial(goes_on, name=name), "ACT"), when(partial(plans_anew, name=name), "PLAN"), "FINISH"],
        on=[_given_up(name)],
    )


def _finish_state(name: str, worker: Worker, *, asking: PlanAsking) -> State[Any]:
    def fold(state: Any, worked: Worked) -> dict[str, Any]:
        return recorded(name, **plans.finished(plan_of(state, name), worked.value))

    return work_state("FINISH", worker, where=f"{name}.FINISH", ask=asking.finish, fold=fold, to="END")


def _given_up(name: str) -> Reaction[Any]:
    return on("error.contract", "FINISH", do=cast("Action[Any]", partial(give_up, name=name)))


# -- what is pure: guards, actions, rules --------------------------------------------------------------


def begin_work(state: Any, *, name: str) -> dict[str, Any]:
    """Begin anew: the goal is what the block was told, else what the user said last."""
    return recorded(name, **plans.begun(task_of(state, name)))


def begin_step(state: Any, *, name: str) -> dict[str, Any]:
    """Mark the step whose turn it is."""
    return recorded(name, **plans.doing(plan_of(state, name)))


def tell_step(state: Any, *, name: str, member: str) -> dict[str, Any]:
    """Tell the member the step whose turn it is."""
    step = plan_of(state, name).current
    return told(member, step.text if step is not None else "")


def take_result(state: Any, *, name: str, member: str) -> dict[str, Any]:
    """Take what the member came to; nothing at all is a step that did not work."""
    answer = answer_of(state, member)
    came = answer not in (None, "") and FAILED not in record_of(state, member)
    ok, result = _result(Worked(answer, ok=came))
    return recorded(name, **plans.acted(plan_of(state, name), ok=ok, result=result))


def give_up(state: Any, event: Any, *, name: str) -> dict[str, Any]:
    """Write down what did not fit."""
    return recorded(name, ended="contract", problem=misfit(event))


def has_step(state: Any, *, name: str) -> bool:
    """Whether the plan has a step that is still to be done."""
    return plan_of(state, name).place is not None


def goes_on(state: Any, *, name: str) -> bool:
    """Whether the next step of the plan is due."""
    return record_of(state, name).get("next") == "act"


def plans_anew(state: Any, *, name: str) -> bool:
    """Whether another plan is due."""
    return record_of(state, name).get("next") == "plan"


def reflect_by_rules(state: Any, *, name: str) -> dict[str, Any]:
    """Go on while it goes well, plan anew when a step failed, finish when none is left."""
    return by_rules(plan_of(state, name))


def sum_up(state: Any, *, name: str) -> str:
    """Answer with the results of the steps that were done."""
    return summed(plan_of(state, name))


def _result(worked: Worked) -> tuple[bool, str]:
    value = worked.value
    if isinstance(value, ToolResult):
        return worked.ok and value.ok, value.text
    if isinstance(value, BaseMessage):
        return worked.ok, value.text
    if value is None or isinstance(value, str):
        return worked.ok, value or ""
    return worked.ok, json.dumps(value, ensure_ascii=False, default=str)


def _is_block(job: object) -> bool:
    return isinstance(job, State | Superstate)


def _limits(name: str, *, max_steps: int, max_replans: int, replan_every: int | None, retries: int) -> Limits:
    least: Mapping[str, tuple[int | None, int]] = {
        "max_steps": (max_steps, 1),
        "max_replans": (max_replans, 0),
        "replan_every": (replan_every, 1),
        "retries": (retries, 0),
    }
    for what, (given, smallest) in least.items():
        if given is not None and given < smallest:
            raise DefinitionError(f"`{what}` is {given}", where=name, fix=f"Give a number from {smallest}.")
    return Limits(max_steps=max_steps, max_replans=max_replans, replan_every=replan_every)
