"""Names of events and how they match."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from pydantic import ValidationError

from stateward.chart.event import Event, Occurrence, event_name_of, matches, normal, occurrence_of
from stateward.errors import DefinitionError


class HTTPErrorSeen(Event):
    """An event whose name has an abbreviation in it."""

    code: int = 0


class Renamed(Event):
    """An event that names itself."""

    event_name: ClassVar[str] = "customer.reply"


def test_an_event_is_named_after_its_class() -> None:
    """The name is the class name in snake_case unless the class sets `event_name`."""
    assert event_name_of(HTTPErrorSeen) == "http_error_seen"
    assert event_name_of(Renamed) == "customer.reply"


def test_an_event_is_frozen_and_refuses_unknown_fields() -> None:
    """Events are values of exactly their fields."""
    with pytest.raises(ValidationError):
        HTTPErrorSeen.model_validate({"code": 1, "colour": "red"})
    with pytest.raises(ValidationError):
        HTTPErrorSeen(code=1).code = 2  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("name", ["", "a b", "a..b", "*.a", ".a", "9", 3, None, int, object()])
def test_an_illegal_name_is_refused(name: Any) -> None:
    """Names are dotted tokens; a wildcard stands alone or last."""
    with pytest.raises(DefinitionError):
        event_name_of(name)


@pytest.mark.parametrize(
    ("descriptor", "name", "expected"),
    [
        ("a", "a", True),
        ("a", "a.b", True),
        ("a.*", "a.b.c", True),
        ("a.", "a", True),
        ("a", "ab", False),
        ("a.b", "a", False),
        ("*", "anything.at.all", True),
    ],
)
def test_descriptors_match_by_whole_tokens(descriptor: str, name: str, expected: bool) -> None:
    """A descriptor matches its own name and everything below it (SCXML 3.12.1)."""
    assert matches((normal(descriptor),), name=name) is expected


def test_functions_see_the_typed_event_if_there_is_one() -> None:
    """What a function that names `event` gets is the event itself, else the happening."""
    typed = HTTPErrorSeen(code=500)
    assert occurrence_of(typed) == Occurrence(name="http_error_seen", data=typed)
    assert occurrence_of(typed).value is typed
    assert occurrence_of("plain").value == Occurrence(name="plain")
