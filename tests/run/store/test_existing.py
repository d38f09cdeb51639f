"""Whether a database is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from stateward.errors import CheckpointError
from stateward.run.store.database import open_database
from stateward.run.store.existing import is_there
from tests.postgres import Server


def test_a_file_is_there_once_something_was_opened(tmp_path: Path) -> None:
    """Looking makes none."""
    url = f"sqlite:///{tmp_path / 'a.db'}"
    assert not is_there(url)
    assert not (tmp_path / "a.db").exists()
    open_database(url).close()
    assert is_there(url)


def test_tables_on_a_server_are_there_once_something_was_opened(postgres: Server) -> None:
    """Looking makes none."""
    url = postgres.url()
    assert (is_there(url), is_there(url)) == (False, False)
    open_database(url).close()
    assert is_there(url)


def test_memory_is_never_there() -> None:
    """Another process finds nothing in it."""
    assert not is_there("memory:")


def test_a_server_that_is_away_is_an_error_without_the_password() -> None:
    """It is not taken for an empty one."""
    with pytest.raises(CheckpointError) as away:
        is_there("postgresql://ann:secret@localhost:1/none")
    assert "secret" not in str(away.value)


def test_a_url_that_cannot_be_read_is_an_error_of_one_line() -> None:
    """It is not taken for a database that is not there."""
    with pytest.raises(CheckpointError, match="URL cannot be read") as wrong:
        is_there("postgresql://ann:secret@host/desk?bad=1")
    assert ("\n" in wrong.value.what, "secret" in str(wrong.value)) == (False, False)
