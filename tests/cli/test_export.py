"""`stateward export`."""

from __future__ import annotations

import json

import pytest


def test_a_chart_is_written_as_scxml(shell):
    """With the activities by name and what they may touch."""
    text = shell.run("export", "toy_wait", "--format", "scxml", "--without-policies").stdout
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<scxml xmlns="http://www.w3.org/2005/07/scxml"')
    assert '<invoke type="urn:stateward:activity" id="TALK.do" src="talk" sw:model="talker"/>' in text
    assert 'cond="is_polite"' in text


def test_a_chart_is_written_as_an_xstate_machine(shell):
    """JSON on stdout."""
    machine = json.loads(shell.run("export", "toy_wait", "--format", "xstate", "--without-policies").stdout)
    assert machine["id"] == "toy_wait"
    assert machine["states"]["TALKING"]["states"]["TALK"]["invoke"]["src"] == "talk"


def test_it_can_be_written_to_a_file(shell):
    """`--out` writes the same text."""
    file = shell.folder / "chart.scxml"
    words = ("export", "toy_wait", "--format", "scxml", "--without-policies")
    assert shell.run(*words, "--out", str(file)).exit_code == 0
    assert file.read_text() == shell.run(*words).stdout
    assert shell.run(*words, "--out", str(shell.folder / "no" / "x")).exit_code == 2


@pytest.mark.parametrize("graph", ["toy_wait", "toy_desk"])
def test_policies_are_not_lost_unsaid(shell, graph):
    """Those of the chart as little as those of its states."""
    refused = shell.run("export", graph, "--format", "scxml")
    assert refused.exit_code == 2
    assert "A policy cannot be written" in refused.stderr
    assert "`--without-policies`" in refused.stderr


def test_an_unknown_format_is_refused(shell):
    """With the two that there are."""
    refused = shell.run("export", "toy_wait", "--format", "dot")
    assert refused.exit_code == 2
    assert "Write scxml or xstate" in refused.stderr
