"""A state that talks to its model until the model says bye; a superstate holds the policy."""

from __future__ import annotations

import operator
from typing import Annotated, Any

from langchain_core.language_models import BaseChatModel
from typing_extensions import TypedDict

import stateward as sw
from stateward.govern.policy import Policy
from stateward.run.door.role import ModelRole
from stateward.run.graph import ChartGraph


class Talk(TypedDict, total=False):
    """What was said."""

    said: Annotated[list[str], operator.add]


async def say(state: Talk, run: sw.Run[Any]) -> dict[str, Any]:
    """Ask the model for one more sentence."""
    reply = await run.model().ainvoke([("user", f"sentence {len(state.get('said', []))}")])
    return {"said": [reply.text]}


def say_sync(state: Talk, run: sw.SyncRun[Any]) -> dict[str, Any]:
    """The same, from a sync activity."""
    reply = run.model().invoke([("user", f"sentence {len(state.get('said', []))}")])
    return {"said": [reply.text]}


def over(state: Talk) -> bool:
    """Whether the model said bye."""
    return state["said"][-1] == "bye"


def talk(
    model: BaseChatModel | ModelRole, *, do: Any = say, policy: Policy | None = None, handles: tuple[str, ...] = ()
) -> ChartGraph:
    """Compile the chart; an event of `handles` leads to HELP."""
    chart = sw.Chart(
        "talk",
        Talk,
        sw.Superstate(
            "TALK",
            sw.State("SAY", do=do, model="voice", to=[sw.when(over, "DONE"), "SAY"]),
            on=[sw.on(event, "HELP") for event in handles],
            policy=policy,
        ),
        sw.State("HELP", on=[sw.on("again", "TALK")]),
        sw.Final("DONE"),
    )
    return chart.compile(models={"voice": model})
