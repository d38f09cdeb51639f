"""What a policy file may say of the arguments of a tool."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.errors import DefinitionError
from stateward.govern.kinds.arguments import ArgumentRule, ArgumentShape, argument_rule


def test_a_rule_says_what_its_file_said() -> None:
    """Frozen and read back it is the same, so that its hash is."""
    said: dict[str, Any] = {
        "min": 1,
        "values": ["a", 2],
        "hosts": ["example.org"],
        "under": "notes",
        "required": True,
        "schema": {"type": "string", "maxLength": 3},
    }
    assert argument_rule("x", ArgumentShape.model_validate(said)).content == said


@pytest.mark.parametrize("name", ["", "a.", ".a", "a..b", "1a", "a b", "a[0]", "ä"])
def test_a_name_is_a_dotted_way(name: str) -> None:
    """Any other would lead nowhere."""
    with pytest.raises(DefinitionError):
        ArgumentRule(name=name, max=1)


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"min": 2, "max": 1},
        {"min_length": 2, "max_length": 1},
        {"values": ()},
        {"hosts": ()},
        {"pattern": "("},
        {"pattern": "(?=a)"},
        {"max": True},
        {"max": float("nan")},
        {"schema": "[]"},
    ],
)
def test_what_holds_for_nothing_or_everything_is_refused(said: dict[str, Any]) -> None:
    """Where it is written."""
    with pytest.raises(DefinitionError):
        ArgumentRule(name="x", **said)
