"""Who works in a state of a block: functions of all kinds, and what they may say besides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward import teams
from stateward.contracts import gated
from stateward.errors import DefinitionError
from stateward.run.prompt import Prompts
from stateward.teams.worker import job_text, worker_of
from stateward.testing import ScriptedModel
from tests.charts.drive import Driven
from tests.teams.plans import NAME, Desk, ask, planning, says

Drive = Callable[..., Driven]


async def waits(state: Desk) -> list[str]:
    return ["waited"]


async def waits_with_run(state: Desk, run: sw.Run) -> list[str]:
    return [run.path]


def asks_for_run(run: sw.SyncRun) -> list[str]:
    return [run.path]


class Planner:
    """An object that can be called, as an encoder's would be."""

    def __call__(self, state: Desk) -> list[str]:
        return ["called"]


@pytest.mark.parametrize(
    ("do", "step"),
    [
        (waits, "waited"),
        (waits_with_run, "WORK.PLAN"),
        (asks_for_run, "WORK.PLAN"),
        (Planner(), "called"),
        (lambda: ("nothing named",), "nothing named"),
    ],
)
def test_functions_take_what_they_name(drive: Drive, do: Any, step: str) -> None:
    """Sync or async, like any activity."""
    assert drive(planning(plan=do)).start(ask()).values["log"] == [step]


async def asks_the_model(state: Desk, run: sw.Run) -> Any:
    return [(await run.model().ainvoke("what?")).text]


def test_a_function_may_have_a_model(drive: Drive) -> None:
    """Its role is declared beside it."""
    worker = teams.Worker(asks_the_model, model="m")
    outcome = drive(planning(plan=worker, models={"m": ScriptedModel.of("this")})).start(ask())
    assert outcome.values["log"] == ["this"]


def test_what_is_written_besides_does_not_touch_the_blocks_record(drive: Drive) -> None:
    """Records of others are written, and the block's own by the block alone."""
    besides = {"team": {"OTHER": {"seen": True}, NAME: {"goal": "mine"}}, "log": ["planned"]}
    values = drive(planning(plan=says(teams.Worked(["a"], update=besides)))).start(ask()).values
    assert (values["team"]["OTHER"], values["team"][NAME]["goal"]) == ({"seen": True}, "Do it.")
    assert values["log"] == ["planned", "a"]


def test_a_chart_is_pinned_by_who_works() -> None:
    """Another function in the place of one is another chart."""
    hashes = {planning(plan=plan).machine.pins.chart for plan in (waits, waits_with_run, Planner())}
    assert len(hashes) == 3


def test_a_gate_of_the_functions_own_is_refused() -> None:
    """It would be dropped without a word."""
    with pytest.raises(DefinitionError, match="has a gate of its own"):
        planning(plan=gated(teams.Verdict)(says(["a"])))


@pytest.mark.parametrize("given", [None, "", 3, teams.Worker(prompt="alone")])
def test_nobody_is_no_worker(given: object) -> None:
    """The message says what to give."""
    with pytest.raises(DefinitionError, match="Give a function, the role of a model"):
        worker_of(given, where="WORK.PLAN")


def test_a_prompt_is_filled_with_what_the_block_knows_and_with_state_keys() -> None:
    """What the block knows goes first."""
    prompt = Prompts.of({"plan": "{{ goal }} for {{ customer }}"})["plan"]
    assert job_text(prompt, {"customer": "Ann", "goal": "no"}, instead="", goal="Plan", more=1) == "Plan for Ann"


def test_an_empty_wording_is_the_blocks_own() -> None:
    """What the author leaves out the block says."""
    assert (job_text("", {}, instead="own"), job_text(says("mine"), {}, instead="own")) == ("own", "mine")


def test_tools_of_one_state_are_not_another_ones(drive: Drive) -> None:
    """Nothing is allowed by default."""

    async def act(state: Desk, run: sw.Run) -> Any:
        return await run.tool("look_up", topic="a")

    outcome = drive(planning(plan=says(["a"]), act=act, max_replans=0)).start(ask())
    step = teams.plan_of(outcome.values, NAME).steps[0]
    assert (step.status, "denied" in step.result) == ("failed", True)
