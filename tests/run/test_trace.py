"""Watching a run: trace lines of the stream, and the snapshot view (A3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Interrupt, interrupt
from typing_extensions import TypedDict

import stateward as sw
from stateward.govern.effective import Effective, effective
from stateward.govern.policy import Data, Policy, Redaction
from stateward.run.store.database import Database
from stateward.run.trace import MESSAGE_LENGTH, TraceLine, message_line, snapshot, trace_line
from stateward.testing import calls
from tests.charts.beside import compiled_beside, says
from tests.charts.drive import policy
from tests.charts.one import compiled
from tests.charts.tools import Shop


async def look_up(state: Any, run: sw.Run[Any]) -> Any:
    asked = calls(("lookup", {"order": "A1"}), ("lookup", {"order": "A2"}))
    found = await run.tools(asked.tool_calls)
    return {"messages": [asked, *(ToolMessage(one.text, tool_call_id=one.call_id) for one in found)], "number": 1}


async def refund(state: Any, run: sw.Run[Any]) -> Any:
    await run.tool("refund", order="A1", eur=3)


def streamed(graph: Any, given: Any, **how: Any) -> list[Any]:
    return list(graph.stream(given, {"configurable": {"thread_id": "s1"}}, **how))


def test_a_line_names_node_keys_message_and_tools(database: Database) -> None:
    """A step is told by its state, the keys it wrote, its last message and the tools of its tool calls."""
    graph = compiled(look_up, box=Shop().box).attach(database)
    (part,) = streamed(graph, {"text": "x"}, stream_mode="updates")
    line = trace_line(part)
    assert line is not None
    assert (line.node, line.keys, line.tools) == ("WORK.ACT", ("messages", "number"), ("lookup", "lookup"))
    assert line.message.startswith("tool: ")
    assert str(line).startswith("WORK.ACT  [messages, number]  tool: ")
    assert str(line).endswith("-> lookup, lookup")


@pytest.mark.parametrize(
    "how",
    [
        {"stream_mode": "updates"},
        {"stream_mode": ["updates"]},
        {"stream_mode": "updates", "subgraphs": True},
        {"stream_mode": ["updates"], "subgraphs": True},
        {"stream_mode": "updates", "version": "v2"},
    ],
)
def test_every_form_of_langgraphs_parts_gives_the_same_line(database: Database, how: dict[str, Any]) -> None:
    """Alone, with the mode, with a namespace, or as a version 2 part."""
    graph = compiled(look_up, box=Shop().box).attach(database)
    (part,) = streamed(graph, {"text": "x"}, **how)
    line = trace_line(part)
    assert line is not None
    assert line.node == "WORK.ACT"


def test_a_wait_for_a_person_is_a_line(database: Database) -> None:
    """An ask is told by the state's `ask`, its id and the tool it is about."""
    graph = compiled(refund, box=Shop().box, policy=policy("approve_refunds")).attach(database)
    line = trace_line(streamed(graph, {"text": "x"}, stream_mode="updates")[-1])
    assert line is not None
    assert (line.node, line.tools) == ("WORK.ACT.ask", ("refund",))
    assert line.message.startswith("waits for an answer to ask_")


def test_a_wait_that_refused_something_says_so_first() -> None:
    """Whoever watches a chart inside another graph sees why it still waits."""
    told = {"state": "A", "events": [{"name": "go"}], "refused": "No transition takes the event `x` now."}
    line = trace_line({"__interrupt__": (Interrupt(value=told),)})
    assert line is not None
    assert line.message == "refused: No transition takes the event `x` now. waits for go"


@pytest.mark.parametrize("part", [{}, None, ("custom", {"at": 1}), {"type": "values", "ns": (), "data": {"x": 1}}])
def test_other_parts_give_no_line(part: object) -> None:
    """What is neither an update nor an interrupt is not a step."""
    assert trace_line(part) is None


@pytest.mark.parametrize("update", [None, [{"a": 1}, {"a": 2, "b": 3}], {"stateward": {"status": "running"}}])
def test_an_update_may_be_empty_double_or_ours_alone(update: object) -> None:
    """A node that wrote nothing of the user's still ran."""
    line = trace_line({"N": update})
    assert line == TraceLine(node="N", keys=("a", "b") if isinstance(update, list) else ())


@given(st.text())
def test_a_message_is_one_short_line(text: str) -> None:
    """Whatever a message says, its line has no break and at most 140 characters."""
    line = message_line(HumanMessage(text))
    assert len(line) <= MESSAGE_LENGTH
    assert len(line.splitlines()) == 1
    assert line.startswith("human:")


