"""JSON text: strict both ways."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.errors import CodecError
from stateward.run.store.json_text import read_json, write_json

_SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
_JSON = st.recursive(_SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


@given(value=_JSON)
def test_json_comes_back_as_it_was(value: Any) -> None:
    """Any JSON value survives."""
    assert read_json(write_json(value, where="a test")) == value


@pytest.mark.parametrize("value", ["\ud800", ["ä", "a\udfff"], {"\ud83d": "\U0001f642"}])
def test_half_a_character_comes_back_as_it_was(value: Any) -> None:
    """What a database gets has whole ones only."""
    text = write_json(value, where="a test")
    assert (read_json(text), text.encode().decode()) == (value, text)


@pytest.mark.parametrize("value", [{1, 2}, float("nan"), object()])
def test_what_is_no_json_is_refused_by_name(value: object) -> None:
    """A set, not-a-number and an object raise, and the message says where."""
    with pytest.raises(CodecError, match="a test"):
        write_json({"x": value}, where="a test")


def test_damaged_text_is_an_error() -> None:
    """Text that someone else wrote is not taken for empty."""
    with pytest.raises(CodecError, match="no JSON"):
        read_json("{")
