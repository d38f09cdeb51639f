"""Databases and sessions in them."""

from __future__ import annotations

import pytest

from stateward.cli.place import find_session, open_existing
from stateward.errors import CheckpointError, DefinitionError, UnknownSession


def test_a_database_that_is_not_there_is_not_made(shell):
    """Asking is no reason to create a file."""
    with pytest.raises(CheckpointError, match="no database yet"):
        open_existing(f"sqlite:///{shell.folder}/none.db")
    assert list(shell.folder.iterdir()) == []


def test_a_server_without_tables_is_left_as_it_is(postgres):
    """A wrong name is told, no table is made there, and the password is not told."""
    url = postgres.url()
    with pytest.raises(CheckpointError, match="no database yet") as refused:
        open_existing(url.replace("postgres:@", "postgres:secret@"))
    assert "secret" not in str(refused.value)
    with pytest.raises(CheckpointError, match="no database yet"):
        open_existing(url)


@pytest.mark.parametrize("backend", ["postgresql"])
def test_no_command_wants_a_file(shell):
    """A job is run, answered, looked at, forked and gone on with over a server."""
    shell.run("run", "toy_desk", "inbox.jsonl")
    done = [shell.run("answer", shell.json("inbox")[0]["id"], "approve", "--by", "ann")]
    words = """sessions; history case-m1; show case-m1; diff case-m1 1 2; branches case-m1; replay case-m1;
        draw toy_desk --session case-m1; wake toy_desk; prune --keep 5; fork case-m4 2; resume case-m4"""
    done += [shell.run(*one.split()) for one in words.split(";")]
    assert [(one.exit_code, one.stderr) for one in done if one.exit_code] == []
    assert (shell.effects("pay"), shell.effects("note")) == (1, 5)


def test_a_database_in_memory_is_nothing_to_ask(shell):
    """It ended with the command that ran something in it."""
    result = shell.run("inbox", "--db", "memory:")
    assert (result.exit_code, "ends with the command" in result.stderr) == (2, True)


def test_a_session_is_found_with_its_graph(shell, database):
    """By the name in its row; another graph is refused."""
    shell.interrupt("one")
    assert find_session("one", database=database).graph.machine.name == "toy_desk"
    with pytest.raises(DefinitionError):
        find_session("one", database=database, graph="toy_wait")
    with pytest.raises(UnknownSession):
        find_session("two", database=database)
