"""What a model wrote in words is read without trust."""

from __future__ import annotations

import time

import pytest

from stateward.govern.reply_text import LONGEST, lines_in, object_in

FOUND = [
    ('{"a": 1}', {"a": 1}),
    ('Sure!\n```json\n{"a": {"b": "}"}}\n```\nAnything else?', {"a": {"b": "}"}}),
    ('I think {"a": 1} or rather {"a": 2}', {"a": 2}),
    ('{"a": 1, "b": 2} and not {"a": 3}', {"a": 1, "b": 2}),
    ("{no} {{}", {}),
    ("nothing", None),
    ("[1, 2]", None),
    ('{"a": ', None),
]


@pytest.mark.parametrize(("text", "value"), FOUND)
def test_an_object_is_found_among_words(text: str, value: object) -> None:
    """Of several the one with most keys counts, and the last of those."""
    assert object_in(text) == value


@pytest.mark.parametrize("text", ["{" * 1_000_000, '{"a":' * 100_000, "{}" * 500_000, "a:" * 500_000])
def test_a_hostile_text_costs_little(text: str) -> None:
    """Reading ends after a bounded number of beginnings."""
    began = time.process_time()
    object_in(text)
    lines_in(text)
    assert time.process_time() - began < 2


def test_lines_are_read_as_keys_and_values() -> None:
    """Marks of lists, emphasis and quotation are no part of either."""
    text = '- **Priority**: critical\nsentiment: "calm",\nNo colon\nempty:\nsentiment: angry\n'
    assert lines_in(text) == {"Priority": "critical", "sentiment": "calm"}


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    """What stands behind the limit is not there."""
    assert object_in(" " * LONGEST + "{}") is None
