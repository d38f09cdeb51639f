"""The JSON shapes of docs/cli.md are those of the commands."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.main import get_command

from stateward.cli.app import build_app

TEXT = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
SHAPES = {
    heading: json.loads(block) for heading, block in re.findall(r"^### (.+?)\n.*?```json\n(.+?)```", TEXT, re.M | re.S)
}
ROOM = ("--graph", "toy_room:graph")
STRICT = "version: 1\nname: toy_desk\nfuses: {turns: 2}\ntools: {rules: [{match: look, level: allowed}]}\n"
CASES = "graph: toy_desk\ncases:\n  - {state: ACT, tool: pay, expect: ask}\n"
FREE = {"record", "arguments", "reason", "summary", "values", "value", "tools", "approvers", "witness"}
"""Keys whose content is the graph's own, or a list of words that may be empty."""


def shape(value: object) -> object:
    """Keep the keys, and of a list the keys of its elements together."""
    if isinstance(value, dict):
        return {key: None if key in FREE else shape(inner) for key, inner in value.items()}
    if isinstance(value, list):
        merged: dict[str, object] = {}
        for inner in value:
            merged |= shape(inner) if isinstance(inner, dict) else {}
        return merged
    return None


@pytest.mark.parametrize(
    ("heading", "words", "code"),
    [
        ("`new NAME --json`", ("new", "claims", "--in", "FOLDER"), 0),
        ("`run GRAPH FILE --json`", ("run", "toy_desk", "BAD"), 1),
        ("`run GRAPH JSON --json`, `resume --json`, `answer --json`", ("answer", "ASK", "approve"), 0),
        ("`answer --no-resume --json`", ("answer", "ASK", "approve", "--no-resume"), 0),
        ("`send GRAPH SESSION EVENT --json`", ("send", "toy_nap", "n1", "stop"), 0),
        ("`cancel SESSION --json`", ("cancel", "n1"), 0),
        ("`wake GRAPH --json`", ("wake", "toy_nap"), 0),
        ("`inbox --json`", ("inbox",), 0),
        ("`sessions --json`", ("sessions",), 0),
        ("`history SESSION --json`", ("history", "case-m2"), 0),
        ("`show SESSION --json`", ("show", "case-m2", "--step", "2"), 0),
        ("`diff SESSION A B --json`", ("diff", "case-m2", "0", "2"), 0),
        ("`branches SESSION --json`", ("branches", "case-m2"), 0),
        ("`replay SESSION --json`", ("replay", "case-m2"), 0),
        ("`freeze SESSION FILE --json`", ("freeze", "case-m2", "FILE"), 0),
        ("`migrate SESSION --json`", ("migrate", "r1", *ROOM, "--set", "state=B", "--state", "OPEN=B", "--dry-run"), 0),
        ("`policy GRAPH [STATE] --json`", ("policy", "toy_desk"), 0),
        ("`revoke SESSION WORD --json`", ("revoke", "case-m2", "pay", "--by", "ann"), 0),
        ("`audit --json`", ("audit", "--event", "call", "--session", "case-m2"), 0),
        ("`audit --verify --json`", ("audit", "--verify"), 0),
        ("`policy diff A B --json`", ("policy", "diff", "toy_desk", "STRICT"), 0),
        (
            "`policy diff --reach A B --json`",
            ("policy", "diff", "--reach", "toy_desk", "STRICT", "--graph", "toy_desk"),
            0,
        ),
        ("`policy test FILE --json`", ("policy", "test", "CASES"), 0),
        ("`policy replay FILE --json`", ("policy", "replay", "STRICT"), 0),
        ("`check GRAPH --json`", ("check", "toy_wait"), 1),
        ("`simulate GRAPH --json`", ("simulate", "toy_wait"), 0),
    ],
)
def test_what_is_documented_is_what_is_printed(shell, heading, words, code):
    """The keys of the example are the keys of the output, all the way down."""
    shell.run("run", "toy_desk", shell.inbox({"id": "m2", "text": "please refund"}))
    shell.nap("n1")
    shell.run("run", ROOM[1], "{}", "--session", "r1")
    real = {"ASK": shell.json("inbox")[0]["id"], "BAD": shell.inbox({"id": "m1", "text": "hello"}, "{")}
    real |= {"FILE": str(shell.folder / "frozen.json"), "FOLDER": str(shell.folder)}
    for name, text in (("STRICT", STRICT), ("CASES", CASES)):
        real[name] = str(shell.folder / f"{name.lower()}.yaml")
        Path(real[name]).write_text(text, encoding="utf-8")
    printed = shape(shell.json(*(real.get(word, word) for word in words), code=code))
    assert _without_verdicts(printed) == _without_verdicts(shape(SHAPES[heading]))


def test_every_documented_shape_is_tested():
    """Nothing is documented and forgotten."""
    assert len(SHAPES) == 26


@pytest.mark.parametrize("document", ["README.md", "docs/cli.md"])
def test_every_command_is_documented(document):
    """In the table of commands, where people look for it."""
    text = (Path(__file__).parents[2] / document).read_text(encoding="utf-8")
    commands = get_command(build_app()).commands  # pyright: ignore[reportAttributeAccessIssue]  # it is a group
    assert [name for name in commands if not re.search(rf"^\| .*`(stateward )?{name}[ `]", text, re.M)] == []


def _without_verdicts(told: object) -> object:
    """The toy desk has no guards."""
    return json.loads(re.sub(r'"verdicts": \{[^}]*\}', '"verdicts": {}', json.dumps(told)))
