"""`stateward policy`."""

from __future__ import annotations


def test_every_part_is_told_with_its_origin(shell):
    """The JSON shape is the documented one."""
    told = shell.json("policy", "toy_desk", "ACT")
    assert set(told) == {"graph", "mode", "hashes", "states"}
    (state,) = told["states"]
    assert set(state) == {"path", "hash", "tools", "policies", "parts"}
    assert (state["path"], state["tools"]) == ("WORKING.ACT", ["look", "pay"])
    assert set(state["policies"][0]) == {"scope", "name", "source", "hash"}
    turns = next(part for part in state["parts"] if part["part"] == "limit turns")
    assert turns["value"] == 4
    assert "WORKING (" in turns["origin"]


def test_without_a_state_all_states_that_do_something_are_told(shell):
    """A superstate's policy shows on each state inside it, those under the same policies together."""
    assert [state["path"] for state in shell.json("policy", "toy_desk")["states"]] == [
        "INTAKE", "WORKING.ACT", "WORKING.CLOSE",
    ]  # fmt: skip
    shown = shell.run("policy", "toy_desk").stdout
    assert "WORKING.ACT (tools: look, pay); WORKING.CLOSE (tools: note)" in shown


def test_a_superstate_and_an_override_can_be_looked_at(shell):
    """`--set` shows what an override would do."""
    (state,) = shell.json("policy", "toy_desk", "WORKING", "--set", "policy.fuses.turns=2")["states"]
    turns = next(part for part in state["parts"] if part["part"] == "limit turns")
    assert turns["value"] == 2


def test_an_unknown_state_is_refused(shell):
    """The message lists the states."""
    result = shell.run("policy", "toy_desk", "NOPE")
    assert result.exit_code == 2
    assert "WORKING.CLOSE" in result.stderr
