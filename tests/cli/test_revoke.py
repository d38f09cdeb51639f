"""`stateward revoke`."""

from __future__ import annotations

import json

import pytest

BY = ("--by", "ann", "--reason", "fraud")


@pytest.fixture
def waiting(shell):
    """A session that waits for somebody to approve a payment."""
    shell.run("run", "toy_desk", shell.inbox({"id": "m2", "text": "please refund"}))
    return shell


def test_a_bare_word_is_looked_up_in_the_graph_of_the_session(waiting):
    """The JSON shape is the documented one."""
    told = waiting.json("revoke", "case-m2", "pay", *BY)
    assert told | {"at": 0} == {
        "session": "case-m2", "kind": "tool", "name": "pay", "by": "ann", "reason": "fraud", "at": 0,
    }  # fmt: skip
    assert waiting.json("revoke", "case-m2", "ACT", *BY)["name"] == "WORKING.ACT"


def test_an_approved_call_does_not_run_after_it(waiting):
    """The next call of the session is refused, and the audit log says why."""
    waiting.run("revoke", "--all", "--tool", "pay", *BY)
    waiting.run("answer", waiting.json("inbox")[0]["id"], "approve", "--by", "bob")
    assert waiting.effects("pay") == 0
    (denied,) = waiting.json("audit", "--event", "denied")
    assert denied["record"]["reason"] == "tool `pay` was revoked by ann: fraud"


def test_show_tells_what_is_revoked(waiting):
    """From the session and from all."""
    waiting.run("revoke", "--all", "--tool", "pay", *BY)
    waiting.run("revoke", "case-m2", "--agent", "planner", *BY)
    assert sorted(one["name"] for one in waiting.json("show", "case-m2")["revoked"]) == ["pay", "planner"]
    assert "tool pay (everywhere), by ann: fraud" in waiting.run("show", "case-m2").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("case-m2",), "One thing"),
        (("case-m2", "pay", "--tool", "look"), "One thing"),
        ((), "from what"),
        (("--all", "pay"), "no graph to look"),
        (("case-m2", "nope"), "Nothing is called `nope`"),
        (("nope", "pay"), "No session `nope`"),
        (("--all", "--state", "NOPE", "--graph", "toy_desk"), "No state is called"),
        (("case-m2", "pay", "--by", ""), "named person"),
    ],
)
def test_what_is_not_clear_is_refused(waiting, words, said):
    """Exit code 2, and nothing is revoked."""
    result = waiting.run("revoke", *words)
    assert (result.exit_code, said in result.stderr) == (2, True), result.stderr
    assert waiting.json("show", "case-m2")["revoked"] == []


def test_a_tool_that_nobody_knows_is_revoked_with_a_warning(waiting):
    """It may be meant for one that comes later; a slip of the pen is seen at once, and stdout stays JSON."""
    result = waiting.run("revoke", "--all", "--tool", "pya", *BY, "--json")
    assert (result.exit_code, json.loads(result.stdout)["name"]) == (0, "pya")
    assert "no definition on record knows the tool `pya`" in result.stderr
    assert [one["name"] for one in waiting.json("show", "case-m2")["revoked"]] == ["pya"]


@pytest.mark.parametrize("words", [("--all",), ("case-m2",), ("--all", "--graph", "toy_desk")])
def test_a_tool_that_is_on_record_is_revoked_without_a_word(waiting, words):
    """In the policy that the run is pinned to, or in the graph."""
    assert waiting.run("revoke", *words, "--tool", "pay", *BY).stderr == ""
