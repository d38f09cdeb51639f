"""Equal values have equal digests, different values different ones."""

from __future__ import annotations

import datetime
import enum
import hashlib
import json
import math
import uuid
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from stateward.errors import CodecError
from stateward.govern.argument import is_too_large
from stateward.govern.fingerprint import as_number, canonical, digest, effect_key, fingerprint, measured, written


class Hue(enum.Enum):
    RED = "red"


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
json_data = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_canonical_json_is_that_of_rfc_8785() -> None:
    """Keys are sorted, numbers shortest, nothing but ASCII control letters escaped."""
    data = {"b": [1.0, 1e21, 0.002, True, None], "a": "€\n"}
    assert canonical(data).decode() == '{"a":"€\\n","b":[1,1e+21,0.002,true,null]}'


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text().filter(lambda key: key[:1] != "$"), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_the_fast_writer_writes_what_the_slow_one_does(value: Any) -> None:
    """Whichever is taken; what only the slow one can write is not given to the fast one."""
    assert canonical(value) == rfc8785.dumps(value)


def test_an_integer_beyond_those_of_json_comes_back() -> None:
    """From the form that canonical JSON gives it."""
    assert as_number(json.loads(canonical(2**60))) == 2**60
    assert as_number({"$int": "1", "more": 2}) == {"$int": "1", "more": 2}


def test_the_order_of_keys_does_not_matter() -> None:
    """Arguments are a set of names and values."""
    assert fingerprint("t", arguments={"a": 1, "b": 2}) == fingerprint("t", arguments={"b": 2, "a": 1})


def test_the_tool_is_part_of_the_fingerprint() -> None:
    """The same arguments to another tool are another call."""
    assert fingerprint("t", arguments={}) != fingerprint("u", arguments={})


def test_a_tuple_counts_as_a_list() -> None:
    """What comes back from JSON has the digest of what went in."""
    assert digest((1, (2,))) == digest([1, [2]])


@pytest.mark.parametrize("value", [2**53, 10**30, math.inf, math.nan, "\ud83d", [{"$int": "9007199254740992"}]])
def test_what_rfc_8785_cannot_say_still_has_a_digest(value: object) -> None:
    """Large integers, infinities and broken text from a model do not stop a run."""
    assert len(digest({"value": value})) == 64


def test_a_tagged_value_cannot_be_imitated() -> None:
    """Data that looks like a tag has another digest than what the tag stands for."""
    assert digest(2**53) != digest({"$int": str(2**53)})


@pytest.mark.parametrize("value", [object(), {1: 2}, {"a": {1, 2}}, b"bytes", {"\ud83d": 1}])
def test_what_is_not_json_is_refused(value: object) -> None:
    """A value without a canonical form has no digest."""
    with pytest.raises(CodecError, match="has no canonical JSON"):
        digest(value)


@given(json_data)
def test_every_json_value_has_one_digest(value: object) -> None:
    """Canonical JSON is total on JSON-like data, and stable."""
    assert canonical(value) == canonical(value)


@given(json_data, json_data)
def test_different_values_have_different_texts(one: object, other: object) -> None:
    """Equal texts mean equal values; numbers compare by value, and -0 is 0."""
    if canonical(one) == canonical(other):
        assert one == other or "nan" in repr((one, other))


def test_an_effect_key_is_the_hash_of_its_six_parts() -> None:
    """The formula is fixed, because keys are stored and given to tools."""
    text = b'["s","r","main","WORKING.ACT",2,3]'
    key = effect_key("s", run="r", branch="main", path="WORKING.ACT", activation=2, call=3)
    assert key == hashlib.sha256(text).hexdigest()


def test_the_parts_of_an_effect_key_do_not_run_together() -> None:
    """Moving a letter from one part to the next makes another key."""
    one = effect_key("ab", run="c", branch="m", path="A", activation=1, call=1)
    assert one != effect_key("a", run="bc", branch="m", path="A", activation=1, call=1)


def test_the_fast_writer_leaves_circles_to_others() -> None:
    """It comes to an end, and says that it cannot write them."""
    circle: list[object] = []
    circle.append({"again": circle})
    assert written(circle) is None


@pytest.mark.parametrize("value", [Hue.RED, uuid.UUID(int=1), datetime.date(2026, 1, 1), 1.5, 2**53, {1: "a"}, {1}])
def test_the_fast_writer_takes_what_everybody_writes_alike(value: object) -> None:
    """What its library would write in a way of its own is refused, wherever it stands."""
    assert (written(value), written({"a": ["b", (value,)]})) == (None, None)


def test_the_measure_of_a_call_counts_each_letter_and_each_value() -> None:
    """So what is short enough by it is not too large."""
    arguments: dict[str, Any] = {"a": ["ä" * 50, {}, [], None, 1], "bc": {"d": "e"}}
    known_by, size = measured("look", arguments=arguments)
    assert known_by == fingerprint("look", arguments=arguments)
    assert is_too_large(arguments, largest=70)
    assert not is_too_large(arguments, largest=size)
