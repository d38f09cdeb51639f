"""Swarms: who is active, how often they hand over, and what they see of each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, ToolCall

from stateward import teams
from stateward.errors import DefinitionError
from stateward.govern.policy import Fuses, Policy
from stateward.testing import ScriptedModel
from tests.charts.drive import Driven
from tests.charts.replayed import same
from tests.teams.agents import alone, ask, is_whole, said
from tests.teams.peers import handing, look, see, swarm_of, to

Drive = Callable[..., Driven]


def scripted(**replies: Any) -> dict[str, ScriptedModel]:
    """The models of the members, by name."""
    return {name: ScriptedModel.of(*given) for name, given in replies.items()}


def by_rules(messages: Sequence[BaseMessage]) -> AIMessage | str:
    """Hand over once, then answer."""
    return handing(to("B")) if messages[-1].type == "human" else "by rules"


def found(answer: object) -> dict[str, Any]:
    """Keep an answer under a key of the state."""
    return {"found": {"said": answer}}


def test_a_member_hands_over(drive: Drive) -> None:
    """The other one goes on with the conversation, and its answer is that of the swarm."""
    outcome = drive(swarm_of(scripted(A=[handing(to("B"))], B=["done"]))).start(ask("go"))
    assert said(outcome.values)[2:] == [("tool", "B goes on with the conversation."), ("ai", "done")]
    assert outcome.values["team"]["SWARM"] == {"active": "B", "handoffs": 1, "answer": "done"}


def test_the_active_member_is_remembered_over_turns(drive: Drive) -> None:
    """The next input continues with it."""
    driven = drive(swarm_of(scripted(A=[handing(to("B"))], B=["one", "two"])))
    driven.start(ask("go"))
    assert driven.start(ask("more")).values["team"]["SWARM"] == {"active": "B", "handoffs": 0, "answer": "two"}


def test_a_handoff_is_no_call_of_a_tool(drive: Drive) -> None:
    """Nothing goes through the door for it: the journal knows model calls only."""
    driven = drive(swarm_of(scripted(A=[handing(to("B"))], B=["done"])))
    driven.start(ask("go"))
    entries = driven.session.database.journal.entries("s1")
    assert [entry.kind for entry in entries] == ["model", "model"]


def test_a_handoff_takes_no_step_of_its_own(drive: Drive) -> None:
    """It is committed with the reply that asks for it, for no call is made; beside a tool's call it waits for that."""
    driven = drive(swarm_of(scripted(A=[handing(to("B")), "done"], B=[handing(see("x"), to("A"))])))
    driven.start(ask("go"))
    steps = [checkpoint.values["stateward"].get("last", {}).get("state") for checkpoint in driven.checkpoints]
    assert [step for step in steps if step] == ["SWARM.A.DECIDE", "SWARM.B.DECIDE", "SWARM.B.ACT", "SWARM.A.DECIDE"]


def test_a_member_that_says_nothing_behind_its_observations_is_asked_once_more(drive: Drive) -> None:
    """What was observed is no handoff: the answer is asked for at once, however many steps are left."""
    models = scripted(A=[handing(see("x")), "", ""], B=[])
    outcome = drive(swarm_of(models)).start(ask("go"))
    assert (outcome.values["team"]["SWARM"]["answer"], len(models["A"].calls)) == ("(no answer)", 3)


def test_of_several_handoffs_the_first_wins_behind_its_siblings(drive: Drive) -> None:
    """Siblings commit in call order, and each call has its answer."""
    reply = handing(see("x"), to("C"), to("B"), see("y"))
    outcome = drive(swarm_of(scripted(A=[reply], B=[], C=["done"]))).start(ask("go"))
    answers = [message.text for message in outcome.values["messages"] if message.type == "tool"]
    assert (answers[0], answers[1], answers[3]) == ("saw x", "C goes on with the conversation.", "saw y")
    assert "handed over to C already" in answers[2]
    assert outcome.values["team"]["SWARM"]["active"] == "C"


def test_ping_pong_is_bounded(drive: Drive) -> None:
    """When the handoffs are used up, nobody is offered one, and who is active answers."""
    models = scripted(A=[handing(to("B")), handing(to("B"))], B=[handing(to("A")), "enough"])
    outcome = drive(swarm_of(models, max_handoffs=3, tools=[])).start(ask("go"))
    assert outcome.values["team"]["SWARM"] == {"active": "B", "handoffs": 3, "answer": "enough"}
    assert is_whole(outcome.values["messages"])


