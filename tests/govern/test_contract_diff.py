"""A change of a contract is compatible or breaking, for who writes outputs and for who reads them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.govern.contract import contract
from stateward.govern.contract_diff import Change, changes
from stateward.govern.gate import Passed, check
from stateward.govern.kinds.contract_spec import ContractSpec, FieldSpec, Inference

TEXT = FieldSpec(name="a", type="str", max_length=20)
NUMBER = FieldSpec(name="a", type="int", min=0, max=10)
ENUM = FieldSpec(name="a", type="enum", values=("p0", "p1"), aliases=(("critical", "p0"),))
LIST = FieldSpec(name="a", type="list", items="str", max_items=3)
OTHER = FieldSpec(name="b", type="str", required=False)


def between(old: ContractSpec | FieldSpec, new: ContractSpec | FieldSpec) -> list[tuple[str, str]]:
    """What changed, each with the letters of those it breaks: `w` writer, `r` reader."""
    specs = [each if isinstance(each, ContractSpec) else of(each) for each in (old, new)]
    return [(one.what, broken(one)) for one in changes(specs[:1], specs[1:])]


def of(*fields: FieldSpec, **other: Any) -> ContractSpec:
    """A contract of fields."""
    return ContractSpec(**{"name": "C", "fields": fields} | other)


def broken(change: Change) -> str:
    """Whom a change breaks."""
    return "w" * (change.writer == "breaking") + "r" * (change.reader == "breaking")


FIELDS = [
    (TEXT, replace(TEXT, required=False), [("required → optional", "r")]),
    (replace(TEXT, required=False), TEXT, [("optional → required", "w")]),
    (LIST, replace(LIST, required=False), [("required → optional", "")]),
    (replace(LIST, min_items=1), replace(LIST, min_items=1, required=False), [("required → optional", "r")]),
    (TEXT, replace(TEXT, max_length=10), [("narrowed: greatest length", "w")]),
    (TEXT, replace(TEXT, max_length=None), [("widened: greatest length", "r")]),
    (TEXT, replace(TEXT, min_length=1), [("narrowed: least length", "w")]),
    (NUMBER, replace(NUMBER, min=-1), [("widened: least value", "r")]),
    (LIST, replace(LIST, max_items=9), [("widened: greatest number of items", "r")]),
    (TEXT, replace(TEXT, pattern="x"), [("narrowed: pattern", "w")]),
    (replace(TEXT, pattern="x"), TEXT, [("widened: pattern", "r")]),
    (replace(TEXT, pattern="x"), replace(TEXT, pattern="y"), [("changed: pattern", "wr")]),
    (TEXT, replace(TEXT, contains=("x",)), [("changed: what it contains", "w")]),
    (NUMBER, replace(NUMBER, type="float"), [("type", "r")]),
    (NUMBER, replace(NUMBER, type="float", max=5), [("type", "wr")]),
    (replace(NUMBER, type="float"), NUMBER, [("type", "w")]),
    (NUMBER, TEXT, [("type", "wr")]),
    (LIST, replace(LIST, items="int"), [("type", "wr")]),
    (ENUM, TEXT, [("type", "r")]),
    (TEXT, replace(ENUM, aliases=()), [("type", "w")]),
    (ENUM, replace(ENUM, values=("p0", "p1", "p2")), [("value `p2` added", "r")]),
    (ENUM, replace(ENUM, values=("p0",)), [("value `p1` removed", "w")]),
    (ENUM, replace(ENUM, aliases=()), [("alias `critical` removed", "w")]),
    (ENUM, replace(ENUM, aliases=(("Critical", "p0"),)), []),
    (ENUM, replace(ENUM, aliases=(("critical", "p1"),)), [("alias `critical` removed", "w")]),
    (ENUM, replace(ENUM, aliases=(("critical", "p0"), ("low", "p1"))), [("alias `low` added", "")]),
    (
        ENUM,
        replace(ENUM, values=("p0",), aliases=(("critical", "p0"), ("p1", "p0"))),
        [("value `p1` removed", "")],
    ),
    (TEXT, replace(TEXT, default="x", description="y"), [("default", ""), ("description", "")]),
    (TEXT, replace(TEXT, infer=(Inference(pattern="x", value="y"),)), [("infer", "")]),
]


@pytest.mark.parametrize(("old", "new", "told"), FIELDS)
def test_a_change_of_a_field_is_classified(old: FieldSpec, new: FieldSpec, told: list[tuple[str, str]]) -> None:
    """Narrowing breaks the writer, widening the reader."""
    assert between(old, new) == told


CONTRACTS = [
    (of(TEXT), of(TEXT, OTHER), [("field added, optional", "")]),
    (of(TEXT), of(TEXT, replace(OTHER, required=True)), [("field added, required", "w")]),
    (of(TEXT, OTHER), of(TEXT), [("field removed", "wr")]),
    (of(TEXT), of(replace(TEXT, name="c"), aliases=(("a", "c"),)), [("renamed", "r")]),
    (of(TEXT, aliases=(("x", "a"),)), of(TEXT), [("alias `x` removed", "w")]),
    (of(TEXT), of(TEXT, retries=1), [("retries", "")]),
    (of(TEXT), of(TEXT, tiers=("prompt",)), [("tiers", "")]),
    (of(TEXT), of(TEXT), []),
]


@pytest.mark.parametrize(("old", "new", "told"), CONTRACTS)
def test_a_change_of_a_contract_is_classified(
    old: ContractSpec, new: ContractSpec, told: list[tuple[str, str]]
) -> None:
    """Fields come and go, aliases lead on, and retries are nobody's business."""
    assert between(old, new) == told


