"""`stateward answer`."""

from __future__ import annotations

import pytest


@pytest.fixture
def ask(shell) -> str:
    """An open ask of session case-m2."""
    shell.run("run", "toy_desk", "inbox.jsonl")
    return shell.json("inbox")[0]["id"]


def test_approving_runs_the_effect_once_and_finishes_the_session(shell, ask):
    """The answering process goes on with the session."""
    told = shell.json("answer", ask, "approve", "--by", "ann")
    assert (told["session"], told["status"], told["state"], told["asks"]) == ("case-m2", "completed", "DONE", [])
    assert told["values"]["done"] == ["ok", "ok"]
    assert shell.effects("pay") == 1


def test_rejecting_goes_on_without_the_effect(shell, ask):
    """The agent is told, with the note."""
    told = shell.json("answer", ask, "reject", "--by", "ann", "--note", "no proof")
    assert told["values"]["done"] == ["ok", "rejected"]
    assert shell.effects("pay") == 0


def test_a_second_answer_is_refused_and_told_who_answered_when(shell, ask):
    """Exit code 2, and the effect is not repeated."""
    shell.run("answer", ask, "approve", "--by", "ann")
    result = shell.run("answer", ask, "reject", "--by", "bob")
    assert result.exit_code == 2
    assert "answered with `approve` by `ann` at 20" in result.stderr
    assert shell.effects("pay") == 1


def test_no_resume_only_records(shell, ask):
    """The session waits on; `resume` goes on later."""
    told = shell.json("answer", ask, "approve", "--by", "ann", "--no-resume")
    assert told == {
        "session": "case-m2", "status": "waiting", "ask": ask, "decision": "approve", "by": "ann",
        "approvals": "1 of 1", "asks": [],
    }  # fmt: skip
    assert shell.effects("pay") == 0
    assert shell.json("resume", "case-m2")["status"] == "completed"
    assert shell.effects("pay") == 1


def test_an_edit_makes_another_call(shell, ask):
    """All its arguments are named, as JSON."""
    told = shell.json("answer", ask, "edit", "--arguments", '{"amount": 2}', "--by", "ann")
    assert (told["status"], told["values"]["done"], shell.effects("pay")) == ("completed", ["ok", "ok"], 1)


@pytest.mark.parametrize(
    "words",
    [
        ("edit",),
        ("edit", "--arguments", "[1]"),
        ("edit", "--arguments", "{"),
        ("edit", "--arguments", '{"amount": "much"}'),
        ("edit", "--arguments", "{}", "--tool", "nope"),
        ("edit", "--arguments", "[" * 100_000),
        ("reject", "--value", "true"),
        ("reject", "--value", "[" * 100_000),
        ("reject", "--note", "half a \udcff"),
        ("approve", "--by", "ann\udcff"),
        ("approve", "--arguments", '{"amount": 2}'),
        ("reject", "--tool", "pay"),
        ("respond",),
    ],
)
def test_an_answer_that_is_none_leaves_the_ask_open(shell, ask, words):
    """Exit code 2, and nothing runs."""
    assert shell.run("answer", ask, "--by", "ann", *words).exit_code == 2
    assert [one["id"] for one in shell.json("inbox")] == [ask]
    assert shell.effects("pay") == 0


def test_a_second_person_is_waited_for(shell):
    """The first is told so; the second goes on with the session."""
    two = "policy.tools.rules[2].approvals=2"
    shell.run("run", "toy_desk", "inbox.jsonl", two)
    (ask,) = [one["id"] for one in shell.json("inbox")]
    first = shell.run("answer", ask, "approve", "--by", "ann", "--set", two)
    assert (first.exit_code, "1 of 2 approvals" in first.stderr + first.stdout) == (0, True)
    assert shell.run("answer", ask, "approve", "--by", "Ann", "--set", two).exit_code == 2
    assert shell.json("answer", ask, "approve", "--by", "bob", "--set", two)["status"] == "completed"
    assert shell.effects("pay") == 1


def test_an_unknown_ask_is_refused(shell, ask):
    """The message says where to look."""
    result = shell.run("answer", "ask_nope", "approve", "--by", "ann")
    assert result.exit_code == 2
    assert "No ask `ask_nope`" in result.stderr


def test_a_decision_is_one_of_four_words(shell, ask):
    """Other words are a wrong use."""
    assert shell.run("answer", ask, "maybe", "--by", "ann").exit_code == 2


