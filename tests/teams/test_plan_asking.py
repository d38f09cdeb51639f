"""Models that plan, act, judge and sum up: exact runs by script, and a legal end whatever they say."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from stateward import teams
from stateward.govern.policy import Fuses, Policy, Rule, ToolPolicy
from stateward.testing import ScriptedModel, calls
from tests.charts.drive import Driven
from tests.teams.plans import NAME, actor, ask, look_up, planner, planning, statuses

Drive = Callable[..., Driven]


def steps(*texts: str) -> str:
    return json.dumps({"steps": texts})


def verdict(said: str, reason: str = "so it is") -> str:
    return json.dumps({"verdict": said, "reason": reason})


def test_a_scripted_run_of_models_comes_out_exactly(drive: Drive) -> None:
    """A plan, a step that does not work out, another plan, and an answer from what was found."""
    script = {
        "thinker": ScriptedModel.of(steps("ask the shop", "write it down"), steps("ask the web"), "It is blue."),
        "hand": ScriptedModel.of(calls(("look_up", {"topic": "shop"})), "the shop is shut", "the web says blue"),
        "judge": ScriptedModel.of(verdict("replan", "shut"), verdict("finish", "known")),
    }
    acting = teams.Worker(model="hand", tools=[look_up])
    block = planning(plan="thinker", act=acting, reflect="judge", finish="thinker", models=script, tools=[look_up])
    outcome = drive(block).start(ask("Which colour?"))
    plan = teams.plan_of(outcome.values, NAME)
    assert statuses(plan.earlier[0]) == ["ask the shop done", "write it down dropped"]
    assert [(step.text, step.result) for step in plan.steps] == [("ask the web", "the web says blue")]
    assert (plan.verdict, outcome.values["team"][NAME]["answer"]) == (
        teams.Verdict(verdict="finish", reason="known"),
        "It is blue.",
    )


def test_a_planner_is_told_what_came_of_the_plan_before(drive: Drive) -> None:
    """What was done, what did not work, and why another plan is wanted."""
    model = ScriptedModel.of(steps("a", "b"), steps("c"))
    drive(planning(plan="m", act=actor("b"), models={"m": model})).start(ask())
    assert model.calls[1][-1].text == (
        "Goal: Do it.\n\nDone so far:\n- a: did a\n\nDid not work:\n- b: did b\n\n"
        "Why another plan is made: `b` did not work"
    )


@pytest.mark.parametrize("reason", [{}, {"reason": None}, {"reason": "x" * 3000}])
def test_a_verdict_stands_whatever_its_reason_is(drive: Drive, reason: dict[str, Any]) -> None:
    """It is not made by rules over a reason that is missing or too long."""
    model = ScriptedModel.of(json.dumps({"verdict": "finish", **reason}))
    plan = teams.plan_of(drive(planning(reflect="m", models={"m": model})).start(ask()).values, NAME)
    assert (plan.verdict and plan.verdict.verdict, plan.acted, len(model.calls)) == ("finish", 1, 1)


def test_an_actor_is_told_its_step_and_not_the_conversation(drive: Drive) -> None:
    """The goal, what was done before, and the one step."""
    model = ScriptedModel.of("one", "two")
    drive(planning(act="m", models={"m": model})).start(ask())
    assert [each.text for each in model.calls[1][1:]] == ["Goal: Do it.\n\nDone so far:\n- a: one\n\nThe step: b"]


def test_an_actors_calls_are_bounded_and_all_answered(drive: Drive) -> None:
    """Nine calls of one reply: eight are made, and each has its answer behind it; then it has to say something."""
    nine = calls(*(("look_up", {"topic": str(number)}) for number in range(9)))
    model = ScriptedModel.of(nine, nine, nine, nine, "enough")
    acting = teams.Worker(model="m", tools=("look_up",))
    outcome = drive(planning(plan=planner(["a"]), act=acting, models={"m": model}, tools=[look_up])).start(ask())
    answers = [each.text for each in model.calls[1][3:]]
    assert (len(answers), answers[7], "at most 8 calls" in answers[8]) == (9, "all about 7", True)
    assert outcome.values["team"][NAME]["answer"] == "enough"


def test_silence_is_a_step_that_did_not_work(drive: Drive) -> None:
    """Nothing said is nothing done."""
    outcome = drive(planning(act="m", models={"m": ScriptedModel.of("")}, max_replans=0)).start(ask())
    assert statuses(teams.plan_of(outcome.values, NAME).steps) == ["a failed", "b dropped"]


def test_a_plan_that_cannot_be_read_is_the_goal_itself(drive: Drive) -> None:
    """After a bounded number of calls."""
    model = ScriptedModel.of(*["I would rather not."] * 4)
    outcome = drive(planning(plan="m", models={"m": model})).start(ask())
    assert statuses(teams.plan_of(outcome.values, NAME).steps) == ["Do it. done"]


def test_a_verdict_that_cannot_be_read_is_made_by_rules(drive: Drive) -> None:
    """The work goes on, and the reason says that nobody judged."""
    model = ScriptedModel.of(*["Hm."] * 8)
    outcome = drive(planning(reflect="m", models={"m": model})).start(ask())
    plan = teams.plan_of(outcome.values, NAME)
    assert plan.verdict is not None
    assert (outcome.values["log"], plan.verdict.verdict) == (["a", "b"], "finish")
    assert "no answer that could be read" in plan.verdict.reason


def test_silence_in_the_end_is_what_the_steps_came_to(drive: Drive) -> None:
    """There is always an answer when something was done."""
    outcome = drive(planning(finish="m", models={"m": ScriptedModel.of(" ")})).start(ask())
    assert outcome.values["team"][NAME]["answer"] == "did a\n\ndid b"


def test_the_author_says_what_a_model_is_told_of_its_job(drive: Drive) -> None:
    """In the place of the block's own words."""
    model = ScriptedModel.of(steps("a"))
    drive(planning(plan=teams.Worker(model="m", prompt="Plan like a cook."), models={"m": model})).start(ask())
    assert model.calls[0][0].text == "Plan like a cook."


