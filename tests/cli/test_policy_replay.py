"""`stateward policy replay`."""

from __future__ import annotations

import pytest


@pytest.fixture
def played(shell):
    """A session that looked something up and waits to pay, and one that only looked up."""
    shell.run("run", "toy_desk", shell.inbox({"id": "m1", "text": "hello"}, {"id": "m2", "text": "please refund"}))
    return shell


def candidate(shell, text, name="toy_desk.yaml"):
    """Write a policy."""
    file = shell.folder / name
    file.write_text(f"version: 1\n{text}\n")
    return str(file)


def test_under_the_same_policy_nothing_flips(played):
    """The record is what it would be."""
    told = played.json("policy", "replay", "toy_desk")
    assert (told["flips"], told["calls"], told["unknown_states"]) == ([], 4, [])


def test_each_decision_that_flips_is_told(played):
    """The JSON shape is the documented one."""
    file = candidate(played, "tools: {rules: [{match: look, level: forbidden}, {match: pay|note, level: allowed}]}")
    told = played.json("policy", "replay", file)
    assert set(told["flips"][0]) == {
        "session", "run", "state", "activation", "call", "kind", "name", "arguments", "before", "after", "reason",
        "rule",
    }  # fmt: skip
    flips = sorted((flip["session"], flip["name"], flip["before"], flip["after"]) for flip in told["flips"])
    assert flips == [
        ("case-m1", "look", "allow", "deny"), ("case-m2", "look", "allow", "deny"), ("case-m2", "pay", "ask", "allow"),
    ]  # fmt: skip


def test_what_had_been_spent_counts(played):
    """With a fuse of one call the second one flips."""
    told = played.json("policy", "replay", candidate(played, "fuses: {calls: 1}"), "--sessions", "case-m1")
    assert [(flip["name"], flip["after"]) for flip in told["flips"]] == [("note", "deny")]
    assert "limited to 1" in told["flips"][0]["reason"]


def test_what_is_not_decided_is_said(played):
    """No record tells the time; in the JSON it is a sentence of its own."""
    file = candidate(played, "fuses: {runtime_s: 5}\ncall_timeout_s: 3")
    (told,) = played.json("policy", "replay", file)["undecided"]
    assert told == "No record tells how much time there was: `fuses.runtime_s`, `call_timeout_s` decided nothing."
    assert "decided nothing" in played.run("policy", "replay", file).stderr
    assert played.json("policy", "replay", candidate(played, "fuses: {calls: 1}"))["undecided"] == []


def test_nothing_is_written(played):
    """Neither a call nor a record."""
    before = played.run("audit", "--head").stdout
    played.run("policy", "replay", candidate(played, "fuses: {calls: 1}"))
    assert (played.run("audit", "--head").stdout, played.effects("note")) == (before, 1)


def test_a_policy_of_another_name_says_for_whom_it_stands(played):
    """The only one of the graph by default."""
    file = candidate(played, "fuses: {calls: 1}", name="other.yaml")
    assert len(played.json("policy", "replay", file)["flips"]) == 2
    assert played.run("policy", "replay", file, "--for", "nope").exit_code == 2


def test_a_graph_and_a_session_can_be_named(played):
    """A session that is not there is refused."""
    assert played.json("policy", "replay", "toy_desk", "toy_desk", "--sessions", "case-m1")["calls"] == 2
    assert played.run("policy", "replay", "toy_desk", "--sessions", "nope").exit_code == 2
