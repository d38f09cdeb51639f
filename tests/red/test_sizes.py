"""Attempts to wear a policy out: huge arguments, deep ones, and patterns that take for ever elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from stateward.errors import DefinitionError
from stateward.govern.kinds.arguments import ArgumentRule
from stateward.govern.policy import Rule, ToolPolicy
from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.red.world import World, acting, ids, ruled

Drive = Callable[..., Driven]
LONGEST_S = 20.0
"""Of CPU; each takes far less than a second on a machine that is not loaded, and hours where patterns backtrack."""


def deep(levels: int) -> Any:
    """A list in a list in a list."""
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


def round_about() -> Any:
    """A list that contains itself."""
    value: list[Any] = []
    value.append(value)
    return value


HUGE: dict[str, Any] = {
    "10 MB of text": "a" * 10_000_000,
    "10 MB in a key": {"a" * 10_000_000: 1},
    "two million numbers": list(range(2_000_000)),
    "deep": deep(100),
    "very deep": deep(100_000),
    "round about": round_about(),
    "many keys": {str(n): n for n in range(200_000)},
}


@pytest.mark.parametrize("how", ["async"])
@pytest.mark.parametrize("what", HUGE.values(), ids=HUGE.keys())
def test_huge_arguments_under_a_rule_are_refused_cheaply(drive: Drive, world: World, what: Any) -> None:
    """Whatever the rule says of them, they are not passed on."""
    began = time.process_time()
    outcome = drive(compiled(acting(what), box=[world.tool()], policy=ruled(argument={"required": True}))).start({})
    assert world.effects == []
    assert outcome.values["log"][0] in ("denied", "invalid")
    assert time.process_time() - began < LONGEST_S


PATTERNS = {
    "nested repeat": "(a+)+b",
    "nested stars": "(a*)*b",
    "alternatives": "(a|a)*b",
    "overlap": "(a|aa)+b",
    "many optional": "(a?){30}(a){30}b",
    "letters": "([a-zA-Z]+)*b",
    "dots": "(.*.*)*=.*b",
}


@pytest.mark.parametrize("how", ["async"])
@pytest.mark.parametrize("kind", ["pattern", "schema"])
@pytest.mark.parametrize("pattern", ids(PATTERNS))
def test_a_pattern_that_backtracks_elsewhere_takes_no_time(drive: Drive, world: World, pattern: str, kind: str) -> None:
    """Over a hundred thousand letters that almost match, in a rule and in a JSON schema."""
    rule = {"pattern": pattern} if kind == "pattern" else {"schema": f'{{"pattern":"^{pattern}$","type":"string"}}'}
    began = time.process_time()
    drive(compiled(acting("a" * 100_000 + "c"), box=[world.tool()], policy=ruled(argument=rule))).start({})
    assert world.effects == []
    assert time.process_time() - began < LONGEST_S


@pytest.mark.parametrize("how", ["async"])
@pytest.mark.parametrize("pattern", ids(PATTERNS))
def test_a_name_that_almost_matches_takes_no_time(drive: Drive, world: World, pattern: str) -> None:
    """Patterns of tool names run on the same engine."""
    name, began = "a" * 50_000 + "c", time.process_time()
    policy = ruled(pattern, default="forbidden")
    outcome = drive(compiled(acting(1, name=name), box=[world.tool(name)], policy=policy)).start({})
    assert (world.effects, outcome.values["log"]) == ([], ["denied"])
    assert time.process_time() - began < LONGEST_S


@pytest.mark.parametrize(
    "pattern",
    ids(
        {
            "look-ahead": "(?=a)a",
            "look-behind": "(?<=a)b",
            "back-reference": r"(a)\1",
            "atomic": "(?>a)",
            "too large": "((a{100}){100}){100}",
            "not closed": "(a",
            "NUL repeat": "a{1001}",
        }
    ),
)
def test_a_pattern_that_the_engine_cannot_run_is_no_policy(pattern: str) -> None:
    """It is refused where it is written, and matches nothing in the meantime."""
    with pytest.raises(DefinitionError):
        ToolPolicy(rules=(Rule(match=pattern, level="allowed"),))
    with pytest.raises(DefinitionError):
        ArgumentRule(name="what", pattern=pattern)


@pytest.mark.parametrize(
    "schema",
    ids(
        {
            "reference elsewhere": '{"$ref":"https://evil.example/schema.json"}',
            "reference to a file": '{"$ref":"file:///etc/passwd"}',
            "look-ahead": '{"pattern":"(?=a)a"}',
            "pattern of keys": '{"patternProperties":{"(a+)+(?=b)":{}}}',
            "unknown dialect": '{"$schema":"https://evil.example/dialect"}',
            "no schema": '{"type":"nothing"}',
        }
    ),
)
def test_a_schema_that_asks_for_something_else_is_no_policy(schema: str) -> None:
    """Nothing is fetched, and nothing is taken for true that is not understood."""
    with pytest.raises(DefinitionError):
        ArgumentRule(name="what", schema=schema)
