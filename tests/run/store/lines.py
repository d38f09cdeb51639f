"""A graph whose sessions branch, with messages and two more delta channels: one is seldom written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage, RemoveMessage
from langchain_core.runnables import RunnableConfig
from langgraph.channels import DeltaChannel
from langgraph.graph import END, START, StateGraph
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from stateward.run.growing import GrowingDelta
from stateward.run.messages import messages_reducer
from stateward.run.store.database import Database

SESSION = "s"
CONFIG: RunnableConfig = {"configurable": {"thread_id": SESSION}}


def _append(values: list[Any], more: Sequence[list[Any]]) -> list[Any]:
    return [*values, *(one for batch in more for one in batch)]


_reduce: Any = messages_reducer  # it takes lists, and is given lists


class Lines(TypedDict, total=False):
    """What is said, what is noted, and what is seldom noted."""

    messages: Annotated[list[AnyMessage], GrowingDelta(_reduce)]
    notes: Annotated[list[Any], DeltaChannel(_append, snapshot_frequency=5)]
    seldom: Annotated[list[Any], DeltaChannel(_append)]
    do: str
    stateward: dict[str, Any]


def _say(state: Lines) -> dict[str, Any]:
    said = state.get("messages", [])
    match state.get("do"):
        case "forget" if len(said) > 1:
            return {"messages": [RemoveMessage(id=said[0].id or "")]}
        case "reset":
            return {"notes": Overwrite(["reset"]), "messages": [AIMessage("reset")]}
        case _:
            return {"messages": [AIMessage(f"answer {len(said)}")]}


def _note(state: Lines) -> dict[str, Any]:
    do = state.get("do")
    return {"seldom": [do]} if do == "seldom" else {"notes": [f"{do} {len(state.get('messages', []))}"]}


def lines(database: Database) -> Any:  # CompiledStateGraph has four type parameters
    """Compile the graph over a database, with a row for its session."""
    builder: Any = StateGraph(Lines)  # the signatures of LangGraph are partly unknown
    builder.add_sequence([("say", _say), ("note", _note)])
    builder.add_edge(START, "say")
    builder.add_edge("note", END)
    database.leases.release(database.leases.acquire(SESSION))
    return builder.compile(checkpointer=database.saver)


def act(graph: Any, do: str, *, back: int = 0, **given: Any) -> None:
    """Do one thing, on the latest checkpoint or on one so many before it: a word, `go on`, or `edit`."""
    found = list(graph.get_state_history(CONFIG))
    config = found[back % len(found)].config if found and back else CONFIG
    if do == "edit":
        graph.update_state(config, {"notes": ["edited"]}, as_node="note")
    elif do == "go on" and found and found[back % len(found)].next not in ((), ("__start__",)):
        graph.invoke(None, config)
    else:
        graph.invoke({"messages": [("user", do)], "do": do, **given}, config)


def history(graph: Any) -> dict[str, Any]:
    """Read each checkpoint: its values, and what would run next."""
    return {
        found.config["configurable"]["checkpoint_id"]: (found.values, found.next, [task.id for task in found.tasks])
        for found in graph.get_state_history(CONFIG)
    }
