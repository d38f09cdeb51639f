"""A detached agent: the same loop as one activity, which leaves one checkpoint and does nothing twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage
from pydantic import BaseModel, Field

import stateward as sw
from stateward import teams
from stateward.errors import DefinitionError
from stateward.govern.policy import Fuses, Policy, Rule, ToolPolicy
from stateward.teams.state import by_name
from stateward.testing import ScriptedModel, calls
from tests.charts.drive import Driven
from tests.charts.replayed import same
from tests.teams.agents import REPLIES, TOOLS, Work, alone, ask, calculator, is_whole, said

Drive = Callable[..., Driven]
ADD = calls(("add", {"a": 1, "b": 2}))
CAREFUL = Policy(name="careful", tools=ToolPolicy(default="allowed", rules=(Rule(match="add", level="restricted"),)))


class Sum(BaseModel):
    """An answer in a format."""

    total: int


class Killed(BaseException):
    """As if the process had ended."""


def detached(*replies: Any, **rest: Any) -> Any:
    """An agent `CALC` that is one activity."""
    return calculator(*replies, detached=True, **rest)


def is_three(state: Work) -> bool:
    """Whether the last message says 3."""
    return state.get("messages", [])[-1].text == "3"


def told(values: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a run came to, without ids."""
    kept = [(each.type, each.text, getattr(each, "tool_calls", [])) for each in values["messages"]]
    return kept, values["team"], values.get("found")


def test_a_detached_agent_leaves_one_checkpoint(drive: Drive) -> None:
    """Beside that of the input, and what LangGraph writes before the first step."""
    driven = drive(detached(ADD, ADD, "It is 3."))
    outcome = driven.start(ask())
    assert [each[0] for each in said(outcome.values)] == ["human", "ai", "tool", "ai", "tool", "ai"]
    assert len(driven.checkpoints) == 3


@pytest.mark.parametrize("rest", [{}, {"answer": Sum}, {"stop": is_three}, {"stop": is_three, "answer": Sum}])
@settings(max_examples=25, deadline=None)
@given(script=st.lists(REPLIES, max_size=4))
def test_it_comes_to_what_the_agent_of_several_states_does(rest: dict[str, Any], script: list[AIMessage]) -> None:
    """Whatever the model says: the same conversation, the same record, and a whole history."""
    said_then = [*script, *["rubbish"] * 20]
    given_twice: dict[str, Any] = {"max_steps": 3, "handles": ["error.contract"], **rest}
    ended = [
        calculator(*said_then, detached=way, **given_twice).invoke({"messages": [("user", "1 + 2?")]})
        for way in (True, False)
    ]
    if "answer" in ended[1]["team"]["CALC"]:  # else a contract ended it, and nothing of it is committed
        assert told(ended[0]) == told(ended[1])
    assert is_whole(ended[0]["messages"])


def test_what_a_crash_cut_off_is_not_asked_or_done_again(drive: Drive) -> None:
    """It is entered again, and the journal answers for the model and for the calls that were made."""
    killed, done = [Killed()], list[int]()

    @sw.tool(effect="idempotent")
    def crash(a: int) -> int:
        """Crash once."""
        done.append(a)
        if a == 2 and killed:
            raise killed.pop()
        return a

    model = ScriptedModel.of(calls(("crash", {"a": 1})), calls(("crash", {"a": 2})), "3")
    driven = drive(alone(teams.agent("CALC", model="m", tools=[crash], detached=True), model))
    with pytest.raises(Killed):
        driven.start(ask())
    outcome = driven.resume()
    assert (outcome.values["team"]["CALC"]["answer"], done, len(model.calls)) == ("3", [1, 2, 2], 3)


def test_it_waits_for_a_person_and_goes_on_behind_the_call(drive: Drive) -> None:
    """The model is not asked again for what it said before, and other calls are not made again."""
    model = ScriptedModel.of(calls(("fail", {"why": "x"})), ADD, "3")
    driven = drive(alone(teams.agent("CALC", model="m", tools=TOOLS, detached=True), model, policy=CAREFUL))
    waiting = driven.start(ask())
    outcome = driven.answer(waiting.asks[0])
    assert (outcome.status, outcome.values["team"]["CALC"]) == ("completed", {"steps": 3, "answer": "3"})
    assert len(model.calls) == 3


def test_it_goes_on_in_another_process_when_a_person_has_answered(drive: Drive) -> None:
    """A graph made anew, with a model that has only the rest to say, finds the rest in the journal."""
    driven = drive(
        alone(teams.agent("CALC", model="m", tools=TOOLS, detached=True), ScriptedModel.of(ADD), policy=CAREFUL)
    )
    waiting = driven.start(ask())
    later = alone(teams.agent("CALC", model="m", tools=TOOLS, detached=True), ScriptedModel.of("3"), policy=CAREFUL)
    session = driven.session
    anew = Driven(sw.Session(session.id, later.attach(session.database), session.database), driven.how)
    assert anew.answer(waiting.asks[0]).values["team"]["CALC"]["answer"] == "3"