def test_nothing_is_recorded_when_the_graph_cannot_be_found(shell, ask):
    """An answer that could lead nowhere is not kept."""
    assert shell.run("answer", ask, "approve", "--by", "ann", "--graph", "nope").exit_code == 2
    assert shell.run("answer", ask, "approve", "--by", "ann", "--graph", "toy_wait").exit_code == 2
    assert [one["id"] for one in shell.json("inbox")] == [ask]


def test_the_login_name_answers_when_nobody_is_named(shell, ask, monkeypatch):
    """`--by` may be left out."""
    monkeypatch.setenv("LOGNAME", "carl")
    assert shell.json("answer", ask, "reject", "--no-resume")["by"] == "carl"


def test_an_answer_keeps_the_policy_its_run_began_under(shell, ask):
    """Without the word it is refused and not recorded; the message names it."""
    other = ("--set", "policy.fuses.turns=3", "--by", "ann")
    refused = shell.run("answer", ask, "approve", *other)
    assert (refused.exit_code, "--drift keep" in refused.stderr, shell.json("inbox")[0]["id"]) == (2, True, ask)
    assert shell.json("answer", ask, "approve", *other, "--drift", "keep")["status"] == "completed"


def test_to_adopt_is_another_command(shell, ask):
    """The message names it."""
    result = shell.run("answer", ask, "approve", "--by", "ann", "--drift", "adopt")
    assert (result.exit_code, "stateward migrate SESSION" in result.stderr) == (2, True)


@pytest.fixture
def left(shell, ask):
    """The ask, and the session on a branch that was forked where it waited."""
    step = shell.json("history", "case-m2")["steps"][-1]["step"]
    shell.run("fork", "case-m2", str(step), "--name", "other")
    return ask


def test_an_ask_of_a_branch_that_was_left_is_answered_there(shell, left):
    """The session goes on with that branch; without its name the message says which command does."""
    refused = shell.run("answer", left, "approve", "--by", "ann")
    assert (refused.exit_code, f"stateward answer {left} approve --branch main" in refused.stderr) == (2, True)
    assert shell.json("answer", left, "approve", "--by", "ann", "--branch", "main")["status"] == "completed"
    assert [(one["branch"], one["current"]) for one in shell.json("branches", "case-m2")] == [
        ("main", True), ("other", False),
    ]  # fmt: skip
    assert shell.effects("pay") == 1


def test_an_open_ask_of_another_branch_does_not_hold_the_session_up(shell, left):
    """It is another activation."""
    here = next(ask["id"] for ask in shell.json("inbox") if ask["current"])
    assert shell.json("answer", here, "approve", "--by", "ann")["status"] == "completed"


def test_another_branch_than_the_asks_is_refused(shell, left):
    """Nothing is recorded."""
    refused = shell.run("answer", left, "approve", "--by", "ann", "--branch", "other")
    assert (refused.exit_code, "stands on branch `main`, not on `other`" in refused.stderr) == (2, True)
    assert left in {ask["id"] for ask in shell.json("inbox")}


@pytest.fixture
def trip(shell) -> list[str]:
    """The open questions of an activity."""
    shell.run("run", "toy_asks:graph", "{}", "--session", "t1")
    return [one["id"] for one in shell.json("inbox")]


def test_questions_are_answered_in_their_own_words(shell, trip):
    """A text, an option, and a value; the last one goes on."""
    where, way, days = trip
    more = ("--by", "ann", "--graph", "toy_asks:graph")
    assert shell.json("answer", where, "Rome", *more)["value"] == "Rome"
    assert shell.json("answer", way, "Train", *more)["value"] == "train"
    told = shell.json("answer", days, "edit", "--value", '{"days": 2}', *more)
    assert (told["status"], told["values"]["said"]) == ("completed", ["Rome", "train", {"days": 2}])


def test_an_option_may_be_a_word_that_means_something_else(shell):
    """It is chosen then."""
    shell.run("run", "toy_asks:graph", '{"ways": ["edit", "reject"]}', "--session", "t1")
    _, way, _ = (one["id"] for one in shell.json("inbox"))
    assert shell.json("answer", way, "edit", "--by", "ann", "--graph", "toy_asks:graph")["value"] == "edit"


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (0, ("approve",)),
        (0, ("Rome", "--note", "x")),
        (1, ("bus",)),
        (1, ("respond", "--value", "{")),
        (2, ("reject",)),
        (2, ("edit", "--arguments", "[1]")),
    ],
)
def test_what_does_not_fit_a_question_leaves_it_open(shell, trip, place, words):
    """Exit code 2, and it says what would."""
    assert shell.run("answer", trip[place], *words, "--by", "ann", "--graph", "toy_asks:graph").exit_code == 2
    assert [one["id"] for one in shell.json("inbox")] == trip
