"""One argument against one rule."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.govern.argument import refused
from stateward.govern.kinds.arguments import ArgumentRule
from stateward.govern.work import Work

WORK = Work()


def passes(value: object, **conditions: Any) -> bool:
    """Try a value of the argument `x`."""
    return refused({"x": value}, rule=ArgumentRule(name="x", **conditions), work=WORK) is None


@pytest.mark.parametrize("value", [1, 50, 50.0, 1.5, "50", "49.99"])
def test_a_number_in_the_range_passes(value: object) -> None:
    """A plain decimal text is how an exact amount travels."""
    assert passes(value, min=1, max=50)


@pytest.mark.parametrize(
    "value",
    [0, 51, 50.01, -1, True, float("nan"), float("inf"), 10**400, "51", "5e1", "0x1", " 5", "５", "NaN", [5, 51], {}],
)
def test_what_is_no_number_in_the_range_is_refused(value: object) -> None:
    """True is no number, and a number that is none is in no range."""
    assert not passes(value, min=1, max=50)


@pytest.mark.parametrize(
    ("value", "fits"), [("a", True), (1, True), (1.0, True), (True, False), ("A", False), ("1", False)]
)
def test_a_value_is_one_of_those_listed(value: object, fits: bool) -> None:
    """Kinds are kept apart as JSON does."""
    assert passes(value, values=("a", 1)) is fits


@pytest.mark.parametrize("value", ["A-1\n", "xA-1", "A-", "A-١", "Ａ-1", 1, ["A-1", "x"]])
def test_a_pattern_holds_for_the_whole_text(value: object) -> None:
    """Nothing before it, nothing after it, no line break either."""
    assert passes("A-1", pattern="A-[0-9]+")
    assert not passes(value, pattern="A-[0-9]+")


def test_a_pattern_takes_no_exponential_time() -> None:
    """RE2 has no backtracking: this would take Python's `re` longer than the world has been there."""
    assert not passes("a" * 50_000 + "!", pattern="(a+)+")


@pytest.mark.parametrize(("value", "fits"), [("ab", True), ("abcd", True), ("a", False), ("abcde", False), (3, False)])
def test_a_length_is_one_of_letters(value: object, fits: bool) -> None:
    """A number has none."""
    assert passes(value, min_length=2, max_length=4) is fits


def test_what_is_required_must_be_given() -> None:
    """None is what an argument has that was left out."""
    rule = ArgumentRule(name="x", required=True)
    assert refused({}, rule=rule, work=WORK) == "given"
    assert refused({"x": None}, rule=rule, work=WORK) == "given"
    assert refused({"x": ""}, rule=rule, work=WORK) is None


def test_what_is_not_given_breaks_no_other_rule() -> None:
    """Only `required` says that it must be there."""
    assert refused({}, rule=ArgumentRule(name="x", max=1), work=WORK) is None


@pytest.mark.parametrize(
    ("arguments", "fits"),
    [
        ({"mail": {"to": "a@x.org"}}, True),
        ({"mail": {"to": "evil"}}, False),
        ({"mail": [{"to": "a@x.org"}, {"to": "evil"}]}, False),
        ({"mail": {"to": ["a@x.org", "evil"]}}, False),
        ({"mail": "evil"}, False),
        ({"mail": {}}, True),
    ],
)
def test_a_dotted_name_reaches_into_objects_and_every_item_of_a_list(arguments: dict[str, Any], fits: bool) -> None:
    """What has no names where one is wanted is refused: nobody could say what it holds."""
    rule = ArgumentRule(name="mail.to", pattern=".*@x[.]org")
    assert (refused(arguments, rule=rule, work=WORK) is None) is fits


def test_a_schema_holds_for_the_value_as_a_whole() -> None:
    """A list is looked at as a list."""
    schema = '{"type": "array", "maxItems": 2, "items": {"type": "integer"}}'
    assert passes([1, 2], schema=schema)
    assert not passes([1, 2, 3], schema=schema)
    assert not passes([1, "2"], schema=schema)


def test_a_number_that_is_none_meets_no_schema() -> None:
    """It is neither above nor below a maximum."""
    assert not passes(float("nan"), schema='{"maximum": 5}')
    assert not passes({"a": [float("inf")]}, schema='{"type": "object"}')


def test_a_refusal_does_not_tell_the_value() -> None:
    """It may be a secret, and the reason goes into logs."""
    for conditions in ({"pattern": "a"}, {"schema": '{"enum": ["a"]}'}, {"values": ("a",)}, {"max_length": 1}):
        told = refused({"x": "hunter2"}, rule=ArgumentRule(name="x", **conditions), work=WORK)  # pyright: ignore
        assert told is not None
        assert "hunter2" not in told
