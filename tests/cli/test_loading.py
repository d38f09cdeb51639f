"""Graphs by name or address."""

from __future__ import annotations

import json

import pytest

from stateward.cli.loading import is_known, load
from stateward.errors import DefinitionError


def test_a_graph_is_found_by_name_and_by_address(shell):
    """The name leads to the same object as `module:attribute`."""
    assert load("toy_desk").graph is load("toy_desk:graph").graph
    assert load("toy_wait").graph.machine.name == "toy_wait"


def test_the_manifest_is_found_from_a_folder_inside(shell):
    """As git finds its repository."""
    assert is_known("toy_desk", folder=shell.folder) is False
    assert load("toy_desk", folder=load("toy_desk").module.HERE / "policies").graph.machine.name == "toy_desk"


def test_overrides_build_the_graph_anew(shell):
    """The module's `build` gets them."""
    graph = load("toy_desk", overrides=("policy.fuses.turns=2",)).graph
    assert graph.machine.pins.policy != load("toy_desk").graph.machine.pins.policy


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nope", "Known graphs: `by_path`, `toy_desk`, `toy_nap`, `toy_wait`"),
        ("by_path", "path form"),
        ("no_such_module:graph", "cannot be imported"),
        ("toy_desk:job", "not a compiled chart"),
        ("toy_desk:nope", "not a compiled chart"),
    ],
)
def test_what_is_no_graph_is_refused(shell, name, said):
    """The message says what to write instead."""
    with pytest.raises(DefinitionError) as caught:
        load(name)
    assert said in str(caught.value)


def test_overrides_need_a_build_function(shell):
    """A module with a ready graph only cannot take them."""
    with pytest.raises(DefinitionError) as caught:
        load("toy_wait", overrides=("a=1",))
    assert "no `build(overrides=…)`" in str(caught.value)


def test_a_broken_manifest_is_refused(tmp_path):
    """The message names the file."""
    (tmp_path / "langgraph.json").write_text("{")
    with pytest.raises(DefinitionError):
        load("toy_desk", folder=tmp_path)
    (tmp_path / "langgraph.json").write_text(json.dumps([]))
    with pytest.raises(DefinitionError):
        load("toy_desk", folder=tmp_path)