def test_a_model_that_hands_over_for_ever_ends(drive: Drive) -> None:
    """It is told that no handoffs are left, and its steps end in an answer."""
    models = scripted(A=[handing(to("B"))] * 9, B=[handing(to("A"))] * 9)
    outcome = drive(swarm_of(models, max_handoffs=4, A={"max_steps": 2}, B={"max_steps": 2})).start(ask("go"))
    assert (outcome.status, outcome.values["team"]["SWARM"]["handoffs"]) == ("completed", 4)
    assert is_whole(outcome.values["messages"])


def test_a_chart_may_take_that_no_handoffs_are_left(drive: Drive) -> None:
    """The event comes when one is refused."""
    models = scripted(A=[handing(to("B")), "done"], B=[])
    outcome = drive(swarm_of(models, max_handoffs=0, handles=("handoffs.spent",))).start(ask("go"))
    assert outcome.path == "HELP"


def test_a_filtered_history_reaches_the_next_member(drive: Drive) -> None:
    """It sees words and no calls; the conversation itself stays whole."""
    models = scripted(A=[handing(see("x")), handing(to("B", "write"))], B=["done"])
    values = drive(swarm_of(models, history="filtered")).start(ask("go")).values
    assert [(each.type, each.text) for each in models["B"].calls[0]] == [
        ("human", "go"),
        ("human", "A hands over to you: write"),
    ]
    assert len(values["messages"]) == 6


def test_each_handoff_may_pass_another_history(drive: Drive) -> None:
    """What a `Handoff` says comes before what the swarm says."""
    ways = [teams.Handoff("B", "summary"), "C"]
    models = scripted(A=[handing(to("B", "n")), handing(to("C"))], B=[handing(to("A"))], C=["done"])
    drive(swarm_of(models, A={"handoffs": ways})).start(ask("go"))
    assert [len(models[name].calls[0]) for name in "BC"] == [2, 7]


def test_a_member_hands_over_only_where_it_may(drive: Drive) -> None:
    """A handoff that nobody declared is an unknown tool."""
    models = scripted(A=[handing(to("C")), "alone"], B=[], C=[])
    outcome = drive(swarm_of(models, A={"handoffs": ["B"]})).start(ask("go"))
    assert outcome.values["team"]["SWARM"] == {"active": "A", "handoffs": 0, "answer": "alone"}
    assert "does not declare the tool `transfer_to_C`" in outcome.values["messages"][2].text


def test_a_swarm_with_a_conversation_of_its_own_is_a_member(drive: Drive) -> None:
    """It is told its task there, once, and the user's conversation stays as it is."""
    driven = drive(swarm_of(scripted(A=[handing(to("B"))], B=["done"]), conversation="own"))
    values = driven.start({**ask("go"), **teams.told("SWARM", "do it")}).values
    assert [message.type for message in values["own"]] == ["human", "ai", "tool", "ai"]
    assert (values["own"][0].text, len(values["messages"])) == ("do it", 1)


def test_a_swarm_in_a_shared_conversation_hears_its_task(drive: Drive) -> None:
    """Whoever is active is told."""
    models = scripted(A=["done"], B=[])
    drive(swarm_of(models)).start({**ask("go"), **teams.told("SWARM", "do it")})
    assert models["A"].calls[0][0].text == "Your task: do it"


def test_handoffs_of_many_turns_do_not_get_into_each_other(drive: Drive) -> None:
    """Every turn hands over, and the whole conversation stays in pairs."""
    driven = drive(swarm_of(scripted(A=[handing(to("B")), "a", handing(to("B"))], B=["b", handing(to("A")), "b"])))
    outcome = [driven.start(ask(text)) for text in ("one", "two", "three")][-1]
    assert len(outcome.values["messages"]) == 12
    assert is_whole(outcome.values["messages"])


def test_a_swarm_mends_what_a_fuse_left(drive: Drive) -> None:
    """The member that was cut off is active still, and finds a whole history."""
    models = scripted(A=[handing(see("x"), see("y"), to("B")), handing(to("B"))], B=["done"])
    driven = drive(swarm_of(models, policy=Policy(name="p", fuses=Fuses(calls=1)), handles=("fuse",)))
    assert driven.start(ask("go")).path == "HELP"
    outcome = driven.resume("again")
    assert (outcome.values["team"]["SWARM"]["answer"], is_whole(outcome.values["messages"])) == ("done", True)


