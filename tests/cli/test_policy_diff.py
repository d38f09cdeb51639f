"""`stateward policy diff`."""

from __future__ import annotations

import pytest

DESK = "toy_desk"


@pytest.fixture
def files(shell):
    """The desk's policy, and one that calls more, pays without asking and waits less."""
    file = shell.folder / "loose.yaml"
    file.write_text(
        "version: 1\nname: toy_desk\nfuses: {turns: 4, calls: 20}\ncall_timeout_s: 10\n"
        "tools:\n  rules:\n    - {match: look|note, level: allowed, max_calls: 4}\n    - {match: pay, level: allowed}\n"
        "modes:\n  small: {fuses: {calls: 2}}\n"
    )
    return str(file)


def verdicts(told):
    """Part to verdict."""
    return {change["part"]: change["verdict"] for change in told["changes"]}


def test_each_part_is_told_with_what_it_does(shell, files):
    """The JSON shape is the documented one."""
    told = shell.json("policy", "diff", DESK, files)
    assert set(told["changes"][0]) == {"part", "what", "before", "after", "verdict"}
    assert verdicts(told) == {
        "fuses.calls": "looser", "call_timeout_s": "tighter", "tool note: max_calls": "tighter",
        "tool pay: level": "looser",
    }  # fmt: skip
    assert (told["tighter"], told["looser"], told["mixed"]) == (2, 2, 0)


def test_what_is_said_of_many_names_is_one_row(shell, files):
    """The names are made of the pattern, and nobody reads the same of each; the JSON has them all."""
    for level in ("allowed", "restricted"):
        rules = f"[{{match: 'read_(a|b|c|d|e)', level: {level}}}]"
        (shell.folder / f"{level}.yaml").write_text(f"version: 1\nname: x\ntools: {{rules: {rules}}}\n")
    words = ("policy", "diff", *(str(shell.folder / f"{level}.yaml") for level in ("allowed", "restricted")))
    told = shell.run(*words).stdout
    assert told.count("level") == 1
    assert "read_a, read_b, read_c and" in " ".join(told.split())
    assert len(shell.json(*words)["changes"]) >= 4


def test_no_looser_is_exit_code_1(shell, files):
    """And 0 where everything is the same or tighter."""
    assert shell.run("policy", "diff", DESK, files, "--no-looser").exit_code == 1
    assert shell.run("policy", "diff", files, f"{files}@small", "--no-looser").exit_code == 0
    assert "Nothing is tighter" in shell.run("policy", "diff", DESK, DESK).stdout


def test_a_run_s_hash_stands_for_its_policies(shell, files):
    """The policy of the same name among them is compared with a file, all of them with those of another run."""
    shell.run("run", "toy_desk", "inbox.jsonl")
    shell.run("run", "toy_desk", "inbox.jsonl", "policy.fuses.calls=3")
    hashes = [
        shell.json("policy", "toy_desk", *more)["hashes"]["policy"][:12]
        for more in ((), ("--set", "policy.fuses.calls=3"))
    ]
    assert verdicts(shell.json("policy", "diff", hashes[0], files))["fuses.calls"] == "looser"
    shell.run("run", "toy_desk", shell.inbox({"id": "x9", "text": "hi"}), "policy.fuses.calls=3")
    assert verdicts(shell.json("policy", "diff", *hashes)) == {"WORKING: fuses.calls": "tighter"}


def test_what_a_run_can_reach_is_compared_with_ways(shell, files):
    """The JSON has both totals with their sequences; more under the newer one fails `--no-looser`."""
    told = shell.json("policy", "diff", "--reach", DESK, files, "--graph", "toy_desk")
    calls = next(each for each in told["reach"] if each["unit"] == "calls")
    assert (calls["before"]["most"], calls["after"]["most"], calls["compared"]) == (10, 20, "more")
    assert calls["after"]["witness"]
    words = ("policy", "diff", "--reach", DESK, files, "--graph", "toy_desk", "--no-looser")
    assert (shell.run(*words).exit_code, shell.run(*words[:-3]).exit_code) == (1, 2)


@pytest.mark.parametrize("words", [("nope", DESK), (f"{DESK}@nope", DESK), ("abcdef12", DESK)])
def test_what_is_not_there_is_refused(shell, words):
    """A file, a mode, a hash: exit code 2."""
    shell.run("run", "toy_desk", "inbox.jsonl")
    assert shell.run("policy", "diff", *words).exit_code == 2
