"""`fintech_swarm` (B7): handoffs, who is active over turns, and what is handed over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage

from graphs.fintech_swarm import build
from stateward.run.session import Outcome
from stateward.testing import Reply, calls
from tests.charts.drive import Driven
from tests.graphs.team import answer, ask, is_whole, observations, scripted, sent, speakers

Make = Callable[..., Driven]
Request = tuple[str, dict[str, Any]]
TO_WRITER: Request = ("transfer_to_WRITER", {"note": "HARB stands at 47.60 USD."})
TO_RESEARCHER: Request = ("transfer_to_RESEARCHER", {})
QUOTE: Request = ("quote", {"symbol": "HARB"})
MODES = pytest.mark.parametrize("history", ["full", "filtered", "summary"])
HARBOUR = "Harbour Bank (HARB) stands at 47.60 USD, +0.4 % in a month. Harbour Bank keeps its dividend."


@pytest.fixture
def make(drive: Callable[..., Driven]) -> Make:
    """Drive a session of the graph."""

    def driven(*overrides: str, **options: Any) -> Driven:
        return drive(build(env={}, overrides=overrides, **options))

    return driven


def desk(outcome: Outcome) -> dict[str, Any]:
    """The swarm's record."""
    return outcome.values["team"]["DESK"]


def team(*, researcher: Sequence[Reply] = (), writer: Sequence[Reply] = ()) -> dict[str, Any]:
    """Models for both, scripted."""
    return scripted(researcher=researcher, writer=writer)


# -- by rules -------------------------------------------------------------------------------------------------


@MODES
def test_the_researcher_finds_and_the_writer_words_it(make: Make, history: str) -> None:
    """Whatever the writer sees of the work, it has the facts; the report is the answer."""
    done = make(f"config.history={history}").start(ask("A report on HARB, please."))
    assert (done.status, answer(done), speakers(done)) == ("completed", HARBOUR, ["WRITER"])
    assert observations(done) == ["quote success", "headlines success", "transfer_to_WRITER success"]


@MODES
def test_who_was_active_last_is_active_in_the_next_turn(make: Make, history: str) -> None:
    """The writer shortens its report itself, and asks the researcher only for what it lacks."""
    driven = make(f"config.history={history}")
    driven.start(ask("A report on HARB, please."))
    shorter = driven.start(ask("Shorter!"))
    other = driven.start(ask("And Alpine Rail?"))
    assert (answer(shorter), desk(shorter)["handoffs"]) == (HARBOUR.split(" Harbour Bank keeps")[0], 0)
    assert (answer(other)[:18], desk(other)["handoffs"], desk(other)["active"]) == ("Alpine Rail (ALPN)", 2, "WRITER")
    assert is_whole(other)


def test_a_report_is_kept_under_the_sessions_folder(make: Make) -> None:
    """In `reports`, and the model is not told where on the machine that is."""
    done = make().start(ask("A report on HARB, and keep it."))
    (kept,) = [one for one in done.values["messages"] if isinstance(one, ToolMessage) and one.name == "save_report"]
    assert answer(done) == f"{HARBOUR} Kept in reports/report.md."
    assert str(Path("/")) not in kept.text


def test_without_a_company_one_is_asked_for(make: Make) -> None:
    """By the researcher, who is active at first."""
    done = make().start(ask("hello"))
    assert (answer(done)[:14], speakers(done)) == ("Which company?", ["RESEARCHER"])


# -- by models ------------------------------------------------------------------------------------------------


def test_the_active_member_is_remembered(make: Make) -> None:
    """In the second turn only the writer's model is asked."""
    models = team(researcher=[calls(QUOTE), calls(TO_WRITER)], writer=["HARB is at 47.60.", "47.60."])
    driven = make(models=models)
    driven.start(ask("HARB?"))
    done = driven.start(ask("Shorter."))
    assert (answer(done), desk(done)["active"]) == ("47.60.", "WRITER")
    assert (len(sent(models, "researcher")), len(sent(models, "writer"))) == (2, 2)


@pytest.mark.parametrize(
    ("history", "seen"),
    [
        ("full", ["human", "ai", "tool", "ai", "tool"]),
        ("filtered", ["human", "human"]),
        ("summary", ["human", "human"]),
    ],
)
def test_history_says_what_the_next_one_sees(make: Make, history: str, seen: list[str]) -> None:
    """All of it; or what people and members said, and the note; calls never go without their results."""
    models = team(researcher=[calls(QUOTE), calls(TO_WRITER)], writer=["Done."])
    make(f"config.history={history}", models=models).start(ask("HARB?"))
    assert [message.type for message in sent(models, "writer")[0][1:]] == seen


def test_of_two_handoffs_and_a_tool_the_tool_counts_and_one_handoff_wins(make: Make) -> None:
    """Results first, in call order; the second handoff is told that it came too late."""
    models = team(researcher=[calls(TO_WRITER, QUOTE, TO_WRITER)], writer=["Done."])
    done = make(models=models).start(ask("HARB?"))
    made = ["transfer_to_WRITER success", "quote success", "transfer_to_WRITER error"]
    assert (done.status, observations(done), is_whole(done)) == ("completed", made, True)


def test_ping_pong_is_bounded(make: Make) -> None:
    """When the handoffs are used up, whoever is active says the last word."""
    back_and_forth = team(researcher=[calls(TO_WRITER)] * 20, writer=[calls(TO_RESEARCHER)] * 20)
    done = make("config.max_handoffs=3", "policy.fuses.turns=40", models=back_and_forth).start(ask("?"))
    assert (done.status, desk(done)["handoffs"], is_whole(done)) == ("completed", 3, True)
    assert isinstance(done.values["messages"][-1], AIMessage)


def test_a_member_may_not_use_the_others_tools(make: Make) -> None:
    """The researcher keeps no reports: nothing is written, and it is told so."""
    saving = calls(("save_report", {"file": "reports/x.md", "text": "x"}))
    done = make(models=team(researcher=[saving, "I cannot."])).start(ask("?"))
    assert (answer(done), observations(done)) == ("I cannot.", ["save_report error"])


@pytest.mark.parametrize("file", ["../x.md", "reports/../../x.md", "/etc/x.md", "reports/x.sh", "~/x.md", "x.md"])
def test_a_report_never_leaves_its_folder(make: Make, file: str) -> None:
    """Whatever the writer's model names."""
    saving = calls(("save_report", {"file": file, "text": "x"}))
    models = team(researcher=[calls(TO_WRITER)], writer=[saving, "I cannot."])
    done = make(models=models).start(ask("?"))
    assert (answer(done), observations(done)[-1]) == ("I cannot.", "save_report error")


def test_one_member_may_have_a_model_and_the_other_rules(make: Make) -> None:
    """Rules find, a model words."""
    done = make(models=scripted(writer=["In short: 47.60."])).start(ask("A report on HARB, please."))
    assert (answer(done), speakers(done)) == ("In short: 47.60.", ["WRITER"])