def hurry(state: Work) -> dict[str, Any]:
    """Say something more, while the agent waits for a person."""
    return {"messages": [HumanMessage("And hurry.")]}


def waiting(*replies: Any, on: Any) -> Any:
    """A detached agent whose calls of `add` need a person, in a superstate that takes an event."""
    block = teams.placed(teams.agent("CALC", model="m", tools=TOOLS, detached=True), to="END")
    work = sw.Superstate("WORK", block, sw.Final("END"), on=on, to="DONE", history="deep")
    paused = sw.State("PAUSED", on=[sw.on("go", sw.History("WORK"), do=hurry)])
    chart = sw.Chart("waiting", Work, work, paused, sw.Final("DONE"), policy=CAREFUL)
    return chart.compile(models={"m": ScriptedModel.of(*replies)})


def test_words_that_come_while_it_waits_do_no_harm(drive: Drive) -> None:
    """The model is not shown them, for it was not when it asked; they stand before what it says."""
    driven = drive(waiting(ADD, "3", on=sw.on("hurry", do=hurry)))
    asked = driven.start(ask()).asks[0]
    driven.resume("hurry")
    outcome = driven.answer(asked)
    assert [text for _, text in said(outcome.values)] == ["1 + 2?", "And hurry.", "", "3", "3"]
    assert is_whole(outcome.values["messages"])


def test_it_begins_anew_where_it_was_left(drive: Drive) -> None:
    """History leads back into it: that is another entry, which hears what was said since."""
    driven = drive(waiting(ADD, "I hurry.", on=sw.on("pause", "PAUSED")))
    driven.start(ask())
    driven.resume("pause")
    outcome = driven.resume("go")
    assert [text for _, text in said(outcome.values)] == ["1 + 2?", "And hurry.", "I hurry."]


def test_a_turn_fuse_stops_it_in_the_middle(drive: Drive) -> None:
    """Its turns are counted one by one, and what the chart says of the fuse happens."""
    outcome = drive(detached(*[ADD] * 8, policy=Policy(name="p", fuses=Fuses(turns=2)), handles=["fuse"])).start(ask())
    assert (outcome.path, outcome.session and said(outcome.values)) == ("HELP", [("human", "1 + 2?")])


def test_it_is_replayed(drive: Drive) -> None:
    """Its calls are answered from the record, and all comes to the same."""
    driven = drive(detached(calls(("add", {"a": 1, "b": 2}), ("nope", {})), "3", conversation="own"))
    driven.start(ask())
    assert same(driven)


def test_it_is_a_member_like_another(drive: Drive) -> None:
    """Members beside each other work each in one activity, and leave their answers."""
    members = [
        teams.Member(teams.agent(name, model="m", tools=TOOLS, conversation=key, memory="invocation", detached=True))
        for name, key in (("LEFT", "own"), ("RIGHT", "notes"))
    ]

    class Two(Work, total=False):
        notes: sw.Messages

    def both(standing: Any) -> Any:
        return teams.Finish() if standing.results else ["LEFT", "RIGHT"]

    block = teams.supervisor("BOSS", members, choose=both, parallel=True)
    chart = sw.Chart("pair", Two, teams.placed(block, to="DONE"), sw.Final("DONE"))
    outcome = drive(chart.compile(tools=TOOLS, models={"m": ScriptedModel.of("3", "3")})).start(ask())
    assert [each["value"] for each in outcome.values["team"]["BOSS"]["results"]] == ["3", "3"]


def test_without_memory_it_refuses_what_may_ask() -> None:
    """As the agent of several states does."""
    with pytest.raises(DefinitionError, match="`add` may need one"):
        detached(conversation="own", memory="none", policy=CAREFUL)


def test_its_stop_sees_the_state_alone() -> None:
    """Its steps are no steps of the chart: there is no event between them."""

    def stop(state: Work, event: Any) -> bool:
        return True

    with pytest.raises(DefinitionError, match="event"):
        detached(stop=stop)


@dataclass
class Plain:
    """A state as a dataclass."""

    messages: sw.Messages = field(default_factory=list[Any])
    team: Annotated[dict[str, Any], by_name] = field(default_factory=dict[str, Any])


class Checked(BaseModel):
    """A state as a Pydantic model."""

    messages: sw.Messages = Field(default_factory=list[Any])
    team: Annotated[dict[str, Any], by_name] = Field(default_factory=dict[str, Any])


@pytest.mark.parametrize("schema", [Plain, Checked])
def test_it_works_on_a_state_of_any_kind(drive: Drive, schema: type[Any]) -> None:
    """What one step said is what the next one sees."""
    block = teams.react("CALC", model="m", tools=TOOLS, detached=True)
    chart = sw.Chart("c", schema, teams.placed(block, to="DONE"), sw.Final("DONE"))
    outcome = drive(chart.compile(models={"m": ScriptedModel.of(ADD, "It is 3.")})).start(ask())
    assert [each[1] for each in said(outcome.values)] == ["1 + 2?", "", "3", "It is 3."]
