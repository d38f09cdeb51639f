"""`stateward inbox`."""

from __future__ import annotations


def test_an_ask_is_told_with_its_call_reason_and_age(shell):
    """The JSON shape is the documented one."""
    shell.run("run", "toy_desk", "inbox.jsonl")
    (ask,) = shell.json("inbox")
    assert set(ask) == {
        "id", "session", "branch", "current", "state", "tool", "arguments", "reason", "approvers", "approvals",
        "approved_by", "barred", "age_s", "expires_at",
    }  # fmt: skip
    assert (ask["session"], ask["state"], ask["tool"]) == ("case-m2", "WORKING.ACT", "pay")
    assert ask["arguments"] == {"amount": 3.0}
    assert 0 <= ask["age_s"] < 60


def test_people_see_the_whole_ask(shell):
    """People see id, session, tool, all arguments, reason and age."""
    shell.run("run", "toy_desk", "inbox.jsonl")
    shown = shell.run("inbox").stdout
    words = ("ask_", "case-m2", "pay", '{"amount": 3.0}', "restricted", "age ", "expires never")
    assert all(word in " ".join(shown.split()) for word in words)


def test_people_see_how_many_must_approve_and_who_has(shell):
    """And the JSON tells it as well."""
    shell.run("run", "toy_desk", "inbox.jsonl", "policy.tools.rules[2].approvals=2")
    (ask,) = shell.json("inbox")
    assert (ask["approvals"], ask["approved_by"]) == (2, [])
    shell.run("answer", ask["id"], "approve", "--by", "ann", "--set", "policy.tools.rules[2].approvals=2")
    assert "approvals 1 of 2 (ann)" in " ".join(shell.run("inbox").stdout.split())


def test_an_ask_of_a_branch_that_was_left_is_marked(shell):
    """Both branches wait; the session is on one of them."""
    shell.run("run", "toy_desk", "inbox.jsonl")
    step = shell.json("history", "case-m2")["steps"][-1]["step"]
    shell.run("fork", "case-m2", str(step), "--name", "other")
    assert sorted((ask["branch"], ask["current"]) for ask in shell.json("inbox")) == [("main", False), ("other", True)]
    shown = " ".join(shell.run("inbox").stdout.split())
    assert "branch main (the session is on other)" in shown
    assert "branch other" in shown


def test_people_see_how_long_they_may_think(shell):
    """When the policy sets a limit."""
    shell.run("run", "toy_desk", "inbox.jsonl", "policy.tools.rules[2].expires_s=7200")
    assert "expires in 1 h 59 min" in " ".join(shell.run("inbox").stdout.split())
    (waiting,) = shell.json("sessions", "--status", "waiting")
    assert waiting["wakes_at"] == shell.json("inbox")[0]["expires_at"]


def test_an_empty_inbox_says_so(shell):
    """An empty list is JSON too."""
    shell.run("run", "toy_desk", shell.inbox({"id": "m1", "text": "hello"}))
    assert shell.json("inbox") == []
    assert "Nobody is asked" in shell.run("inbox").stdout


def test_a_missing_database_is_an_error_and_is_not_made(shell):
    """Looking creates no file."""
    result = shell.run("inbox")
    assert result.exit_code == 2
    assert "no database" in result.stderr
    assert not any(shell.folder.glob("*.db"))


def test_a_question_of_an_activity_is_told_with_what_may_be_answered(shell):
    """Its kind and its options; people read the question."""
    shell.run("run", "toy_asks:graph", "{}", "--session", "t1")
    where, way, days = shell.json("inbox")
    assert (where["kind"], way["kind"], way["options"], days["arguments"]) == (
        "text", "choose", ["train", "car"], {"days": 1},
    )  # fmt: skip
    shown = " ".join(shell.run("inbox").stdout.split())
    assert all(word in shown for word in ("By which way?", "train; car", "asks to edit", '{"days": 1}'))


def test_a_question_says_in_which_words_it_is_answered(shell):
    """An option or a text is the answer by itself; `respond` would want a note."""
    shell.run("run", "toy_asks:graph", "{}", "--session", "t1")
    shown = [line.split() for line in shell.run("inbox").stdout.splitlines() if line.startswith("answer with")]
    assert [words[2] for words in shown[:2]] == ["TEXT", "OPTION"]
