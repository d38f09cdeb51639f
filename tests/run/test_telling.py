"""What an activity tells the custom stream is redacted, whatever it is."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import HumanMessage

from stateward.govern.effective import effective
from stateward.govern.policy import Data, Policy, Redaction
from stateward.run.telling import NOT_SHOWN, telling

KEY = "AKIAQ7ZX2M4T8WPLK1NB"


def told(*data: Any, **parts: Any) -> list[Any]:
    """Return what comes of data that is told."""
    came: list[Any] = []
    tell = telling(came.append, effective=effective([("", Policy(name="p", **parts))], path="ACT"))
    for each in data:
        tell(each)
    return came


def test_what_holds_nothing_comes_as_it_is() -> None:
    """The very object: readers may look for its type."""
    message = HumanMessage("hello")
    assert told(message)[0] is message


def test_finding_is_taken_out_of_any_object() -> None:
    """An object with a finding in it comes as plain data."""
    text, message = told(f"it is {KEY}", HumanMessage(KEY))
    assert text == "it is [redacted aws_key]"
    assert message["content"] == "[redacted aws_key]"


def test_policy_says_what_else_is_taken_out() -> None:
    """By default secrets only."""
    assert told("ann@example.org") == ["ann@example.org"]
    assert told("ann@example.org", redact=Redaction(log=("personal",))) == ["[redacted email]"]


def test_personal_data_are_redacted_and_secret_data_are_not_told() -> None:
    """Whatever else the policy says."""
    assert told("ann@example.org", data=Data(sensitivity="personal")) == ["[redacted email]"]
    assert told("anything", data=Data(sensitivity="secret")) == []


def test_what_cannot_be_looked_into_is_not_shown() -> None:
    """A circle for instance."""
    circle: list[Any] = []
    circle.append(circle)
    assert told(circle) == [NOT_SHOWN]
