"""The application as a whole: help and errors."""

from __future__ import annotations

import pytest

from stateward.errors import StatewardError

COMMANDS = ("run", "inbox", "answer", "sessions", "history", "resume", "policy", "draw", "check")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches_with_examples(shell, command):
    """Every command shows how it is used."""
    result = shell.run(command, "--help")
    assert result.exit_code == 0
    assert f"stateward {command}" in result.stdout.partition("Examples:")[2]


def test_the_commands_are_listed(shell):
    """The help of the whole names every command."""
    shown = shell.run("--help").stdout
    assert all(command in shown for command in COMMANDS)


def test_an_error_is_what_where_and_fix_on_stderr(shell):
    """No traceback, nothing on stdout, exit code 2."""
    result = shell.run("draw", "nope")
    assert result.exit_code == 2
    assert [line.split(":")[0] for line in result.stderr.splitlines()] == ["error", "where", "fix"]
    assert result.stdout == ""


def test_debug_shows_the_exception(shell, monkeypatch):
    """`STATEWARD_DEBUG=1` lets it through."""
    monkeypatch.setenv("STATEWARD_DEBUG", "1")
    assert isinstance(shell.run("draw", "nope").exception, StatewardError)


def test_a_wrong_database_url_is_refused(shell):
    """As any other error."""
    assert shell.run("sessions", "--db", "mysql://x").exit_code == 2