def test_a_swarm_is_replayed(drive: Drive) -> None:
    """What is in the records follows from the replies."""
    driven = drive(swarm_of(scripted(A=[handing(see("x"), to("B"), to("B"))], B=["done"]), history="summary"))
    driven.start(ask("go"))
    assert same(driven)


def test_rules_hand_over_too(drive: Drive) -> None:
    """A member may work by rules."""
    members = [teams.Peer("A", by_rules), teams.Peer("B", by_rules)]
    block = teams.swarm("SWARM", members, output=found)
    outcome = drive(alone(block, ScriptedModel.of())).start(ask("go"))
    assert outcome.values["found"] == {"said": "by rules"}


names = st.sampled_from(["look", "transfer_to_A", "transfer_to_B", "transfer_to_C", "nope", ""])
arguments = st.dictionaries(st.sampled_from(["what", "note"]), st.sampled_from(["", "x"]))
ids = st.sampled_from(["x", "y", None])
replies = st.builds(
    AIMessage,
    content=st.sampled_from(["", "said"]),
    tool_calls=st.lists(st.builds(ToolCall, name=names, args=arguments, id=ids), max_size=4),
)


@settings(max_examples=25, deadline=None)
@given(script=st.tuples(*[st.lists(replies, max_size=5)] * 3), mode=st.sampled_from(["full", "filtered", "summary"]))
def test_whatever_the_models_say_every_model_is_shown_a_whole_history(script: Any, mode: Any) -> None:
    """Every run ends in an answer, within its handoffs, and no call is ever without its answer."""
    models = {name: ScriptedModel.of(*given, *["done"] * 30) for name, given in zip("ABC", script, strict=True)}
    values = swarm_of(models, history=mode, max_handoffs=3).invoke(ask("go"))
    record = values["team"]["SWARM"]
    assert ("answer" in record, record["handoffs"] <= 3) == (True, True)
    assert all(is_whole(sent) for model in models.values() for sent in model.calls)
    assert is_whole(values["messages"])


@pytest.mark.parametrize(
    ("members", "rest", "told"),
    [
        ([], {}, "nobody in it is named ``"),
        (["A", "A"], {}, "two members are named `A`"),
        (["A", "B"], {"entry": "C"}, "nobody in it is named `C`"),
        (["A", "B"], {"max_handoffs": -1}, "`max_handoffs` is -1"),
    ],
)
def test_a_swarm_that_cannot_be_is_refused(members: list[str], rest: dict[str, Any], told: str) -> None:
    """The message says what is wrong, and who is in it."""
    with pytest.raises(DefinitionError, match=told):
        teams.swarm("SWARM", [teams.Peer(name, "m") for name in members], **rest)


def test_a_handoff_to_nobody_is_refused() -> None:
    """When the swarm is made."""
    with pytest.raises(DefinitionError, match="nobody in it is named `X`"):
        teams.swarm("SWARM", [teams.Peer("A", "m", handoffs=["X"], tools=[look])])


def test_a_tool_with_the_name_of_a_handoff_is_refused() -> None:
    """It would be taken for the handoff."""
    members = [teams.Peer("A", "m", tools=["transfer_to_B"]), teams.Peer("B", "m")]
    with pytest.raises(DefinitionError, match="`transfer_to_B` has the name of a handoff"):
        teams.swarm("SWARM", members)


@pytest.mark.parametrize(
    ("member", "rest", "told"),
    [
        ("A", {}, r"`'A'` is no member.*teams\.Peer"),
        (teams.agent("A", model="m"), {}, r"`A` is no member.*teams\.Peer"),
        (teams.Peer("A", "m"), {"history": "all"}, "passes on is 'all'.*`full`, `filtered`, `summary`"),
        (teams.Peer("A", "m", handoffs=[teams.Handoff("A", "some")]), {}, "passes on is 'some'"),  # pyright: ignore[reportArgumentType]
        (teams.Peer("A", "m", handoffs=[3]), {}, r"3 is no handoff.*teams\.Handoff"),  # pyright: ignore[reportArgumentType]
    ],
)
def test_what_is_none_of_the_kinds_is_refused(member: Any, rest: dict[str, Any], told: str) -> None:
    """A history that nobody knows would be told as some other one."""
    with pytest.raises(DefinitionError, match=told):
        teams.swarm("SWARM", [member], **rest)
