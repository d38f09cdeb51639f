"""`stateward history`."""

from __future__ import annotations

from dataclasses import replace

from stateward.cli.history import call_json, call_text
from stateward.run.store.entry import CallKey, Entry


def test_steps_are_told_with_state_event_and_calls(shell):
    """The JSON shape is the documented one."""
    shell.run("run", "toy_desk", "inbox.jsonl")
    told = shell.json("history", "case-m2")
    assert told["session"]["id"] == "case-m2"
    assert set(told["steps"][0]) == {
        "step", "checkpoint", "at", "run", "run_no", "branch", "state", "activation", "event", "transitions",
        "verdicts", "changed", "status", "path", "turns", "tokens", "usd", "calls",
    }  # fmt: skip
    assert [(step["state"], step["event"]) for step in told["steps"]] == [
        ("", "start"), ("INTAKE", "done.activity.INTAKE"), ("WORKING.ACT", "ask"),
    ]  # fmt: skip
    (call,) = told["steps"][2]["calls"]
    assert (call["kind"], call["name"], call["status"]) == ("tool", "look", "completed")
    assert set(call) == {"call", "kind", "name", "status", "tries", "tokens", "usd"}


def test_the_table_shows_guards_and_changed_keys(shell):
    """People see what a guard said by its short name."""
    shell.run("run", "toy_wait", '{"question": "please"}', "--session", "q1")
    shown = shell.run("history", "q1").stdout
    assert "is_polite yes" in shown
    assert "said" in shown
    assert "talker completed" in shown


def test_an_unknown_session_is_refused(shell):
    """Exit code 2 and the way to the list."""
    shell.run("run", "toy_desk", "inbox.jsonl")
    result = shell.run("history", "nope")
    assert result.exit_code == 2
    assert "No session `nope`" in result.stderr


def test_a_graph_under_another_name_can_be_named(shell, tmp_path, monkeypatch):
    """Where langgraph.json does not have the session's graph, `--graph` finds it."""
    shell.run("run", "toy_desk", "inbox.jsonl")
    monkeypatch.chdir(tmp_path)
    assert "--graph" in shell.run("history", "case-m1").stderr
    assert shell.run("history", "case-m1", "--graph", "toy_desk:graph").exit_code == 0


def test_a_call_is_told_with_who_answered_and_what_it_overran():
    """In the table and in the JSON, and only where there is something to tell."""
    key = CallKey(session="s", run="r", branch="main", path="A", activation=1, call=1)
    kept = {"attempts": [{"role": "writer", "outcome": "failed"}], "answered_by": "backup"}
    call = Entry(key=key, kind="model", name="writer", fingerprint="", arguments={}, effect="idempotent")
    told = replace(call, status="completed", result=kept, overrun={"usd": 0.25})
    assert call_text(told) == "writer completed, answered by backup, 0.25 usd over its bound"
    assert call_text(call) == "writer started"
    assert (call_json(told)["answered_by"], call_json(told)["overrun"]) == ("backup", {"usd": 0.25})
