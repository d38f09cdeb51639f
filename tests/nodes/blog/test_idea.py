"""Ideas by rules: three of them on any topic, each as the contract wants it."""

from __future__ import annotations

import pytest

from nodes.blog.idea import OPTIONS, ideas_on


@pytest.mark.parametrize("topic", ["returns", "", "?", "x" * 500, "Wie geht's?", "a. b! c"])
def test_there_are_three_different_ideas_on_any_topic(topic: str) -> None:
    """Whatever somebody writes, nothing is too long or missing."""
    ideas = ideas_on(topic)
    assert len(ideas) == len({idea.title for idea in ideas}) == OPTIONS
