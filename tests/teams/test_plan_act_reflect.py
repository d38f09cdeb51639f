"""The block that plans, acts and reflects: what each verdict leads to, what bounds it, how it is left and resumed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage

import stateward as sw
from stateward import teams
from stateward.errors import DefinitionError
from stateward.govern.policy import Fuses, Policy, Rule, ToolPolicy
from stateward.run.session import Outcome
from stateward.testing import ScriptedModel
from tests.charts.drive import Driven
from tests.charts.team import in_order, worker
from tests.teams.plans import NAME, Desk, actor, ask, look_up, planner, planning, says, statuses

Drive = Callable[..., Driven]


def plan_in(outcome: Outcome) -> teams.Plan:
    return teams.plan_of(outcome.values, NAME)


def test_a_plan_is_done_step_by_step(drive: Drive) -> None:
    """Each step is done once, in order, and the answer is what they came to."""
    outcome = drive(planning()).start(ask())
    assert (outcome.status, outcome.values["log"]) == ("completed", ["a", "b"])
    assert statuses(plan_in(outcome).steps) == ["a done", "b done"]
    assert outcome.values["team"][NAME]["answer"] == "did a\n\ndid b"


def test_the_step_that_is_being_done_is_in_the_checkpoint(drive: Drive) -> None:
    """Whoever looks sees how far the plan is, state by state."""
    driven = drive(planning())
    driven.start(ask())
    seen = [
        statuses(teams.plan_of(each.values, NAME).steps) for each in driven.checkpoints if f"{NAME}.ACT" in each.next
    ]
    assert seen == [["a doing", "b pending"], ["a done", "b doing"]]


def test_a_new_plan_keeps_the_history_of_plans(drive: Drive) -> None:
    """The plan before keeps what became of its steps; those that nobody did are dropped."""
    outcome = drive(planning(plan=planner(["a", "b", "c"], ["d"]), act=actor("b"))).start(ask())
    plan = plan_in(outcome)
    assert [statuses(each) for each in (*plan.earlier, plan.steps)] == [["a done", "b failed", "c dropped"], ["d done"]]
    assert (plan.replans, outcome.values["team"][NAME]["answer"]) == (1, "did a\n\ndid d")


def test_a_verdict_has_a_reason(drive: Drive) -> None:
    """It stays in the record beside what it led to."""
    outcome = drive(planning(reflect=says(("finish", "that is enough")))).start(ask())
    assert plan_in(outcome).verdict == teams.Verdict(verdict="finish", reason="that is enough")
    assert (plan_in(outcome).ended, statuses(plan_in(outcome).steps)) == ("finish", ["a done", "b dropped"])


def test_new_plans_are_bounded(drive: Drive) -> None:
    """Whoever always wants another plan gets so many, and then the work ends with what is there."""
    outcome = drive(planning(reflect=says("replan"), max_replans=2)).start(ask())
    plan = plan_in(outcome)
    assert (plan.ended, plan.replans, len(plan.earlier), outcome.values["log"]) == ("max_replans", 2, 2, ["a"] * 3)
    assert (outcome.status, outcome.values["team"][NAME]["answer"]) == ("completed", "did a")


def test_steps_are_bounded(drive: Drive) -> None:
    """A plan that is too long ends at the limit, and what was not done is dropped."""
    outcome = drive(planning(plan=planner(["a", "b", "c"]), max_steps=2)).start(ask())
    assert plan_in(outcome).ended == "max_steps"
    assert statuses(plan_in(outcome).steps) == ["a done", "b done", "c dropped"]


def test_it_plans_anew_at_intervals(drive: Drive) -> None:
    """After so many steps another plan is made, though nothing went wrong; it counts as nobody's wish."""
    outcome = drive(planning(plan=planner(["a", "b", "x"], ["c"]), replan_every=2)).start(ask())
    plan = plan_in(outcome)
    assert [statuses(each) for each in plan.earlier] == [["a done", "b done", "x dropped"]]
    assert (statuses(plan.steps), plan.replans, plan.acted) == (["c done"], 0, 3)


def test_an_empty_plan_ends_at_once(drive: Drive) -> None:
    """There is nothing to do, and no answer."""
    outcome = drive(planning(plan=says([]))).start(ask())
    assert (outcome.status, plan_in(outcome).ended, outcome.values["team"][NAME]["answer"]) == (
        "completed",
        "empty",
        "",
    )


@pytest.mark.parametrize("left_in", ["PLAN", "ACT", "REFLECT"])
def test_a_pause_resumes_the_last_substate(drive: Drive, left_in: str) -> None:
    """Each state is entered once more at most; plan and counters are as they were."""
    # What the user says leaves PLAN before anything was planned.
    before: dict[str, Any] = {"ACT": {"plan": stopping_plan}, "REFLECT": {"act": stopping_act}}.get(left_in, {})
    driven = drive(planning(**before))
    assert driven.start(ask("stop" if left_in == "PLAN" else "go")).path == "PAUSED"
    before_it = len(driven.checkpoints)
    back = driven.resume("resume")
    assert driven.checkpoints[before_it].next == (f"{NAME}.{left_in}",)
    assert (back.status, plan_in(back).acted, plan_in(back).earlier) == ("completed", 2, ())


STOP = {"messages": [("ai", "stop")]}


def stopping_plan(state: Desk) -> teams.Worked:
    return teams.Worked(["a", "b"], update=STOP)


