"""Our side of `benchmarks.teams`: a swarm of two, a supervisor of one, and an agent with a tool."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

import stateward as sw
from benchmarks.team_model import QuickModel, always, first_calls, saying
from benchmarks.team_side import ABOUT, ANSWERS, COUNTED, PROMPT, TASK, Side, called_a_tool, handed_over
from stateward import teams


class Team(teams.TeamState, total=False):
    """The state: the conversation with the user, and the worker's own."""

    work: sw.Messages


@sw.tool(effect="pure")
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def handoff(**where: Any) -> Any:
    """Return a swarm whose active member hands every question over to the other one.

    Args:
        where: The saver or the database, as `Chart.compile` takes it.
    """
    peers = [teams.Peer(name, name, prompt=PROMPT, about=f"Is {name}.") for name in "AB"]
    ways = {"A": "transfer_to_B", "B": "transfer_to_A"}
    models = {name: QuickModel(rule=first_calls(way, says=ANSWERS["handoff"])) for name, way in ways.items()}
    return _alone(teams.swarm("SWARM", peers), models, state=teams.TeamState, **where)


def delegation(**where: Any) -> Any:
    """Return a supervisor that has one worker count, and tells the user what came of it.

    Args:
        where: As for `handoff`.
    """
    worker = teams.agent("WORKER", model="worker", prompt=PROMPT, conversation="work", memory="invocation")
    team = [teams.Member(worker, about=ABOUT)]
    block = teams.supervisor("LEAD", team, model="lead", prompt=PROMPT, output=_told_the_user)
    models = {"lead": QuickModel(rule=_lead), "worker": QuickModel(rule=always(COUNTED))}
    return _alone(block, models, state=Team, **where)


def react(**where: Any) -> Any:
    """Return a detached agent that adds once, and then answers: one checkpoint, and the journal.

    Args:
        where: As for `handoff`.
    """
    return _reacting(detached=True, **where)


def react_in_states(**where: Any) -> Any:
    """Return the same agent, each of whose steps is a state and a checkpoint.

    Args:
        where: As for `handoff`.
    """
    return _reacting(detached=False, **where)


def _reacting(*, detached: bool, **where: Any) -> Any:
    block = teams.react("AGENT", model="m", tools=[add], prompt=PROMPT, detached=detached)
    models = {"m": QuickModel(rule=first_calls("add", says=ANSWERS["react"], a=1, b=2))}
    return _alone(block, models, state=teams.TeamState, **where)


def delegated(values: Mapping[str, Any]) -> bool:
    """Tell whether the worker was asked once, and answered.

    Args:
        values: At the end of the turn.
    """
    came = values["team"]["LEAD"]["results"]
    return came == [{"member": "WORKER", "task": TASK, "ok": True, "value": COUNTED}]


OURS = (
    Side(name="states", turn="handoff", make=handoff, happened=handed_over),
    Side(name="states", turn="delegation", make=delegation, happened=delegated),
    Side(name="detached", turn="react", make=react, happened=called_a_tool),
    Side(name="states", turn="react", make=react_in_states, happened=called_a_tool),
)


def _alone(block: Any, models: dict[str, Any], *, state: type[Any], **where: Any) -> Any:
    chart = sw.Chart("team", state, teams.placed(block, to="DONE"), sw.Final("DONE"))
    return chart.compile(models=models, **where)


def _told_the_user(answer: Any) -> dict[str, Any]:
    return {"messages": [AIMessage(content=answer)]}


def _lead(messages: Sequence[BaseMessage]) -> AIMessage:
    """Choose as our supervisors are asked to: in JSON."""
    if "answered:" in messages[-1].text:
        return saying(json.dumps({"next": "FINISH", "answer": COUNTED}))
    return saying(json.dumps({"next": "WORKER", "task": TASK}))
