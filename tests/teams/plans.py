"""Charts around a block that plans, acts and reflects, with workers that do as they are told."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Annotated, Any

import stateward as sw
from stateward import teams

NAME = "WORK"


class Desk(teams.TeamState, total=False):
    """What the block needs, and a log of what was done."""

    log: Annotated[list[str], operator.add]
    notes: sw.Messages


@sw.tool(effect="pure")
def look_up(topic: str) -> str:
    """Look a topic up."""
    return f"all about {topic}"


def says(value: Any) -> Any:
    """Return a function of the state that always says the same."""

    def said(state: Any) -> Any:
        return value

    return said


def planner(*plans: Any) -> Any:
    """Return these plans, one after the other; the last one again and again."""

    def plan(state: Desk) -> Any:
        made = len(teams.plan_of(state, NAME).earlier) + bool(teams.plan_of(state, NAME).steps)
        return plans[min(made, len(plans) - 1)]

    return plan


def actor(*failing: str) -> Any:
    """Do each step; those that are named do not work."""

    def act(state: Desk) -> teams.Worked:
        step = teams.plan_of(state, NAME).current
        assert step is not None
        return teams.Worked(f"did {step.text}", ok=step.text not in failing, update={"log": [step.text]})

    return act


def said_stop(state: Desk) -> bool:
    """Whether somebody said stop."""
    return any("stop" in message.text for message in state.get("messages", []))


def planning(*, tools: Sequence[Any] = (), models: Any = None, **block: Any) -> sw.ChartGraph:
    """Compile a chart of the block alone, which the word stop leaves and `resume` returns to."""
    given: dict[str, Any] = {"plan": planner(["a", "b"]), "act": actor(), **block}
    work = teams.plan_act_reflect(NAME, always=[sw.when(said_stop, "PAUSED")], **given)
    chart = sw.Chart(
        "planning",
        Desk,
        teams.placed(work, to="DONE", on=[sw.on("fuse", "HELP")]),
        sw.State("PAUSED", on=[sw.on("resume", sw.History(NAME))]),
        sw.State("HELP", on=[sw.on("close", "DONE")]),
        sw.Final("DONE"),
    )
    return chart.compile(tools=tools, models=models or {})


def ask(text: str = "Do it.") -> dict[str, Any]:
    """The input that sets the goal."""
    return {"messages": [("user", text)]}


def statuses(steps: Sequence[teams.PlanStep]) -> list[str]:
    """The steps of a plan in short: `a done`."""
    return [f"{step.text} {step.status}" for step in steps]
