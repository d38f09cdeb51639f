"""Charts of other formats in use: the façade's methods, and a compiled graph."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

import pytest

import stateward as sw
from stateward.errors import DefinitionError
from stateward.exchange.registry import Registry
from tests.charts.drive import Driven
from tests.exchange.machines.charts import CHARTS, REGISTRY, Resume

MACHINES = Path(__file__).parent / "machines"


class Draft(TypedDict, total=False):
    """The state."""

    draft: str
    rings: int


async def write(state: Draft) -> dict[str, str]:
    """Write a draft."""
    return {"draft": "written"}


def ring(state: Draft) -> dict[str, int]:
    """Count how often the bell rang."""
    return {"rings": state.get("rings", 0) + 1}


XMLNS = "http://www.w3.org/2005/07/scxml"
INVOKE = '<invoke type="stateward" src="write" id="w"/>'
TRANSITION = (
    '<transition event="done.invoke.w" target="b"><sw:action xmlns:sw="urn:stateward:1" name="ring"/></transition>'
)
DOCUMENT = f'<scxml xmlns="{XMLNS}"><state id="a">{INVOKE}{TRANSITION}</state><final id="b"/></scxml>'
DONE = {"onDone": {"target": "b", "actions": "ring"}}
MACHINE = {"id": "m", "initial": "a", "states": {"a": {"invoke": {"src": "write", **DONE}}, "b": {"type": "final"}}}
KNOWN = Registry.of(activities=[write], actions=[ring])


@pytest.mark.parametrize(
    "chart",
    [
        sw.Chart.from_scxml(DOCUMENT, schema=Draft, registry=KNOWN),
        sw.Chart.from_xstate(MACHINE, schema=Draft, registry=KNOWN),
    ],
    ids=["scxml", "xstate"],
)
def test_a_chart_that_was_read_compiles_and_runs(chart: sw.Chart[Draft], drive: Callable[..., Driven]) -> None:
    """Its activity and its action are ours, by name."""
    outcome = drive(chart.compile()).start({"draft": ""})
    assert (outcome.status, outcome.values["draft"], outcome.values["rings"]) == ("completed", "written", 1)


@pytest.mark.parametrize("name", CHARTS)
def test_the_facade_writes_what_the_golden_files_have(name: str) -> None:
    """Both formats; and what was read from one is written to the other."""
    scxml, machine = (MACHINES / f"{name}.scxml").read_text(), json.loads((MACHINES / f"{name}.json").read_text())
    assert sw.Chart.from_xstate(machine, schema=Draft, registry=REGISTRY).to_scxml() == scxml
    assert sw.Chart.from_scxml(scxml, schema=Draft, registry=REGISTRY).to_xstate() == machine


def test_a_chart_that_was_read_steps_like_the_one_it_was_written_from() -> None:
    """Deep history brings the writer back."""
    text = (MACHINES / "editor.scxml").read_text()
    steps: list[Any] = ["planned", "pause", Resume()]
    simulation = sw.Chart.from_scxml(text, schema=Draft, registry=REGISTRY).simulate()
    assert [simulation.send(step) for step in steps] == [
        ("WORKING.WRITE.DRAFT",),
        ("PAUSED",),
        ("WORKING.WRITE.DRAFT",),
    ]
    assert simulation.complete() == ("WORKING.WRITE.REVIEW",)


def test_the_policy_of_a_whole_chart_is_not_lost_unsaid() -> None:
    """As little as that of a state."""
    folder = Path(__file__).parents[1] / "charts" / "policies"
    policy = sw.load_policy(next(folder.glob("*.yaml")).stem, folder=folder)
    chart = sw.Chart("c", Draft, sw.State("A", on=sw.on("go", "A")), policy=policy)
    for write_it in (chart.to_scxml, chart.to_xstate):
        with pytest.raises(DefinitionError, match=r"A policy cannot be written.*\(at c\)"):
            write_it()
        assert write_it(without_policies=True)
