"""`stateward check`."""

from __future__ import annotations


def test_a_clean_chart_passes(shell):
    """Exit code 0 and no findings."""
    assert shell.json("check", "toy_desk") == {"graph": "toy_desk", "states": 5, "findings": []}
    assert "nothing to complain" in shell.run("check", "toy_desk").stdout


def test_an_error_is_told_with_rule_and_path(shell):
    """Exit code 1; the JSON shape is the documented one."""
    (finding,) = shell.json("check", "toy_wait", code=1)["findings"]
    assert set(finding) == {"severity", "rule", "path", "message", "witness"}
    assert (finding["severity"], finding["rule"], finding["path"]) == ("error", "unreachable", "LOST")
    assert "LOST" in shell.run("check", "toy_wait").stdout
