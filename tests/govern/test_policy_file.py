"""A policy file is read whole and right, or refused with the key that is wrong."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from stateward.errors import ConfigError
from stateward.govern.policy import Policy, Rule
from stateward.govern.policy_file import policy_from


def read(**content: object) -> Policy:
    """Read a policy with this content."""
    return policy_from({"version": 1, **content}, name="some", source="some.yaml")


def test_an_empty_policy_limits_nothing() -> None:
    """A policy says only what is written in it."""
    assert read() == Policy(name="some", source="some.yaml")


def test_rules_keep_their_order() -> None:
    """The first rule that matches wins, so order is part of the policy."""
    rules: list[Mapping[str, object]] = [
        {"match": "a.*", "level": "allowed"},
        {"match": ".*", "level": "forbidden"},
    ]
    policy = read(tools={"rules": rules})
    assert policy.tools is not None
    assert policy.tools.rules == (Rule(match="a.*", level="allowed"), Rule(match=".*", level="forbidden"))
    assert policy.tools.default == "forbidden"


def test_a_rule_says_how_long_an_approval_is_waited_for() -> None:
    """In seconds, beside who may give it."""
    said = {"match": "pay", "level": "restricted", "approvers": ["ann"], "expires_s": 3600}
    policy = read(tools={"rules": [said]})
    assert policy.tools is not None
    assert policy.tools.rules == (Rule(match="pay", level="restricted", approvers=("ann",), expires_s=3600),)


WRONG: list[tuple[str, dict[str, object]]] = [
    ("nonsense", {"nonsense": 1}),
    ("version", {"version": 2}),
    ("fuses.turns", {"fuses": {"turns": "12"}}),
    ("fuses.turns", {"fuses": {"turns": True}}),
    ("fuses.turns", {"fuses": {"turns": -1}}),
    ("fuses.usd", {"fuses": {"usd": float("nan")}}),
    ("fuses.microsteps", {"fuses": {"microsteps": 0}}),
    ("fuses", {"fuses": 12}),
    ("call_timeout_s", {"call_timeout_s": 0}),
    ("window", {"window": {"max_messages": 8, "keep_last": 7}}),
    ("tools.rules[0].level", {"tools": {"rules": [{"match": "x", "level": "maybe"}]}}),
    ("tools.rules[0].match", {"tools": {"rules": [{"match": "(?=x)", "level": "allowed"}]}}),
    ("tools.rules[0].level", {"tools": {"rules": [{"match": "x"}]}}),
    ("tools.rules[0]", {"tools": {"rules": [{"match": "x", "level": "allowed", "approvers": ["a"]}]}}),
    (
        "tools.rules[0].approvers",
        {"tools": {"rules": [{"match": "x", "level": "restricted", "approvers": []}]}},
    ),
    *(
        (
            f"tools.rules[0].approvers[{place}]",
            {"tools": {"rules": [{"match": "x", "level": "restricted", "approvers": names}]}},
        )
        for place, names in ((0, [""]), (0, [" "]), (1, ["ann", "\t"]))
    ),
    ("contracts.T.fields", {"contracts": {"T": {"fields": {}}}}),
    ("contracts.T.fields.f", {"contracts": {"T": {"fields": {"f": {"type": "enum"}}}}}),
    ("contracts.T.fields.f", {"contracts": {"T": {"fields": {"f": {"type": "int", "min_length": 1}}}}}),
    ("contracts.T.fields.f", {"contracts": {"T": {"fields": {"f": {"type": "int", "min": 2, "max": 1}}}}}),
    (
        "contracts.T.fields.f",
        {"contracts": {"T": {"fields": {"f": {"type": "enum", "values": ["a"], "aliases": {"b": "c"}}}}}},
    ),
    ("contracts.T", {"contracts": {"T": {"fields": {"f": {"type": "str"}}, "aliases": {"x": "y"}}}}),
]


@pytest.mark.parametrize(("key", "content"), WRONG)
def test_a_wrong_policy_is_refused_with_its_key(key: str, content: dict[str, object]) -> None:
    """Every kind of mistake names the key it was made at."""
    with pytest.raises(ConfigError) as refused:
        read(**content)
    assert refused.value.key == key
    assert refused.value.file == "some.yaml"


def test_an_unknown_key_lists_the_known_ones() -> None:
    """A misspelt key is answered with the keys of that place."""
    with pytest.raises(ConfigError, match="one of the keys calls, microsteps, runtime_s, tokens, turns, usd"):
        read(fuses={"turn": 1})
