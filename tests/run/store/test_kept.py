"""What every place keeps of JSON."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.run.store.kept import DEPTH, unkept


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("value", [None, {"a": [1, "ä", 2.5, True]}, (1, 2), 2**63, "\0", nested(DEPTH)])
def test_json_is_kept(value: Any) -> None:
    """A tuple is a list."""
    assert unkept(value) is None


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({1, 2}, "not JSON serializable"),
        (float("nan"), "not JSON compliant"),
        (2**64, "64-bit"),
        ("\ud800", "surrogates"),
        ({1: 2}, "key"),
        (nested(DEPTH + 1), "deep"),
        (nested(100_000), "recursion"),
    ],
)
def test_what_is_none_says_why(value: Any, why: str) -> None:
    """One place or another would not take it."""
    assert why in str(unkept(value))