def test_a_step_of_a_region_is_told_by_its_state(database: Database) -> None:
    """The hub's parts name the region whose step it was, the wait of several regions all that wait."""
    graph = compiled_beside([sw.State("S", do=says("a"), to="END")], [sw.State("W", on=sw.on("go", "END"))])
    lines = [trace_line(part) for part in streamed(graph.attach(database), {}, stream_mode="updates")]
    assert [line.node for line in lines if line] == ["__enter__", "P.A.S", "P.A.END, P.B.W"]
    assert str(lines[-1]) == "P.A.END, P.B.W  waits for go"


def test_a_snapshot_counts_messages_and_shows_the_last_five(database: Database) -> None:
    """It has the status word, the state, the messages, and what comes next."""
    graph = compiled(lambda state: {"messages": [AIMessage("fine")]}).attach(database)
    said = [HumanMessage(f"{number}") for number in range(6)]
    streamed(graph, {"messages": said})
    view = snapshot(graph.get_state({"configurable": {"thread_id": "s1"}}))
    assert (view.status, view.at, view.messages) == ("completed", ("DONE",), 7)
    assert view.last == ("human: 2", "human: 3", "human: 4", "human: 5", "ai: fine")
    assert (view.next, view.pending) == ((), ())


def test_a_snapshot_says_what_is_waited_for(database: Database) -> None:
    """A pending task is told with what it waits for."""
    graph = compiled(lambda state: 1 / 0, handles=["error"]).attach(database)
    streamed(graph, {"text": "x"})
    view = snapshot(graph.get_state({"configurable": {"thread_id": "s1"}}))
    assert (view.status, view.next, view.pending) == ("waiting", ("HELP",), ("HELP: waits for again, close",))
    assert "waiting at HELP; 0 messages" in str(view)


def test_a_session_that_never_ran_is_new(database: Database) -> None:
    """Nothing was stored, nothing is shown."""
    graph = compiled(lambda state: None).attach(database)
    view = snapshot(graph.get_state({"configurable": {"thread_id": "s1"}}))
    assert str(view).startswith("new at -; 0 messages")


class Plain(TypedDict):
    messages: Annotated[list[Any], add_messages]


def ask(state: Plain) -> dict[str, Any]:
    return {"messages": [AIMessage(str(interrupt("your name?")))]}


def plain(node: Callable[[Plain], Any]) -> Any:
    return StateGraph(Plain).add_node("N", node).set_entry_point("N").compile(checkpointer=InMemorySaver())


def test_a_graph_that_is_no_chart_can_be_watched() -> None:
    """A plain LangGraph graph gives lines and snapshots, too."""
    graph = plain(ask)
    line = trace_line(streamed(graph, {"messages": ["hi"]}, stream_mode="updates")[-1])
    assert line == TraceLine(node="__interrupt__", message="your name?")
    view = snapshot(graph.get_state({"configurable": {"thread_id": "s1"}}))
    assert (view.status, view.messages, view.pending) == ("", 1, ("N: your name?",))


def held(**parts: Any) -> Effective:
    return effective([("", Policy(name="held", **parts))], path="N")


def test_secrets_are_taken_out_of_a_line_before_it_is_cut() -> None:
    """Half a secret at the end of a line would not be found any more."""
    secret = "sk-" + "a1" * 30
    line = trace_line({"N": {"messages": [HumanMessage("x" * 110 + f" {secret}")]}})
    assert line is not None
    assert ("a1" in line.message, "[redacted api_key]" in line.message) == (False, True)


def test_line_keeps_from_the_log_what_the_policy_of_its_state_says() -> None:
    """Personal data are taken out where a policy says so for the log."""
    part = {"N": {"messages": [HumanMessage("to ann@example.org")]}}
    for one, shown in ((held(redact=Redaction(log=("personal",))), "[redacted email]"), (held(), "ann@example.org")):
        line = trace_line(part, policies=[one])
        assert line is not None
        assert line.message == f"human: to {shown}"


@pytest.mark.parametrize("sensitivity", ["personal", "secret"])
def test_classified_data_is_not_traced(sensitivity: Any) -> None:
    """A line names state, keys and tools; what was said is not shown."""
    asked = AIMessage("Ann has a cold", tool_calls=[{"name": "lookup", "args": {}, "id": "1"}])
    policies = [held(data=Data(sensitivity=sensitivity))]
    lines = [trace_line({"N": {"messages": [each]}}, policies=policies) for each in (HumanMessage("Ann"), asked)]
    assert [str(line) for line in lines] == [
        "N  [messages]  human: (classified)",
        "N  [messages]  ai: lookup  -> lookup",
    ]
    assert message_line(HumanMessage("Ann"), policies=[held(), *policies]) == "human: (classified)"
