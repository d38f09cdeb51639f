"""What an interrupt shows of its asks, for clients of LangChain's human-in-the-loop form, and what they send back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents.middleware.human_in_the_loop import HITLRequest
from langgraph.types import Command
from pydantic import TypeAdapter

from stateward import ask
from stateward.run.people.request import shown_asks
from stateward.run.store.ask import Ask
from stateward.run.store.entry import CallKey
from stateward.testing import How, run_graph
from tests.charts.around import around
from tests.charts.drive import Driven
from tests.charts.people import asking

SECOND = pytest.mark.parametrize(
    "said", [{"decisions": [{"type": "respond", "message": "b"}]}, {"type": "respond", "message": "b"}, {"value": "b"}]
)


def asked(tool: str, *, call: int = 0) -> Ask:
    key = CallKey(session="s", run="r", branch="main", path="P", activation=1, call=call)
    return Ask.new(key=key, kind="approve", tool=tool, arguments={"eur": call}, fingerprint=tool, reason="why")


def test_open_asks_are_a_request_of_langchain() -> None:
    """One action for each, in the order in which answers are taken."""
    shown = shown_asks([asked("pay"), asked("send", call=1)])
    request = TypeAdapter(HITLRequest).validate_python(shown)
    assert [(one["name"], one["args"]) for one in request["action_requests"]] == [
        ("pay", {"eur": 0}),
        ("send", {"eur": 1}),
    ]
    assert [one["action_name"] for one in request["review_configs"]] == ["pay", "send"]
    assert [one["id"] for one in shown["asks"]] == [asked("pay").id, asked("send", call=1).id]


def test_where_nothing_is_open_nothing_is_requested() -> None:
    """A client shows no card without a question."""
    assert shown_asks([]) == {"asks": []}


def test_a_client_that_shows_actions_shows_what_may_be_chosen(drive: Callable[..., Driven]) -> None:
    """It knows nothing of our options."""
    one = drive(asking(ask.choose("Way?", ["train", "car"], default="car")))
    one.start({})
    (interrupted,) = one.session.graph.get_state(one.session.config).interrupts
    (action,) = interrupted.value["action_requests"]
    assert action["args"] == {"options": ["train", "car"], "default": "car"}


@SECOND
def test_an_answer_that_names_no_ask_is_to_what_is_shown(drive: Callable[..., Driven], said: Any) -> None:
    """The other question of the activity was answered before, and no client is shown it any more."""
    one = drive(asking(ask.text("A?"), ask.text("B?"), at_once=True))
    first, _ = one.start({}).asks
    one.answer(first, "respond", note="a")
    (interrupted,) = one.session.graph.get_state(one.session.config).interrupts
    assert [shown["description"] for shown in interrupted.value["action_requests"]] == ["B?"]
    one.send(Command(resume={**said, "by": "ann"}))
    assert one.session.outcome().values["log"] == ["a", "b"]


@SECOND
def test_so_it_is_inside_another_graph(how: How, said: Any) -> None:
    """Where the wait itself reads what LangGraph hands it."""
    graph = around(asking(ask.text("A?"), ask.text("B?"), at_once=True))
    config: Any = {"configurable": {"thread_id": "t", "approver": "ann"}}

    def send(given: Any) -> Any:
        return run_graph(graph, given, how=how, config=config)

    (waits,) = send({"log": []})["__interrupt__"]
    send(Command(resume={"values": {waits.value["asks"][0]["id"]: "a"}}))
    assert send(Command(resume=said))["log"] == ["before", "a", "b", "after"]
