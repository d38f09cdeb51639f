"""A chat model that says what it is told."""

from __future__ import annotations

import asyncio

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from stateward.errors import RunError
from stateward.testing import ScriptedModel, calls


def test_scripted_model_gives_its_replies_in_order() -> None:
    """Texts, messages and functions of what was sent."""
    model = ScriptedModel.of("a", AIMessage("b"), lambda sent: sent[-1].text * 2)
    assert [model.invoke("x").text for _ in range(3)] == ["a", "b", "xx"]
    assert [call[-1].text for call in model.calls] == ["x", "x", "x"]


def test_scripted_model_raises_what_it_is_told() -> None:
    """An exception is a reply."""
    with pytest.raises(ConnectionError):
        ScriptedModel.of(ConnectionError("down")).invoke("x")


def test_script_that_has_ended_is_an_error() -> None:
    """A call too many is told with the number of replies."""
    model = ScriptedModel.of("a")
    model.invoke("x")
    with pytest.raises(RunError, match="1 replies"):
        model.invoke("x")


def test_scripted_model_reports_its_tokens() -> None:
    """What the ledger counts."""
    usage = ScriptedModel.of("a", tokens_in=3, tokens_out=4).invoke("x").usage_metadata
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (3, 4, 7)


def test_scripted_model_is_async_too() -> None:
    """Through `ainvoke`."""
    assert asyncio.run(ScriptedModel.of("a").ainvoke([HumanMessage("x")])).text == "a"


def test_scripted_model_binds_tools() -> None:
    """The script does not look at them."""
    model = ScriptedModel.of(calls(("lookup", {"order": "A"})))
    reply = model.bind_tools([{"name": "lookup", "description": "x", "parameters": {}}]).invoke("x")
    assert reply.tool_calls == [{"name": "lookup", "args": {"order": "A"}, "id": "call_1", "type": "tool_call"}]
