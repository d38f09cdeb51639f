"""`stateward simulate`: commands from a pipe, one line of JSON each."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from stateward.cli.app import build_app


@pytest.fixture
def simulate(shell):
    """Run a script; return the lines that were printed."""

    def run(*lines: str, graph: str = "toy_wait", code: int = 0, words: tuple[str, ...] = ("--json",)) -> list[Any]:
        given = "\n".join(lines) + "\n"
        result = CliRunner().invoke(build_app(), ["simulate", graph, *words], input=given)
        assert result.exit_code == code, result.output
        return [json.loads(line) for line in result.stdout.splitlines()] if "--json" in words else [result.output]

    return run


STATE = ("--json", "--state", '{"question": "please"}')


def test_it_begins_where_the_chart_begins(simulate):
    """Before any command; end of input ends it."""
    (begun,) = simulate("")
    assert begun["at"] == ["TALKING.TALK"]
    assert (begun["activities"], begun["enabled"]) == (["TALKING.TALK"], ["fuse"])


def test_activities_end_by_hand_and_guards_are_told(simulate):
    """What the activity writes is what the guard sees."""
    *_, done = simulate('complete {"said": ["hi"]}', words=STATE)
    assert (done["at"], done["is_final"]) == (["DONE"], True)
    assert done["guards"] == [{"guard": "is_polite", "passed": True}]
    assert done["transitions"] == ["TALKING.TALK -> DONE"]
    assert done["state"] == {"question": "please", "said": ["hi"]}


def test_events_have_types(simulate):
    """Data that does not fit is refused, and nothing has changed."""
    words = ("--json", "--state", '{"question": "hello"}')
    *_, refused, again = simulate(
        "complete", 'send ask {"times": "often"}', 'send ask {"times": 2}', code=1, words=words
    )
    assert "does not fit `Ask`" in refused["error"]["what"]
    assert again["at"] == ["TALKING.TALK"]


def test_activities_fail_by_hand(simulate):
    """With the event of a fuse, for instance."""
    *_, tired = simulate("fail fuse.turns")
    assert tired["at"] == ["TIRED"]


def test_undo_takes_the_last_command_back(simulate):
    """State and place are as before; at the beginning there is nothing to undo."""
    *_, back, nothing = simulate("set question=3", "fail fuse", "undo", "undo", "undo", code=1)
    assert nothing["error"]["what"] == "There is nothing to undo"
    assert (back["at"], back["state"]) == (["TALKING.TALK"], {})


def test_what_fails_changes_nothing(simulate):
    """An activity that does not run cannot end."""
    *_, refused, shown = simulate("complete TALKING.REST", "show", code=1)
    assert "no running activity" in refused["error"]["what"]
    assert shown["activities"] == ["TALKING.TALK"]


def test_an_event_that_nobody_takes_is_told(simulate):
    """It is ignored, and the place stays."""
    *_, ignored = simulate("send nonsense")
    assert (ignored["unhandled"], ignored["at"]) == (["nonsense"], ["TALKING.TALK"])


def test_people_see_a_tree_and_what_can_happen(simulate):
    """Without --json; comments and empty lines are passed over."""
    (shown,) = simulate("# a comment", "", "wait 5s", "help", "state", "quit", "bogus", words=())
    for part in ("toy_wait", "TALKING", "reacts to fuse", "running   TALKING.TALK", "time      5 s", "undo  ", "{}"):
        assert part in shown


def test_a_state_that_is_no_object_is_refused(shell):
    """Exit code 2, before anything is shown."""
    assert shell.run("simulate", "toy_wait", "--state", "[]").exit_code == 2
    assert shell.run("simulate", "toy_wait", "--state", "{").exit_code == 2
