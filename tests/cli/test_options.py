"""Shared options."""

from __future__ import annotations

from stateward.cli.options import person


def test_a_person_is_who_was_named_or_who_is_logged_in(monkeypatch):
    """Nobody is made up."""
    monkeypatch.setenv("LOGNAME", "carl")
    assert (person("ann"), person(None), person("")) == ("ann", "carl", "")
