"""State values as JSON: readable where they can be, and always the same value again."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from stateward.errors import CodecError
from stateward.run.replay.value import read, written
from stateward.run.store.serializer import StrictSerializer
from stateward.testing import calls

SERDE = StrictSerializer()


@pytest.mark.parametrize("value", [None, 1, 1.5, "a", [1, {"a": [None]}], {}])
def test_plain_json_stays_itself(value: Any) -> None:
    """Nothing is put around it."""
    assert written(value, SERDE) == value
    assert read(value, SERDE) == value


@pytest.mark.parametrize("message", [HumanMessage("hi", id="1"), AIMessage("a", name="x"), calls(("look", {"a": 1}))])
def test_messages_are_readable(message: Any) -> None:
    """By their fields, tool calls included."""
    form = written([message], SERDE)
    assert form[0]["$message"]["data"]["content"] == message.content
    assert read(form, SERDE) == [message]


@pytest.mark.parametrize("value", [date(2026, 1, 2), {1: "a"}, {"a", "b"}, float("inf"), b"x", {"$message": "fake"}])
def test_what_is_no_json_is_kept_as_the_checkpoint_stores_it(value: Any) -> None:
    """Also a dictionary that looks like one of our own forms."""
    form = written({"key": value}, SERDE)
    assert list(form["key"]) == ["$stored"]
    assert read(form, SERDE) == {"key": value}


def test_type_that_is_not_allowed_is_refused() -> None:
    """When it is written, as by the saver itself."""
    with pytest.raises(CodecError, match="cannot be stored"):
        written(SERDE, SERDE)
    with pytest.raises(CodecError, match=r"\$other"):
        read({"$other": 1}, SERDE)
