"""What is sent to a session; `test_session.py` tells what becomes of it."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.types import Command

from stateward.errors import InputRefused
from stateward.run.sending import command


def test_nothing_is_the_word_to_go_on() -> None:
    """Neither event nor data."""
    assert command(None, None) is None


def test_event_is_a_command_with_its_fields() -> None:
    """As LangGraph wants it."""
    assert command("note", {"text": "x"}) == Command(resume={"event": "note", "data": {"text": "x"}})


@pytest.mark.parametrize(("event", "data"), [(3, None), ("", None), (None, {"a": 1}), ("note", [1])])
def test_what_is_no_event_is_refused(event: Any, data: Any) -> None:
    """A name is a text, and its data a mapping."""
    with pytest.raises(InputRefused):
        command(event, data)
