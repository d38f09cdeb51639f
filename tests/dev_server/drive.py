"""What drives a graph through the SDK: it answers what is asked, sends what is waited for, and says how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langgraph_sdk.client import SyncLangGraphClient
from langgraph_sdk.schema import Config

HOUR = 9
"""What is said where a question has neither options nor an answer of its own."""
ROUNDS = 12
"""How often a run may wait before it has ended."""
BY: Config = {"configurable": {"approver": "ann"}}
"""Who answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a run ended."""

    status: str
    steps: tuple[str, ...]
    """What was asked, by tool or kind of question, and which events were sent, in order."""
    values: Mapping[str, Any]


def asked(text: str, **more: Any) -> dict[str, Any]:
    """What a user says.

    Args:
        text: The message.
        more: Other fields of it.
    """
    return {"messages": [{"role": "user", "content": text, **more}]}


def control(client: SyncLangGraphClient, thread: str) -> dict[str, Any]:
    """The control channel: it is in the state, not in a run's output.

    Args:
        client: Of the server.
        thread: The thread.
    """
    values: Any = client.threads.get_state(thread)["values"]
    return values["stateward"]


def begun(client: SyncLangGraphClient, graph: str, given: Mapping[str, Any]) -> str:
    """Open a run on a thread of its own, and return the thread once it waits or has ended.

    Args:
        client: Of the server.
        graph: The graph.
        given: Its input.
    """
    thread = client.threads.create()["thread_id"]
    client.runs.wait(thread, graph, input=dict(given))
    return thread


def shown(client: SyncLangGraphClient, thread: str) -> Mapping[str, Any] | None:
    """Return what the interrupt of a thread shows; None when it waits for nothing.

    Args:
        client: Of the server.
        thread: The thread.
    """
    waits: Any = client.threads.get_state(thread)["interrupts"]
    return waits[0]["value"] if waits else None


def ended(client: SyncLangGraphClient, graph: str, given: Mapping[str, Any]) -> Ended:
    """Drive a graph on a thread of its own to its end.

    Args:
        client: Of the server.
        graph: The graph.
        given: Its input.
    """
    thread, steps = begun(client, graph, given), list[str]()
    while (waits := shown(client, thread)) is not None and len(steps) < ROUNDS:
        told, resume = reply(waits)
        steps += told
        client.runs.wait(thread, graph, command={"resume": resume}, config=BY)
    values: Any = client.threads.get_state(thread)["values"]
    return Ended(status=values["stateward"]["status"], steps=tuple(steps), values=values)


def reply(waits: Mapping[str, Any]) -> tuple[list[str], Any]:
    """Answer what is asked, in LangChain's form; otherwise send an event that is waited for.

    Args:
        waits: What the interrupt shows.

    Returns:
        What is answered or sent, and what the run is resumed with.
    """
    if waits.get("action_requests"):
        names = [action["name"] for action in waits["action_requests"]]
        return names, {"decisions": [decision(ask) for ask in waits["asks"]]}
    events = [event["name"] for event in waits["events"]]
    sent = "approve" if "approve" in events else events[0]
    return [sent], {"event": sent}


def decision(ask: Mapping[str, Any]) -> Any:
    """Approve, or say the first option.

    Args:
        ask: One of those shown.
    """
    if "approve" in ask["allowed"]:
        return {"type": "approve"}
    options = ask.get("options")
    return {"type": "respond", "message": options[0] if options else str(HOUR)}
