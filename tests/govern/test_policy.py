"""A policy is a frozen value whose hash covers its content and its mode."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest

from stateward.config import load_policy
from stateward.govern.policy import Fuses, Policy, Rule, ToolPolicy

FOLDER = Path(__file__).parent / "policies"


def test_a_policy_cannot_be_changed(working: Policy) -> None:
    """A policy that a run was pinned to stays what it was."""
    with pytest.raises(FrozenInstanceError):
        working.mode = "lenient"  # pyright: ignore[reportAttributeAccessIssue]


def test_a_policy_can_key_a_mapping(working: Policy) -> None:
    """Everything inside a policy is hashable, so nothing inside it can change."""
    assert {working: 1}[replace(working)] == 1


def test_the_hash_ignores_the_source(working: Policy) -> None:
    """The same policy read from another place has the same hash."""
    assert replace(working, source="elsewhere").hash == working.hash


def test_the_hash_follows_the_content(working: Policy) -> None:
    """An edited policy has another hash."""
    assert replace(working, fuses=Fuses(turns=11)).hash != working.hash


def test_the_hash_is_that_of_releases_whose_rules_could_not_expire() -> None:
    """A run that was pinned by them goes on, unless a rule expires now."""
    rule = Rule(match="pay", level="restricted")
    plain = Policy(name="p", tools=ToolPolicy(rules=(rule,)))
    assert plain.hash == "85325cb6db52053d119400947a7acd0226a4ace984885a00c1739e74bb4eae6d"
    assert replace(plain, tools=ToolPolicy(rules=(replace(rule, expires_s=60),))).hash != plain.hash


def test_the_hash_covers_the_mode(working: Policy) -> None:
    """Two modes with equal content have different hashes."""
    assert replace(working, mode="lenient").hash != working.hash


def test_a_mode_is_laid_over_the_rest(working: Policy) -> None:
    """A mode changes what it names and leaves everything else."""
    lenient = load_policy("working", folder=FOLDER, env={}, overrides=["policy.mode=lenient"])
    assert lenient.fuses == replace(working.fuses, turns=20)
    assert lenient.tools == working.tools
