"""A chart without a job: it waits for an event, and calls a scripted model under a fuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypedDict

import stateward as sw
from stateward.properties import always_before
from stateward.testing import ScriptedModel

HERE = Path(__file__).parent


class Talk(TypedDict):
    """The state."""

    question: str
    said: list[str]


class Ask(sw.Event):
    """Somebody wants to hear more."""

    times: int = 1


def is_polite(state: Talk) -> bool:
    """Whether the question says please."""
    return "please" in state["question"]


async def talk(state: Talk, event: Ask | None, run: sw.Run[Any]) -> dict[str, Any]:
    """Ask the model once, or as often as told."""
    times = event.times if event is not None else 1
    for _ in range(times):
        await run.model().ainvoke([("user", state["question"])])
    return {"said": ["hi"] * times}


chart = sw.Chart(
    "toy_wait",
    Talk,
    sw.Superstate(
        "TALKING",
        sw.State("TALK", do=talk, model="talker", to=[sw.when(is_polite, "DONE"), "REST"]),
        sw.State("REST", on=[sw.on(Ask, "TALK"), sw.on("stop", "DONE")]),
        on=[sw.on("fuse", "TIRED")],
        policy=sw.load_policy("toy_wait", folder=HERE / "policies"),
    ),
    sw.State("TIRED", on=[sw.on(Ask, "TALKING.TALK")]),
    sw.State("LOST", to="DONE"),
    sw.Final("DONE"),
    properties=[always_before("TALK", "REST")],
)
model = ScriptedModel.of(*["hi"] * 1000)  # for all tests of this process
graph = chart.compile(models={"talker": sw.ModelRole(name="talker", model=model)})
