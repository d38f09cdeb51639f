"""Message channels: LangGraph's semantics, linear on disk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.channels.binop import BinaryOperatorAggregate
from langgraph.channels.delta import DeltaChannel
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages

import stateward as sw
from stateward.run.messages import is_message_channel, linear, messages_reducer
from tests.charts.drive import Driven
from tests.charts.one import compiled

Drive = Callable[..., Driven]


def test_both_forms_of_the_message_channel_are_known() -> None:
    """The delta channel and LangGraph's aggregate; another reducer is none."""
    assert is_message_channel(DeltaChannel(messages_reducer))
    assert is_message_channel(BinaryOperatorAggregate(list, add_messages))
    assert not is_message_channel(BinaryOperatorAggregate(list, lambda a, b: a + b))


def test_linear_leaves_other_annotations_alone() -> None:
    """Only `add_messages` is swapped."""
    assert linear(int) is int
    assert linear(Annotated[list[Any], add_messages]) != Annotated[list[Any], add_messages]


def test_message_of_the_same_id_is_replaced(drive: Drive) -> None:
    """An update with a known id takes the old one's place."""
    driven = drive(compiled(lambda s: {"messages": [AIMessage("new", id="m")]}))
    values = driven.start({"messages": [HumanMessage("a", id="a"), AIMessage("old", id="m")]}).values
    assert [m.text for m in values["messages"]] == ["a", "new"]


def test_messages_can_be_removed(drive: Drive) -> None:
    """`RemoveMessage` works as in LangGraph, for one and for all."""
    one = drive(compiled(lambda s: {"messages": [RemoveMessage(id="a")]}))
    given = {"messages": [HumanMessage("a", id="a"), HumanMessage("b", id="b")]}
    assert [m.text for m in one.start(given).values["messages"]] == ["b"]
    both = drive(compiled(lambda s: {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES)]}), session="s2")
    assert both.start(given).values["messages"] == []


def test_history_is_whole_after_many_updates(drive: Drive) -> None:
    """Over a snapshot of the delta channel nothing is lost and nothing doubled."""
    driven = drive(compiled(lambda s: {"messages": [("ai", str(len(s["messages"])))]}))
    for turn in range(60):
        driven.start({"messages": [("user", f"u{turn}")]})
    texts = [m.text for m in driven.session.outcome().values["messages"]]
    assert (len(texts), texts[:2], texts[-1]) == (120, ["u0", "1"], "119")
    assert sw.Messages is not None
