"""Opening a database as the environment says."""

from __future__ import annotations

import base64

import pytest

import stateward as sw
from stateward.errors import CheckpointError
from stateward.run.store.cipher import KEY_VARIABLE, TEXT_MAGIC
from stateward.run.store.database import Database


def reason(database: Database) -> str:
    """A column of the user's, as it is stored."""
    database.ledger.raise_limit("s", "r", "", "usd", 1, "ann", "because")
    with database.read() as cur:
        return str(cur.execute("SELECT reason FROM stateward_limits").fetchone()[0])


def test_the_environments_key_encrypts(monkeypatch: pytest.MonkeyPatch) -> None:
    """No code has to know of it."""
    monkeypatch.setenv(KEY_VARIABLE, "k1:" + base64.b64encode(b"1" * 32).decode())
    with sw.open("memory:") as database:
        assert reason(database).startswith(TEXT_MAGIC)


def test_given_keys_stand_above_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in the environment is not even read."""
    monkeypatch.setenv(KEY_VARIABLE, "nonsense")
    with sw.open("memory:", keys={"k2": b"2" * 16}) as database:
        assert reason(database).startswith(TEXT_MAGIC)


def test_without_keys_nothing_is_encrypted(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty variable is none."""
    monkeypatch.setenv(KEY_VARIABLE, " ")
    with sw.open("memory:") as database:
        assert reason(database) == "because"


def test_a_key_that_is_none_opens_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rather than storing in clear."""
    monkeypatch.setenv(KEY_VARIABLE, "k1:short")
    with pytest.raises(CheckpointError, match="STATEWARD_KEY"):
        sw.open("memory:")
