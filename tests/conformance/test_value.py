"""Values of data models survive the checkpoint."""

from __future__ import annotations

import json

import pytest

from tests.conformance.value import UNDEFINED, Function, Markup, ScriptError, decode, encode, literal

VALUES = [None, UNDEFINED, 3, "a", [1, {"b": UNDEFINED}], Function("function () {}"), {"x": Markup("<a/>")}]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_comes_back_from_json_as_it_was(value: object) -> None:
    """What a variable can hold is kept as plain JSON and read back without loss."""
    assert decode(json.loads(json.dumps(encode(value)))) == value


def test_what_comes_back_is_a_copy() -> None:
    """Changing a decoded value does not change what is kept."""
    kept = {"a": [1]}
    decode(kept)["a"].append(2)
    assert kept == {"a": [1]}


def test_a_function_of_the_language_cannot_be_kept() -> None:
    """A built-in function is nothing that a checkpoint could hold."""
    with pytest.raises(ScriptError, match="cannot be kept"):
        encode([len])


@pytest.mark.parametrize(("text", "value"), [(" [1, 2] ", [1, 2]), ("this  is \n text", "this is text"), ("", "")])
def test_written_content_is_json_or_normalised_text(text: str, value: object) -> None:
    """Content that is no JSON is text with single spaces."""
    assert literal(text) == value


def test_markup_finds_the_elements_inside_by_name() -> None:
    """The element itself is not among those found in it."""
    books = Markup('<book><book title="one"/><shelf><book title="two"/></shelf></book>')
    assert [each.attribute("title") for each in books.named("book")] == ["one", "two"]
