"""What the patterns write by rules."""

from __future__ import annotations

import pytest

from nodes.hitl.activities import People, written
from nodes.hitl.state import Notice


@pytest.mark.parametrize(
    ("wishes", "text"),
    [
        ([], "We move. All of us."),
        (["Shorter, please"], "We move."),
        (["formal"], "Dear all, We move. All of us."),
        (["a friendlier tone", "short"], "Hello! We move."),
        (["say when"], "We move. All of us. (say when)"),
    ],
)
def test_a_draft_follows_the_wishes_in_their_order(wishes: list[str], text: str) -> None:
    """What the rules do not know is noted."""
    assert written("We move. All of us.", wishes) == text


@pytest.mark.parametrize("topic", ["", "We move. All of us.", "x" * 90])
def test_a_proposal_is_a_notice(topic: str) -> None:
    """Whatever the topic is."""
    notice = Notice.model_validate(People().propose({"topic": topic})["notice"])
    assert 0 < len(notice.title) <= 40
