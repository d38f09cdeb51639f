"""The loop of an agent: an answer always comes of it, and its history is whole, whatever the model says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, InvalidToolCall, ToolCall
from pydantic import BaseModel

import stateward as sw
from stateward import teams
from stateward.govern.policy import Fuses, Policy, Rule, ToolPolicy
from stateward.teams.loop import MOST_CALLS, NOTHING
from stateward.teams.mind import WRAP_UP
from stateward.testing import ScriptedModel, calls
from tests.charts.drive import Driven
from tests.teams.agents import REPLIES, TOOLS, Work, alone, ask, calculator, is_whole, said

Drive = Callable[..., Driven]
ADD = calls(("add", {"a": 1, "b": 2}))


def is_three(state: Work) -> bool:
    """Whether the last message says 3."""
    return state.get("messages", [])[-1].text == "3"


class Sum(BaseModel):
    """An answer in a format."""

    total: int


def test_an_answer_is_forced_when_the_last_step_was_an_observation(drive: Drive) -> None:
    """The last call offers no tools and asks for the answer."""
    model = ScriptedModel.of(ADD, ADD, "It is 3.")
    outcome = drive(alone(teams.agent("CALC", model="m", tools=TOOLS, max_steps=2), model)).start(ask())
    assert (model.calls[-1][-1].text, outcome.values["team"]["CALC"]["answer"]) == (WRAP_UP, "It is 3.")
    assert [message.type for message in model.calls[-1]] == ["human", "ai", "human", "ai", "human", "human"]


def test_calls_of_a_wrap_up_are_not_made(drive: Drive) -> None:
    """Only its words count, and the history stays whole."""
    outcome = drive(calculator(ADD, calls(("add", {"a": 9, "b": 9}), text="3"), max_steps=1)).start(ask())
    assert outcome.values["team"]["CALC"]["answer"] == "3"
    assert is_whole(outcome.values["messages"])


def test_replies_of_one_id_do_not_take_each_others_places(drive: Drive) -> None:
    """A server, or a cache in front of it, may give every reply the same one."""
    replies = [reply.model_copy(update={"id": "x"}) for reply in (ADD, AIMessage("3"), ADD, AIMessage("It is 3."))]
    driven = drive(calculator(*replies))
    driven.start(ask())
    values = driven.start(ask()).values
    assert ([text for _, text in said(values)][3:], is_whole(values["messages"])) == (
        ["3", "1 + 2?", "", "3", "It is 3."],
        True,
    )


def test_a_model_that_says_nothing_is_asked_once_more(drive: Drive) -> None:
    """An empty reply is no answer, and not kept; when the second is empty too, the answer says so."""
    values = drive(calculator("", "  ")).start(ask()).values
    assert said(values) == [("human", "1 + 2?"), ("ai", NOTHING)]


def test_an_answer_in_the_format_needs_no_more_calls(drive: Drive) -> None:
    """JSON with words around it is read."""
    outcome = drive(calculator('Here: {"total": 3}', answer=Sum)).start(ask())
    assert outcome.values["team"]["CALC"] == {"steps": 1, "answer": {"total": 3}}


def test_an_answer_in_another_format_is_asked_for_again(drive: Drive) -> None:
    """Words where a contract is wanted lead to a wrap-up, whose answer also goes into the key of the gate."""
    outcome = drive(calculator("It is 3.", '{"total": 3}', answer=sw.Gate(Sum, key="found"))).start(ask())
    assert (outcome.values["found"], outcome.values["team"]["CALC"]["answer"]) == ({"total": 3}, {"total": 3})


def test_the_format_is_kept_behind_a_last_observation(drive: Drive) -> None:
    """A forced answer has the asked format, too."""
    outcome = drive(calculator(ADD, '{"total": 3}', answer=Sum, max_steps=1)).start(ask())
    assert outcome.values["team"]["CALC"]["answer"] == {"total": 3}


def test_an_answer_that_never_fits_is_an_event(drive: Drive) -> None:
    """The retries are bounded, and the chart says what happens then."""
    outcome = drive(calculator(*["rubbish"] * 12, answer=Sum, handles=["error.contract"])).start(ask())
    assert outcome.path == "HELP"


def test_an_agent_that_is_stopped_answers_with_its_last_observation(drive: Drive) -> None:
    """The guard is tested behind the observations."""
    outcome = drive(calculator(ADD, stop=is_three)).start(ask())
    assert outcome.values["team"]["CALC"] == {"steps": 1, "answer": "3"}


def test_an_agent_that_is_stopped_keeps_to_its_format(drive: Drive) -> None:
    """With a contract the observation is no answer: the wrap-up asks for one."""
    outcome = drive(calculator(ADD, '{"total": 3}', stop=is_three, answer=Sum)).start(ask())
    assert outcome.values["team"]["CALC"]["answer"] == {"total": 3}


def test_a_call_that_cannot_be_read_is_answered(drive: Drive) -> None:
    """The model is told to send it again, and the history is whole."""
    unreadable = InvalidToolCall(name="add", args="{1", id="x", error=None, type="invalid_tool_call")
    outcome = drive(calculator(AIMessage("", invalid_tool_calls=[unreadable]), "3")).start(ask())
    assert '"type": "invalid"' in outcome.values["messages"][2].text
    assert is_whole(outcome.values["messages"])


def test_calls_get_ids_of_their_own(drive: Drive) -> None:
    """Ids that are missing or the same do not mix results up."""
    same = [ToolCall(name="add", args={"a": n, "b": 0}, id=id) for n, id in enumerate(["x", "x", None, None])]
    outcome = drive(calculator(AIMessage("", tool_calls=same), "3")).start(ask())
    assert [message.text for message in outcome.values["messages"][2:6]] == ["0", "1", "2", "3"]
    assert is_whole(outcome.values["messages"])


def test_a_flood_of_calls_is_cut(drive: Drive) -> None:
    """So many calls of one reply are made, and the others are told so."""
    flood = calls(*[("add", {"a": n, "b": 0}) for n in range(MOST_CALLS + 3)])
    messages = drive(calculator(flood, "3")).start(ask()).values["messages"]
    assert [message.status for message in messages if message.type == "tool"] == ["success"] * MOST_CALLS + [
        "error"
    ] * 3
    assert is_whole(messages)


def test_a_failing_call_does_not_lose_its_siblings(drive: Drive) -> None:
    """Each call has its own observation, in call order."""
    mixed = calls(("add", {"a": 1, "b": 2}), ("fail", {"why": "no"}), ("add", {"a": 3, "b": 4}))
    messages = drive(calculator(mixed, "3")).start(ask()).values["messages"]
    assert [(each.status, each.tool_call_id) for each in messages[2:5]] == [
        ("success", "call_1"),
        ("error", "call_2"),
        ("success", "call_3"),
    ]


def test_an_agent_without_tools_hears_of_the_calls_of_others_in_words(drive: Drive) -> None:
    """Some providers refuse calls in a history where no tools are offered."""
    model = ScriptedModel.of("Fine.")
    observation = {"role": "tool", "content": "3", "tool_call_id": "call_1", "name": "add"}
    turn = {"messages": [("user", "1 + 2?"), ADD, observation]}
    drive(alone(teams.agent("CALC", model="m"), model)).start(turn)
    assert [message.text for message in model.calls[0]][1:] == [
        "Calls `add` with {'a': 1, 'b': 2}",
        "Result of `add`: 3",
    ]


@pytest.mark.parametrize("rest", [{}, {"conversation": "own"}])
def test_an_end_in_the_middle_of_calls_is_mended_at_the_next_entry(drive: Drive, rest: dict[str, str]) -> None:
    """A fuse trips behind the first call; whoever enters the agent again finds a whole history."""
    two = calls(("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4}))
    driven = drive(calculator(two, "3", policy=Policy(name="p", fuses=Fuses(calls=1)), handles=["fuse"], **rest))
    key = rest.get("conversation", "messages")
    assert not is_whole(driven.start(ask()).values[key])
    assert is_whole(driven.resume("again").values[key])


@pytest.mark.parametrize("answer", [None, Sum])
@settings(max_examples=25, deadline=None)
@given(script=st.lists(REPLIES, max_size=4))
def test_whatever_a_model_says_the_run_ends_and_its_history_is_whole(answer: Any, script: list[AIMessage]) -> None:
    """Every run comes to an answer, or to the event of a contract that is not kept."""
    graph = calculator(*script, *["rubbish"] * 20, answer=answer, max_steps=3, handles=["error.contract"])
    values = graph.invoke(ask())
    assert is_whole(values["messages"])
    assert "answer" in values["team"]["CALC"] or answer is not None


def hurry(state: Work) -> dict[str, Any]:
    """Say something more, while the agent waits for a person."""
    return {"messages": [HumanMessage("And hurry.")]}


CAREFUL = Policy(name="careful", tools=ToolPolicy(default="allowed", rules=(Rule(match="add", level="restricted"),)))


def asking(*replies: Any, on: Any) -> tuple[Any, ScriptedModel]:
    """An agent whose calls of `add` need a person, in a superstate that takes an event."""
    model = ScriptedModel.of(*replies)
    work = sw.Superstate(
        "WORK",
        teams.placed(teams.agent("CALC", model="m", tools=TOOLS), to="END"),
        sw.Final("END"),
        on=on,
        to="DONE",
        history="deep",
    )
    paused = sw.State("PAUSED", on=[sw.on("go", sw.History("WORK"))])
    chart = sw.Chart("asking", Work, work, paused, sw.Final("DONE"), policy=CAREFUL)
    return chart.compile(models={"m": model}), model


def test_a_call_that_needs_a_person_is_made_when_it_is_approved(drive: Drive) -> None:
    """The agent waits in ACT, and goes on there."""
    graph, _ = asking(ADD, "3", on=())
    driven = drive(graph)
    waiting = driven.start(ask())
    outcome = driven.answer(waiting.asks[0])
    assert (outcome.status, outcome.values["team"]["CALC"]) == ("completed", {"steps": 2, "answer": "3"})


def test_words_between_a_reply_and_its_observations_do_no_harm(drive: Drive) -> None:
    """The calls are made all the same, and the model is shown a whole history."""
    graph, model = asking(ADD, "3", on=sw.on("hurry", do=hurry))
    driven = drive(graph)
    waiting = driven.start(ask())
    driven.resume("hurry")
    outcome = driven.answer(waiting.asks[0])
    assert outcome.values["team"]["CALC"]["answer"] == "3"
    assert [message.type for message in model.calls[1]] == ["human", "ai", "tool", "human"]


def test_an_agent_that_was_left_goes_on_where_it_was(drive: Drive) -> None:
    """History does not pass through BEGIN: the steps are counted on, and the call is asked about again."""
    graph, _ = asking(ADD, "3", on=sw.on("pause", "PAUSED"))
    driven = drive(graph)
    driven.start(ask())
    driven.resume("pause")
    back = driven.resume("go")
    outcome = driven.answer(back.asks[0])
    assert outcome.values["team"]["CALC"] == {"steps": 2, "answer": "3"}
