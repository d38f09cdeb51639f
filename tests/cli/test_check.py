"""`stateward check`."""

from __future__ import annotations

import json


def test_a_clean_chart_passes(shell):
    """Exit code 0, no findings, and a line that says what was looked at."""
    told = shell.json("check", "toy_desk")
    assert told == {
        "graph": "toy_desk",
        "states": 5,
        "configurations": 4,
        "exact": True,
        "properties": [{"property": "always_before('ACT', 'CLOSE')", "holds": True}],
        "findings": [],
    }
    shown = shell.run("check", "toy_desk").stdout
    assert "nothing to complain about. 5 states, 4 configurations, all explored; 1 of 1 property proven" in shown


def test_an_error_is_told_with_rule_path_and_way(shell):
    """Exit code 1; the JSON shape is the documented one."""
    findings = shell.json("check", "toy_wait", code=1)["findings"]
    assert {tuple(finding) for finding in findings} == {("severity", "rule", "path", "message", "witness")}
    assert [(each["severity"], each["rule"], each["path"]) for each in findings] == [
        ("error", "unreachable", "LOST"),
        ("warning", "no-timeout", "TALKING.TALK"),
    ]
    assert findings[1]["witness"] == [{"took": "start", "assumed": [], "at": ["TALKING.TALK"]}]
    assert "LOST" in shell.run("check", "toy_wait").stdout


def test_warnings_count_when_asked_to(shell):
    """`--strict` makes the exit code 1; a coarse look leaves a note only."""
    assert shell.run("check", "toy_desk", "--strict").exit_code == 0
    told = shell.json("check", "toy_desk", "--bound", "1", "--strict")
    assert [finding["rule"] for finding in told["findings"]] == ["bound"]
    assert not told["exact"]


def test_totals_are_told_when_asked_for(shell):
    """Each with its limits and a way; what nothing bounds is null, and told as unbounded."""
    told = json.loads(shell.run("check", "toy_desk", "--totals", "--json").stdout)["totals"]
    by_unit = {total["unit"]: total for total in told}
    assert by_unit["turns"]["most"] == 0
    assert by_unit["sum:pay.amount"]["most"] is None
    assert "unbounded" in shell.run("check", "toy_desk", "--totals").stdout


def test_notes_are_counted_and_shown_when_asked_for(shell):
    """Nothing is wrong by a note, so it hides nothing that is; the JSON has all."""
    shown = shell.run("check", "toy_desk", "--bound", "1").stdout
    assert ("  bound" in shown, "toy_desk: 1 note (shown with `--notes`)." in shown) == (False, True)
    shown = shell.run("check", "toy_desk", "--bound", "1", "--notes").stdout
    assert ("  bound" in shown, "toy_desk: 1 note." in shown) == (True, True)
    assert [finding["severity"] for finding in shell.json("check", "toy_desk", "--bound", "1")["findings"]] == ["note"]
