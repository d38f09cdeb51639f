"""`stateward policy test`."""

from __future__ import annotations

import pytest

CASES = """
graph: toy_desk
cases:
  - {state: ACT, tool: look, arguments: {text: x}, expect: allow}
  - {state: ACT, tool: pay, arguments: {amount: 3}, expect: ask, rule: "tools.rules[2]"}
  - {state: ACT, tool: pay, approved: true, expect: allow}
  - {state: ACT, tool: look, spent: {calls@WORKING: 10}, expect: deny, rule: fuses.calls}
  - {state: ACT, tool: look, spent: {calls@WORKING: 9}, expect: allow}
  - {state: WORKING.ACT, tool: look, spent: {"calls:look": 4}, expect: deny, rule: max}
  - {state: ACT, tool: note, expect: deny, rule: declare}
  - {state: ACT, tool: pay, arguments: {amount: lots}, expect: deny, rule: schema}
"""


@pytest.fixture
def table(shell):
    """Write a table; a text for its cases."""

    def write(text):
        file = shell.folder / "cases.yaml"
        file.write_text(text)
        return str(file)

    return write


def test_every_case_is_decided_and_compared(shell, table):
    """The JSON shape is the documented one; the rule that stops a seventh case is spelt otherwise."""
    told = shell.json("policy", "test", table(CASES), code=1)
    assert set(told["cases"][0]) == {
        "line", "state", "kind", "name", "arguments", "expected", "came", "holds", "reason", "rule",
    }  # fmt: skip
    assert [(case["line"], case["came"]) for case in told["cases"] if not case["holds"]] == [(9, "deny")]
    assert told["failed"] == 1
    assert "WRONG" in shell.run("policy", "test", table(CASES)).stdout


def test_as_expected_is_exit_code_0(shell, table):
    """With a word on stderr."""
    result = shell.run("policy", "test", table(CASES.replace("rule: max", "rule: look")))
    assert (result.exit_code, "All 8 came as expected" in result.stderr) == (0, True)


def test_another_policy_is_tried_in_its_place(shell, table):
    """As the table says, or the command line."""
    loose = shell.folder / "toy_desk.yaml"
    loose.write_text("version: 1\ntools: {default: allowed}\n")
    case = "graph: toy_desk\ncases: [{state: ACT, tool: pay, expect: allow}]\n"
    assert shell.run("policy", "test", table(case)).exit_code == 1
    assert shell.run("policy", "test", table(case), "--policy", str(loose)).exit_code == 0
    assert shell.run("policy", "test", table(f"policy: {loose}\n{case}")).exit_code == 0


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("{state: NOPE, tool: pay, expect: ask}", "line 3"),
        ("{state: ACT, tool: nope, expect: ask}", "look, note, pay"),
        ("{state: DONE, tool: pay, expect: ask}", "WORKING.ACT"),
        ("{state: ACT, tool: pay, expect: maybe}", "line 3"),
        ("{state: ACT, tool: pay, model: m, expect: ask}", "line 3"),
        ("{state: ACT, tool: pay, expect: ask, spend: {}}", "spend"),
        ("{state: ACT, tool: pay, expect: ask, spent: {calls@NOPE: 1}}", "NOPE"),
    ],
)
def test_a_wrong_case_is_named_by_its_line(shell, table, case, said):
    """Exit code 2."""
    result = shell.run("policy", "test", table(f"graph: toy_desk\ncases:\n  - {case}\n"))
    assert (result.exit_code, said in result.stderr, "line 3" in result.stderr) == (2, True, True), result.stderr
