"""The turns of `benchmarks.teams` by the libraries for teams of agents that build on LangGraph.

Each is used as its documentation shows, with agents of LangChain's `create_agent`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from deepagents import create_deep_agent
from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]  # a saver of anything
from langgraph_supervisor import create_supervisor
from langgraph_swarm import create_handoff_tool, create_swarm

from benchmarks.team_agents import add, worker_was_a_tool
from benchmarks.team_model import QuickModel, always, first_calls
from benchmarks.team_side import ABOUT, ANSWERS, COUNTED, PROMPT, TASK, Side, called_a_tool, handed_over


def swarm(saver: Any) -> Any:
    """Return a swarm whose active agent hands every question over to the other one.

    Args:
        saver: LangGraph's.
    """
    agents: list[Any] = [_member(name, other) for name, other in ("AB", "BA")]
    return create_swarm(agents, default_active_agent="A").compile(checkpointer=saver)


def _member(name: str, other: str) -> Any:
    model = QuickModel(rule=first_calls(f"transfer_to_{other.lower()}", says=ANSWERS["handoff"]))
    return cast(Any, create_agent(model, [create_handoff_tool(agent_name=other)], system_prompt=PROMPT, name=name))


def supervisor(saver: Any) -> Any:
    """Return a supervisor that has one worker count, and tells the user what came of it.

    Args:
        saver: LangGraph's.
    """
    worker = cast(Any, create_agent(QuickModel(rule=always(COUNTED)), [], system_prompt=PROMPT, name="worker"))
    lead = QuickModel(rule=first_calls("transfer_to_worker", says=ANSWERS["delegation"]))
    return create_supervisor([worker], model=lead, prompt=PROMPT).compile(checkpointer=saver)


def worker_took_over(values: Mapping[str, Any]) -> bool:
    """Tell whether the worker was handed the conversation once, and gave it back.

    Args:
        values: At the end of the turn.
    """
    person, asked, handed, worked, back, returned, _ = values["messages"][-7:]
    kinds = [message.type for message in (person, asked, handed, back, returned)]
    return kinds == ["human", "ai", "tool", "ai", "tool"] and (worked.name, worked.text) == ("worker", COUNTED)


def deep_react(saver: Any) -> Any:
    """Return a deep agent that adds once, and then answers.

    Args:
        saver: LangGraph's.
    """
    model = QuickModel(rule=first_calls("add", says=ANSWERS["react"], a=1, b=2))
    return create_deep_agent(model, [add], system_prompt=PROMPT, checkpointer=saver)


def deep_delegation(saver: Any) -> Any:
    """Return a deep agent that has a worker.

    Args:
        saver: LangGraph's.
    """
    lead = QuickModel(rule=first_calls("task", says=ANSWERS["delegation"], description=TASK, subagent_type="worker"))
    counts = QuickModel(rule=always(COUNTED))
    worker: Any = {"name": "worker", "description": ABOUT, "system_prompt": PROMPT, "model": counts}
    return create_deep_agent(lead, system_prompt=PROMPT, subagents=[worker], checkpointer=saver)


PEERS = (
    Side(name="langgraph-swarm", turn="handoff", make=swarm, happened=handed_over),
    Side(name="langgraph-supervisor", turn="delegation", make=supervisor, happened=worker_took_over),
    Side(name="deepagents", turn="delegation", make=deep_delegation, happened=worker_was_a_tool),
    Side(name="deepagents", turn="react", make=deep_react, happened=called_a_tool),
)
