"""Shared options."""

from __future__ import annotations

from stateward.cli.options import DEFAULT_DB, again, again_with, person


def test_a_person_is_who_was_named_or_who_is_logged_in(monkeypatch):
    """Nobody is made up."""
    monkeypatch.setenv("LOGNAME", "carl")
    assert (person("ann"), person(None), person("")) == ("ann", "carl", "")


def test_going_on_names_the_database_and_the_settings():
    """What the run was started with, the next command needs as well."""
    told = again_with("one", overrides=["policy.fuses.usd=1"], db="sqlite:///x.db", graph="a:b")
    assert told == "stateward resume one --graph a:b --set policy.fuses.usd=1 --db sqlite:///x.db"


def test_going_on_says_what_was_said_of_drift():
    """Nothing where nothing was."""
    told = [again_with("one", overrides=[], db="sqlite:///x.db", drift=word) for word in ("refuse", "keep")]
    assert ["--drift keep" in line for line in told] == [False, True]


def test_going_on_names_no_database_that_is_found_anyway(monkeypatch):
    """The default, and that of the environment."""
    monkeypatch.setenv("STATEWARD_DB", "postgresql://ann:secret@host/desk")
    assert {again("inbox", db=db) for db in (DEFAULT_DB, "postgresql://ann:secret@host/desk")} == {"stateward inbox"}


def test_a_password_is_never_printed(monkeypatch):
    """Wherever it stands in the URL; the rest of the URL stays."""
    monkeypatch.delenv("STATEWARD_DB", raising=False)
    told = again("inbox", db="postgresql://ann:secret@host:5/desk?password=secret&sslmode=require")
    assert told == "stateward inbox --db 'postgresql://ann@host:5/desk?sslmode=require'"
