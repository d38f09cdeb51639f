"""A declared migration in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from stateward.cli.declaration import read_declaration
from stateward.errors import ConfigError
from stateward.migration import Migration


def written(folder: Path, text: str) -> Path:
    file = folder / "renamed.yaml"
    file.write_text(text)
    return file


def test_the_fields_are_those_of_a_migration(tmp_path):
    """What is left empty is gone."""
    text = "states: {A: B, C: }\nkeys: {k: }\nvalues: {v: [1]}\nevents: {e: f}\nwithdraw: [refund]\n"
    assert read_declaration(written(tmp_path, text)) == Migration(
        states={"A": "B", "C": None}, keys={"k": None}, values={"v": [1]}, events={"e": "f"},
        withdraw=frozenset({"refund"}),
    )  # fmt: skip


@pytest.mark.parametrize("text", ["", "{}"])
def test_an_empty_file_renames_nothing(tmp_path, text):
    """So does no file."""
    assert read_declaration(written(tmp_path, text)) == read_declaration(None) == Migration()


@pytest.mark.parametrize(("text", "key"), [("stats: {}", "stats"), ("states: {A: 1}", "states.A"), ("- a", "file")])
def test_what_does_not_fit_is_named(tmp_path, text, key):
    """With the file and the key."""
    with pytest.raises(ConfigError) as wrong:
        read_declaration(written(tmp_path, text))
    assert (wrong.value.key, wrong.value.file.endswith("renamed.yaml")) == (key, True)


def test_a_file_that_is_not_there_is_named(tmp_path):
    """Nothing is read in its place."""
    with pytest.raises(ConfigError, match=r"none\.yaml"):
        read_declaration(tmp_path / "none.yaml")