def stopping_act(state: Desk) -> teams.Worked:
    return teams.Worked("done", update=STOP if teams.plan_of(state, NAME).acted == 0 else {})


def test_another_run_begins_anew(drive: Drive) -> None:
    """Goal, plan, history and counters are those of the new run."""
    driven = drive(planning(plan=planner(["a", "b"], ["c"]), act=actor("a")))
    driven.start(ask())
    again = driven.start(ask("Once more."))
    assert (plan_in(again).goal, plan_in(again).acted, len(plan_in(again).earlier)) == ("Once more.", 2, 1)


@pytest.mark.parametrize("rubbish", [None, 7, [{"step": "a"}], [""], {"steps": ["a"]}, object()])
def test_a_plan_that_is_none_is_sent_back_and_then_given_up(drive: Drive, rubbish: object) -> None:
    """The planner is told what is wrong; after the retries the work ends, and the record says why."""
    told: list[str] = []

    def plan(run: sw.SyncRun) -> Any:
        told.append(run.feedback)
        return rubbish

    outcome = drive(planning(plan=plan, retries=1)).start(ask())
    assert (outcome.status, plan_in(outcome).ended, len(told)) == ("completed", "contract", 2)
    assert "expected" in told[1]
    assert "expected" in outcome.values["team"][NAME]["problem"]


@pytest.mark.parametrize("rubbish", [None, "perhaps", 7, ("finish", 7), {"verdict": "go"}])
def test_a_verdict_that_is_none_ends_the_work(drive: Drive, rubbish: object) -> None:
    """What was done until then is the answer."""
    outcome = drive(planning(reflect=says(rubbish))).start(ask())
    assert (outcome.status, plan_in(outcome).ended) == ("completed", "contract")
    assert outcome.values["team"][NAME]["answer"] == "did a"


async def act_by_tool(state: Desk, run: sw.Run) -> Any:
    """Do a step through the door."""
    step = teams.plan_of(state, NAME).current
    return await run.tool("look_up", topic=step.text if step else "")


def test_a_tools_result_is_the_steps_result(drive: Drive) -> None:
    """What the door gives back, the step takes."""
    acting = teams.Worker(act_by_tool, tools=("look_up",))
    outcome = drive(planning(act=acting, tools=[look_up])).start(ask())
    assert [step.result for step in plan_in(outcome).steps] == ["all about a", "all about b"]


def test_a_policy_on_the_block_binds_its_states(drive: Drive) -> None:
    """A forbidden tool is a step that failed, and the planner is asked again."""
    strict = Policy(
        name="strict", tools=ToolPolicy(default="allowed", rules=(Rule(match="look_up", level="forbidden"),))
    )
    acting = teams.Worker(act_by_tool, tools=("look_up",))
    outcome = drive(planning(act=acting, tools=[look_up], policy=strict, max_replans=0)).start(ask())
    assert statuses(plan_in(outcome).steps) == ["a failed", "b dropped"]


def test_a_fuse_on_the_block_counts_what_its_states_spend(drive: Drive) -> None:
    """Two calls are made and no third; the chart around says what then."""
    acting = teams.Worker(act_by_tool, tools=("look_up",))
    bound = Policy(name="two", fuses=Fuses(calls=2))
    outcome = drive(planning(plan=planner(["a", "b", "c"]), act=acting, tools=[look_up], policy=bound)).start(ask())
    assert (outcome.path, statuses(plan_in(outcome).steps)) == ("HELP", ["a done", "b done", "c doing"])


def test_another_block_can_act(drive: Drive) -> None:
    """It is told each step as its task, and its answer is the step's result."""
    member = teams.agent("HAND", model="hand", conversation="notes", memory="invocation")
    model = ScriptedModel.of("made a", "made b")
    outcome = drive(planning(act=member, models={"hand": model})).start(ask())
    assert [step.result for step in plan_in(outcome).steps] == ["made a", "made b"]
    assert [call[-1].text for call in model.calls] == ["a", "b"]


def test_a_team_that_came_to_nothing_is_a_step_that_failed(drive: Drive) -> None:
    """Why it came to nothing is kept as the step's result."""
    team = teams.supervisor("TEAM", [worker("A", ValueError("lost"))], choose=in_order("A"))
    (step,) = plan_in(drive(planning(act=team, plan=planner(["look"]), max_replans=0)).start(ask())).steps
    assert (step.status, step.result) == ("failed", "`A` came to no answer: error.activity: lost")


@pytest.mark.parametrize(
    ("value", "kept"), [(None, ""), ({"a": ["b"]}, '{"a": ["b"]}'), (3, "3"), (AIMessage("said"), "said")]
)
def test_a_result_is_kept_as_text(drive: Drive, value: object, kept: str) -> None:
    """Words as they are, data as JSON."""
    outcome = drive(planning(plan=planner(["a"]), act=says(value))).start(ask())
    assert [step.result for step in plan_in(outcome).steps] == [kept]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"max_steps": 0}, "`max_steps` is 0"),
        ({"max_replans": -1}, "`max_replans` is -1"),
        ({"replan_every": 0}, "`replan_every` is 0"),
        ({"retries": -1}, "`retries` is -1"),
        ({"plan": None}, "None says nobody who could work"),
        ({"act": teams.Worker()}, "says nobody who could work"),
    ],
)
def test_what_cannot_work_is_a_definition_error(wrong: dict[str, Any], told: str) -> None:
    """It is said when the block is made."""
    with pytest.raises(DefinitionError, match=told):
        planning(**wrong)