def test_a_contract_that_is_gone_breaks_both() -> None:
    """One that is new breaks nobody."""
    found = changes([of(TEXT)], [of(TEXT, name="D")])
    assert [(one.contract, one.what, one.is_breaking) for one in found] == [
        ("C", "contract removed", True),
        ("D", "contract added", False),
    ]


def test_a_change_is_plain_json() -> None:
    """A tool can read it."""
    (change,) = changes([of(TEXT)], [of(replace(TEXT, max_length=10))])
    assert change.to_json() == {
        "contract": "C",
        "field": "a",
        "what": "narrowed: greatest length",
        "before": 20,
        "after": 10,
        "writer": "breaking",
        "reader": "compatible",
    }


LENGTHS = st.none() | st.integers(1, 4)
VALUES = st.lists(st.sampled_from(["p0", "p1", "p2"]), min_size=1, unique=True).map(tuple)
TEXTS = st.builds(FieldSpec, name=st.just("a"), type=st.just("str"), required=st.booleans(), max_length=LENGTHS)
ENUMS = st.builds(FieldSpec, name=st.just("a"), type=st.just("enum"), required=st.booleans(), values=VALUES)
OUTPUTS: list[dict[str, object]] = [{}, {"a": "p0"}, {"a": "p2"}, {"a": ""}, {"a": "xxxx"}, {"a": "xxxxx"}]


@given(old=TEXTS | ENUMS, new=TEXTS | ENUMS)
def test_what_is_called_compatible_is(old: FieldSpec, new: FieldSpec) -> None:
    """If no change breaks the writer, all that passed passes; if none breaks the reader, nothing new does."""
    found = changes([of(old)], [of(new)])
    before, after = ([_passes(spec, output) for output in OUTPUTS] for spec in (of(old), of(new)))
    if all(one.writer == "compatible" for one in found):
        assert all(now or not was for was, now in zip(before, after, strict=True))
    if all(one.reader == "compatible" for one in found):
        assert all(was or not now for was, now in zip(before, after, strict=True))


def _passes(spec: ContractSpec, output: dict[str, object]) -> bool:
    return isinstance(check(contract(spec, mode="m", policy_hash="0" * 64), value=output), Passed)
