"""`stateward audit`."""

from __future__ import annotations

import json
from base64 import b64encode

import pytest


@pytest.fixture
def logged(shell):
    """Two sessions with some records."""
    shell.run("run", "toy_desk", shell.inbox({"id": "m1", "text": "hello"}, {"id": "m2", "text": "please refund"}))
    return shell


def test_rows_are_chosen_by_session_kind_and_time(logged):
    """The JSON shape is the documented one."""
    rows = logged.json("audit", "--session", "case-m1", "--event", "call")
    assert [row["record"]["name"] for row in rows] == ["look", "note"]
    assert set(rows[0]) == {"seq", "record", "previous", "hash"}
    assert logged.json("audit", "--until", "2001-01-01") == []
    assert len(logged.json("audit", "--since", "2001-01-01T00:00:00+01:00")) >= 3
    assert logged.run("audit", "--since", "soon").exit_code == 2


def test_only_the_newest_are_listed_and_the_rest_is_told(logged):
    """On stderr, so that the output stays what it is."""
    result = logged.run("audit", "--last", "1", "--session", "case-m1")
    assert "older rows are not shown" in result.stderr
    assert "completed" in result.stdout


def test_a_log_that_holds_is_told_with_its_head(logged):
    """The head is what `--head` prints, and is compared with."""
    told = logged.json("audit", "--verify")
    head = logged.run("audit", "--head").stdout.strip()
    assert (told["holds"], told["head"]) == (True, head)
    assert logged.run("audit", "--verify", "--head", head).exit_code == 0


def test_a_head_that_is_not_held_is_exit_code_1(logged):
    """As every break of the chain is."""
    result = logged.run("audit", "--verify", "--head", f"2:{'a' * 64}")
    assert (result.exit_code, "does not hold row 2" in result.stderr) == (1, True)
    assert logged.json("audit", "--verify", "--head", f"2:{'a' * 64}", code=1)["holds"] is False


@pytest.mark.parametrize("words", [("1:ab",), ("--head", "1:ab"), ("--verify", "--head", "no head")])
def test_a_head_that_is_none_is_refused(logged, words):
    """Exit code 2."""
    assert logged.run("audit", *words).exit_code == 2


def test_a_broken_row_is_named(logged, database):
    """With exit code 1."""
    on = " ON stateward_audit" if database.url.startswith("postgres") else ""
    with database.transaction() as cur:
        cur.execute(f"DROP TRIGGER stateward_audit_no_update{on}")
        cur.execute("UPDATE stateward_audit SET record = replace(record, 'session', 'sessioN') WHERE seq = 1")
    result = logged.run("audit", "--verify")
    assert (result.exit_code, "Row 1 " in result.stderr) == (1, True)


def test_all_rows_are_written_as_json_lines(logged):
    """A file that is there stays."""
    file = logged.folder / "audit.jsonl"
    told = logged.json("audit", "--export", str(file))
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert (told["rows"], [line["seq"] for line in lines]) == (len(lines), list(range(1, len(lines) + 1)))
    assert logged.run("audit", "--export", str(file)).exit_code == 2


def test_the_key_of_the_environment_chains_and_verifies(logged, monkeypatch):
    """Without it the log can be read, not verified."""
    monkeypatch.setenv("STATEWARD_AUDIT_KEY", f"k1:{b64encode(b'k' * 16).decode()}")
    logged.run("revoke", "--all", "--tool", "pay", "--by", "ann")
    assert logged.json("audit", "--verify")["head"].split(":")[1] == "k1"
    monkeypatch.delenv("STATEWARD_AUDIT_KEY")
    assert len(logged.json("audit", "--event", "revoked")) == 1
    assert logged.run("audit", "--verify").exit_code == 2


def test_a_long_log_is_exported_whole(logged, monkeypatch):
    """With a bar that shows how far it is."""
    monkeypatch.setattr("stateward.cli.rendering.MANY", 1)
    assert logged.json("audit", "--export", str(logged.folder / "all.jsonl"))["rows"] > 1


@pytest.mark.parametrize(
    "part", [("--session", "a"), ("--event", "call"), ("--since", "2026-01-01"), ("--export", "x")]
)
@pytest.mark.parametrize("whole", ["--verify", "--head"])
def test_a_part_of_the_log_is_not_verified(shell, whole, part):
    """The chain is over all rows; exit code 2, and nothing is written."""
    shell.run("run", "toy_desk", "inbox.jsonl")
    told = shell.run("audit", whole, *part)
    assert told.exit_code == 2
    assert f"`{whole}` is of the whole log" in told.stderr
    assert not (shell.folder / "x").exists()
