"""Swarms of two and three, in the smallest chart."""

from __future__ import annotations

from typing import Any

import stateward as sw
from stateward import teams
from stateward.run.graph import ChartGraph
from stateward.testing import ScriptedModel, calls
from tests.teams.agents import Work


@sw.tool(effect="pure")
def look(what: str) -> str:
    """Look something up."""
    return f"saw {what}"


def to(name: str, note: str = "") -> tuple[str, dict[str, Any]]:
    """The call that hands over."""
    return (f"transfer_to_{name}", {"note": note} if note else {})


def see(what: str) -> tuple[str, dict[str, Any]]:
    """The call that looks something up."""
    return ("look", {"what": what})


def handing(*requests: tuple[str, dict[str, Any]], text: str = "") -> Any:
    """A reply that calls tools and hands over."""
    return calls(*requests, text=text)


def swarm_of(models: dict[str, ScriptedModel], *, handles: tuple[str, ...] = (), **rest: Any) -> ChartGraph:
    """Compile a swarm `SWARM` of members that are called like their models, all of whom may look."""
    tools = rest.pop("tools", [look])
    members = [teams.Peer(name, name, tools=tools, about=f"Is {name}.", **rest.pop(name, {})) for name in models]
    chart = sw.Chart(
        "swarm",
        Work,
        teams.placed(teams.swarm("SWARM", members, **rest), to="DONE", on=[sw.on(event, "HELP") for event in handles]),
        sw.State("HELP", on=[sw.on("again", "SWARM")]),
        sw.Final("DONE"),
    )
    return chart.compile(models=models)
