"""JSON Schemas of policy files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stateward.errors import DefinitionError
from stateward.govern.json_schema import misfit
from stateward.govern.kinds.arguments import ArgumentRule


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "strin"}, "JSON Schema"),
        ({"maxLenght": 3}, "nobody would read"),
        ({"properties": {"a": {"maxLenght": 3}}}, "nobody would read"),
        ({"patternProperties": {"(a+)+": {}}}, "nobody would read"),
        ({"pattern": "(?=a)"}, "RE2"),
        ({"items": {"pattern": "(a)\\1"}}, "RE2"),
        ({"format": "uri"}, "format"),
        ({"$ref": "https://shop.example/schema.json"}, "ref"),
        ({"$ref": "file:///etc/passwd"}, "ref"),
        ({"$ref": "#/$defs/none"}, "ref"),
        ({"$id": "https://shop.example/"}, "nobody would read"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, "2020-12"),
        ({"$ref": "#"}, "lead back"),
        ({"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}}, "lead back"),
    ],
)
def test_a_schema_that_would_not_do_what_it_says_is_refused(schema: dict[str, Any], why: str) -> None:
    """Where it is written."""
    with pytest.raises(DefinitionError, match=why):
        ArgumentRule(name="x", schema=json.dumps(schema))


def test_a_schema_may_lead_to_itself_inside_of_a_value() -> None:
    """A tree is such a thing."""
    tree: dict[str, Any] = {"type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": False}
    ArgumentRule(name="x", schema=json.dumps(tree))
    assert misfit({"next": {"next": {}}}, schema=tree) is None
    assert misfit({"next": {"other": {}}}, schema=tree) is not None


def test_a_pattern_is_run_by_re2() -> None:
    """It takes no exponential time."""
    assert misfit("a" * 20_000 + "!", schema={"pattern": "^(a+)+$"}) == "`pattern` is not met"


def test_a_format_is_checked() -> None:
    """Not only noted."""
    assert misfit("999.1.1.1", schema={"format": "ipv4"}) == "`format` is not met"


def test_a_misfit_says_where() -> None:
    """And not what stands there."""
    schema = {"properties": {"a": {"items": {"type": "integer"}}}}
    assert misfit({"a": [1, "secret"]}, schema=schema) == "`type` is not met at `a[1]`"


def test_a_number_beyond_all_arithmetic_meets_nothing() -> None:
    """Nobody can say whether it does."""
    assert misfit(10**400, schema={"multipleOf": 0.01}) is not None
