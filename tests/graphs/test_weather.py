"""`weather`: a stateless tool loop with a last word (A2), and a conversation with threads and branches (A3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from graphs.weather import build
from stateward.run.trace import MESSAGE_LENGTH, snapshot, trace_line
from stateward.run.travel import Timeline
from stateward.testing import Reply, calls
from tests.charts.drive import Driven
from tests.charts.streamed import parts
from tests.graphs.team import answer, ask, is_whole, observations, scripted

Make = Callable[..., Driven]
NEW_YORK = calls(("get_temperature", {"city": "New York"}))
SAID: Sequence[Reply] = (
    NEW_YORK,
    "It is 18 °C in New York.",
    calls(("calculate", {"expression": "18 ** 2"})),
    "Its square is 324.",
)
"""What a model says in two turns."""
CONVERTED: Sequence[Reply] = (calls(("to_fahrenheit", {"celsius": 18})), "That is 64.4 °F.")
WHO = pytest.mark.parametrize("by_model", [False, True], ids=["rules", "model"])


@pytest.fixture
def make(drive: Callable[..., Driven]) -> Make:
    """Drive a session of the graph."""

    def driven(*overrides: str, session: str = "s1", replies: Sequence[Reply] = (), **options: Any) -> Driven:
        models = scripted(agent=replies) if replies else None
        return drive(build(env={}, overrides=overrides, models=models, **options), session=session)

    return driven


def texts(driven: Driven) -> str:
    """All that was said in the session, on the branch that it is on."""
    return " ".join(
        message.text for message in driven.session.graph.get_state(driven.session.config).values["messages"]
    )


# -- A3: a conversation ---------------------------------------------------------------------------------------


@WHO
def test_the_second_turn_builds_on_the_first(make: Make, by_model: bool) -> None:
    """18 °C, then its square, 324, without reading or naming the city again."""
    driven = make(replies=SAID if by_model else ())
    first = driven.start(ask("How warm is it in New York?"))
    second = driven.start(ask("What is its square?"))
    assert ("18 °C" in answer(first), "324" in answer(second)) == (True, True)
    assert observations(second) == ["get_temperature success", "calculate success"]


@WHO
def test_a_branch_goes_its_own_way(make: Make, by_model: bool) -> None:
    """It converts to 64.4 °F what the first turn read; neither branch knows what the other one did."""
    driven = make(replies=(*SAID, *CONVERTED) if by_model else ())
    past = turns(driven, "How warm is it in New York?", "What is its square?")
    past.fork(first_turn(past), name="fahrenheit")
    done = driven.start(ask("Convert it to Fahrenheit."))
    branch = texts(driven)
    past.switch("main")
    assert "64.4 °F" in answer(done)
    assert ("324" in branch, "64.4" in branch) == (False, True)
    assert ("324" in texts(driven), "64.4" in texts(driven)) == (True, False)


def turns(driven: Driven, *questions: str) -> Timeline:
    """Ask one after the other, and look back."""
    for question in questions:
        driven.start(ask(question))
    return Timeline(driven.session.graph, database=driven.session.database, session=driven.session.id)


def first_turn(past: Timeline) -> int:
    """The step with which the first turn ended."""
    steps = [row.step for row in past.rows if row.step is not None]
    return next(step for step in steps if past.at(step).status == "completed")


def test_another_thread_knows_nothing_of_it(make: Make) -> None:
    """Sessions share the graph and no memory."""
    first, other = make(session="s1"), make(session="s2")
    first.start(ask("How warm is it in New York?"))
    assert answer(other.start(ask("What is its square?"))).startswith("Which city?")
    assert answer(first.start(ask("What is its square?"))) == "18 squared is 324."


def test_each_step_is_a_line(make: Make) -> None:
    """The node that was entered, the keys it wrote, a message of one short line, and the tools that are called."""
    driven = make()
    streamed = parts(driven.session, driven.how, ask("How warm is it in New York?"), stream_mode="updates")
    lines = [line for part in streamed if (line := trace_line(part)) is not None]
    assert [(line.node, line.keys, line.tools) for line in lines] == [
        ("AGENT.DECIDE", ("messages", "team"), ("get_temperature",)),
        ("AGENT.ACT", ("messages",), ()),
        ("AGENT.DECIDE", ("messages", "team"), ()),
    ]
    assert str(lines[0]) == "AGENT.DECIDE  [messages, team]  ai: get_temperature  -> get_temperature"
    assert all(len(line.message) <= MESSAGE_LENGTH for line in lines)


def test_a_snapshot_tells_where_the_session_stands(make: Make) -> None:
    """How many messages, the last five, what comes next, and what is not done."""
    driven = make()
    turns(driven, "How warm is it in New York?", "What is its square?")
    seen = snapshot(driven.session.graph.get_state(driven.session.config))
    assert (seen.status, seen.messages, len(seen.last), seen.next, seen.pending) == ("completed", 8, 5, (), ())
    assert (seen.last[0], seen.last[-1]) == ("ai: It is 18 °C in New York.", "ai: 18 squared is 324.")


# -- A2: single questions -------------------------------------------------------------------------------------


def test_a_single_question_is_answered_by_a_record(make: Make) -> None:
    """The contract's fields; the user is told the words."""
    done = make("config.memory=none").start(ask("How warm is it in New York?"))
    record = {"answer": "It is 18 °C in New York.", "value": 18.0, "unit": "celsius"}
    assert (done.status, done.values["reading"], answer(done)) == ("completed", record, record["answer"])


def test_single_questions_know_nothing_of_each_other(make: Make) -> None:
    """Also in one session."""
    driven = make("config.memory=none")
    driven.start(ask("How warm is it in New York?"))
    done = driven.start(ask("What is its square?"))
    assert done.values["reading"]["answer"].startswith("Which city?")
    assert [one.type for one in done.values["thinking"]] == ["human", "ai"]


@pytest.mark.parametrize("steps", [1, 8])
def test_an_answer_in_the_format_comes_after_the_last_step(make: Make, steps: int) -> None:
    """Though the last step was an observation."""
    record = '{"answer": "18 degrees", "value": 18, "unit": "°C"}'
    driven = make("config.memory=none", f"config.max_steps={steps}", replies=[*[NEW_YORK] * steps, record])
    done = driven.start(ask("How warm is it in New York?"))
    assert (done.status, done.values["reading"]["unit"]) == ("completed", "celsius")
    assert observations(done, key="thinking") == ["get_temperature success"] * steps


def test_words_are_asked_for_again_as_a_record(make: Make) -> None:
    """What is no record goes back to the model, and the user never sees it."""
    done = make("config.memory=none", replies=["It is warm.", '{"answer": "18 degrees", "unit": "none"}']).start(
        ask("?")
    )
    assert (done.status, done.values["reading"]) == (
        "completed",
        {"answer": "18 degrees", "value": None, "unit": "none"},
    )
    assert [message.text for message in done.values["messages"]] == ["?", "18 degrees"]


def test_a_model_that_never_gives_a_record_ends_the_run(make: Make) -> None:
    """After its bounded retries; nothing that breaks the contract is kept."""
    done = make("config.memory=none", replies=["no"] * 12).start(ask("?"))
    assert (done.status, (done.reason or {})["event"]) == ("halted", "error.contract")
    assert "reading" not in done.values


def test_histories_stay_whole_over_turns(make: Make) -> None:
    """A strict provider takes what the model is sent each time."""
    driven = make(replies=SAID)
    past = turns(driven, "How warm is it in New York?", "What is its square?")
    assert is_whole(driven.session.outcome())
    assert past.rows