RUBBISH = (
    "",
    "no idea",
    "{",
    "[]",
    "null",
    '{"steps": []}',
    '{"steps": "a"}',
    '{"steps": [{"text": 1}]}',
    '{"verdict": "maybe", "reason": ""}',
    '{"verdict": "replan"}',
    steps(*"abcdefgh"),
    verdict("continue"),
    verdict("replan"),
    calls(("look_up", {})),
    calls(("look_up", {"topic": "x"}), ("wipe_disk", {"all": True})),
    AIMessage("", invalid_tool_calls=[{"name": "look_up", "args": "{", "id": "1", "error": "cut off"}]),
    AIMessage("x" * 5_000),
)


def script(seed: int) -> Any:
    """A model that says anything, the same again for the same seed, as often as it is asked."""
    chance = random.Random(seed)
    return ScriptedModel.of(*(chance.choice(RUBBISH) for _ in range(400)))


@pytest.mark.parametrize("seed", range(25))
def test_it_ends_whatever_models_say(seed: int, drive: Drive) -> None:
    """Within its limits, with a record that can be read, and by itself: no fuse has to end it."""
    acting = teams.Worker(model="m", tools=("look_up",))
    block = {"plan": "m", "act": acting, "reflect": "m", "finish": "m", "max_steps": 4, "max_replans": 2}
    outcome = drive(planning(models={"m": script(seed)}, tools=[look_up], **block)).start(ask())
    plan = teams.plan_of(outcome.values, NAME)
    assert (outcome.status, outcome.path) == ("completed", "DONE")
    assert (plan.acted <= 4, plan.replans <= 2, plan.ended is not None, plan.place) == (True, True, True, None)


def test_a_turn_fuse_ends_it_in_the_middle(drive: Drive) -> None:
    """What the chart around allows goes before the block's own limits."""
    bound = Policy(name="two", fuses=Fuses(turns=2))
    model = ScriptedModel.of(steps("a", "b", "c"), "one", "two")
    outcome = drive(planning(plan="m", act="m", models={"m": model}, policy=bound)).start(ask())
    assert (outcome.path, len(model.calls)) == ("HELP", 2)


def test_an_actor_waits_for_approval_and_goes_on_with_its_step(drive: Drive) -> None:
    """The model is not asked again for what it said before the question."""
    asked = Policy(
        name="asked", tools=ToolPolicy(default="allowed", rules=(Rule(match="look_up", level="restricted"),))
    )
    model = ScriptedModel.of(calls(("look_up", {"topic": "x"})), "found it")
    acting = teams.Worker(model="m", tools=("look_up",))
    graph = planning(plan=planner(["a"]), act=acting, models={"m": model}, tools=[look_up], policy=asked)
    driven = drive(graph)
    (question,) = driven.start(ask()).asks
    outcome = driven.answer(question)
    assert (outcome.values["team"][NAME]["answer"], len(model.calls)) == ("found it", 2)
