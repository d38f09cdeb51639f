"""`stateward replay`."""

from __future__ import annotations


def test_a_recorded_run_comes_to_the_same(shell):
    """The exit code says so, and nothing was paid again."""
    shell.run("run", "toy_desk", shell.inbox({"id": "m2", "text": "please refund"}))
    shell.run("answer", shell.json("inbox")[0]["id"], "approve", "--by", "ann")
    assert shell.effects("pay") == 1
    told = shell.json("replay", "case-m2")
    assert [(run["run_no"], run["same"], run["divergence"]) for run in told["runs"]] == [(1, True, None)]
    assert told["runs"][0]["calls"] == 3
    assert "the same" in shell.run("replay", "case-m2").stdout
    assert shell.effects("pay") == 1


def test_a_difference_is_told_and_the_exit_code_is_one(shell, database):
    """With the step, the state, and what came instead."""
    shell.run("run", "toy_desk", shell.inbox({"id": "m1", "text": "hello"}))
    shell.run("run", "toy_desk", shell.inbox({"id": "m2", "text": "hello"}))
    with database.transaction() as cur:
        cur.execute("UPDATE stateward_journal SET fingerprint = 'other' WHERE session = 'case-m1'")
    result = shell.run("replay", "case-m1")
    assert result.exit_code == 1
    assert "differs from its record at step 2 in `WORKING.ACT`" in result.stdout
    (difference,) = shell.json("replay", "case-m1", code=1)["runs"][0]["divergence"]["differences"]
    assert set(difference) == {"what", "recorded", "came"}
    assert shell.run("replay", "case-m2").exit_code == 0


def test_a_run_that_is_not_there_is_refused(shell):
    """With those that are."""
    shell.run("run", "toy_desk", shell.inbox({"id": "m1", "text": "hello"}))
    result = shell.run("replay", "case-m1", "--run", "7")
    assert result.exit_code == 2
    assert "no run 7" in result.stderr
