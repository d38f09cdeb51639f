"""Databases and sessions in them."""

from __future__ import annotations

import pytest

from stateward.cli.place import find_session, open_existing
from stateward.errors import CheckpointError, DefinitionError, UnknownSession


def test_a_database_that_is_not_there_is_not_made(tmp_path):
    """Asking is no reason to create a file."""
    with pytest.raises(CheckpointError):
        open_existing(f"sqlite:///{tmp_path}/none.db")
    assert list(tmp_path.iterdir()) == []


def test_a_session_is_found_with_its_graph(shell, database):
    """By the name in its row; another graph is refused."""
    shell.interrupt("one")
    assert find_session("one", database=database).graph.machine.name == "toy_desk"
    with pytest.raises(DefinitionError):
        find_session("one", database=database, graph="toy_wait")
    with pytest.raises(UnknownSession):
        find_session("two", database=database)
