"""`stateward sessions`."""

from __future__ import annotations


def test_a_session_is_told_with_its_place_and_cost(shell):
    """The JSON shape is the documented one."""
    shell.run("run", "toy_wait", '{"question": "why?"}', "--session", "q1")
    (row,) = shell.json("sessions")
    assert set(row) == {
        "id", "graph", "tenant", "status", "stalled", "path", "run", "run_no", "turns", "tokens", "usd", "reason",
        "wakes_at", "created_at", "updated_at", "mode", "hashes",
    }  # fmt: skip
    assert (row["id"], row["graph"], row["status"], row["path"]) == ("q1", "toy_wait", "waiting", ["TALKING.REST"])
    assert (row["turns"], row["tokens"]) == (1, 15)
    assert set(row["hashes"]) == {"chart", "policy", "schema"}


def test_a_session_with_a_timer_says_when_it_wakes(shell):
    """The table says now when the time has come."""
    shell.nap("n1")
    assert shell.json("sessions")[0]["wakes_at"] == 1_000_060
    assert " now " in shell.run("sessions").stdout
    shell.run("wake", "toy_nap")
    assert "in 59 min" in shell.run("sessions").stdout


def test_sessions_can_be_chosen_by_status(shell):
    """`--status` takes a status word and refuses others."""
    shell.run("run", "toy_desk", "inbox.jsonl")
    assert [row["id"] for row in shell.json("sessions", "--status", "waiting")] == ["case-m2"]
    assert shell.run("sessions", "--status", "odd").exit_code == 2


def test_a_session_nobody_works_on_is_stalled(shell):
    """The table says so."""
    shell.interrupt("case-m1")
    assert shell.json("sessions")[0]["stalled"] is True
    assert "running (stalled)" in shell.run("sessions").stdout


def test_a_lease_alone_is_no_session(shell, database):
    """Before its first checkpoint nothing of a session exists."""
    database.leases.acquire("case-m1", graph="toy_desk")
    assert shell.json("sessions") == []
    assert "No sessions" in shell.run("sessions").stdout


def test_sessions_can_be_found_by_the_policy_they_run_under(shell):
    """By the hash of the run's policies, or by that of one policy file among them."""
    shell.run("run", "toy_desk", "inbox.jsonl")
    shell.run("run", "toy_wait", '{"question": "why?"}', "--session", "q1")
    pinned = shell.json("policy", "toy_desk")
    desk = {row["id"] for row in shell.json("sessions")} - {"q1"}
    for hash in (pinned["hashes"]["policy"][:8], pinned["states"][-1]["policies"][0]["hash"][:8].upper()):
        assert {row["id"] for row in shell.json("sessions", "--policy", hash)} == desk
    assert shell.json("sessions", "--policy", "ffffffffffff") == []


def test_who_waits_for_an_answer_is_told_as_run_tells_it(shell):
    """The state that asks, with `.ask`, until somebody has answered; the path in the JSON is the chart's own."""
    ran = shell.run("run", "toy_desk", shell.inbox({"id": "m2", "text": "please refund"})).stdout
    (row,) = shell.json("sessions")
    assert row["path"] == ["WORKING.ACT"]
    tables = (shell.run(*words).stdout for words in (("sessions",), ("history", "case-m2"), ("show", "case-m2")))
    assert [" WORKING.ACT.ask" in each for each in (ran, *tables)] == [True] * 4


def test_who_was_answered_is_told_without_the_question(shell):
    """A cancelled run asks nobody."""
    shell.run("run", "toy_desk", shell.inbox({"id": "m2", "text": "please refund"}))
    shell.run("cancel", "case-m2", "--by", "ann")
    tables = (shell.run(*words).stdout for words in (("sessions",), ("history", "case-m2"), ("show", "case-m2")))
    assert not any(".ask" in each for each in tables)
