"""What an event carries: JSON, or it is refused before anything is committed, on every way in."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from enum import Enum
from typing import Any

import pytest
from langgraph.types import Command
from pydantic import BaseModel, ConfigDict, Field, SecretStr

import stateward as sw
from stateward.chart.event import Occurrence
from stateward.errors import InputRefused
from stateward.run.payload import nearest, payload
from tests.charts.drive import Driven
from tests.charts.waiting import Heard

Drive = Callable[..., Driven]

CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)
NO_JSON = [
    {"a": object()},
    {"a": float("nan")},
    {"a": {1, 2}},
    {"a": b"x"},
    {"a": (1, 2)},
    {"a": {1: 2}},
    {"a": 2**70},
    {"a": "\ud800"},
    {"a": CIRCLE},
]
NAMES = ["object", "nan", "set", "bytes", "tuple", "number-as-key", "big", "surrogate", "circle"]


class Mood(Enum):
    GOOD = 1


class Place(BaseModel):
    city: str


class Meet(sw.Event):
    """An event of what JSON does not have."""

    at: datetime
    day: date
    mood: Mood
    place: Place
    seats: set[int] = Field(default_factory=set[int])


class Aliased(sw.Event):
    who: str = Field(alias="whoIsIt")


class Hidden(sw.Event):
    word: SecretStr


class Loose(sw.Event):
    model_config = ConfigDict(arbitrary_types_allowed=True)

    number: float


MEET: dict[str, Any] = {
    "at": datetime(2026, 1, 2, 3, tzinfo=UTC),
    "day": date(2026, 1, 2),
    "mood": Mood.GOOD,
    "place": Place(city="Rome"),
    "seats": {3},
}


def met(state: Heard, event: Meet) -> dict[str, Any]:
    return {"heard": [f"{event.at.year} {event.day} {event.mood.name} {event.place.city} {event.seats}"]}


def told(state: Heard, event: Occurrence) -> dict[str, Any]:
    return {"heard": [repr(event.data)]}


def chart() -> sw.Chart[Heard]:
    events = [sw.on(Meet, do=met), sw.on("free", do=told), sw.on("input", do=told)]
    return sw.Chart("keeping", Heard, sw.State("OPEN", on=[*events, sw.on("end", "DONE")]), sw.Final("DONE"))


def opened(drive: Drive) -> Driven:
    driven = drive(chart().compile())
    driven.start({})
    return driven


def mailed(driven: Driven, event: str, data: Any) -> Any:
    """Send an event while somebody else holds the session, and go on when it is free."""
    leases = driven.session.database.leases
    lease = leases.acquire("s1")
    try:
        driven.tell(event, data=data)
    finally:
        leases.release(lease)
    return driven.resume()


WAYS: dict[str, Callable[[Driven, str, Any], Any]] = {
    "resume": lambda driven, event, data: driven.resume(event, data=data),
    "send": lambda driven, event, data: driven.tell(event, data=data),
    "mailed": mailed,
    "command": lambda driven, event, data: driven.send(Command(resume={"event": event, "data": data})),
}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Callable[[Driven, str, Any], Any]:
    """Each way on which an event comes in."""
    return WAYS[request.param]


@pytest.mark.parametrize("data", NO_JSON, ids=NAMES)
def test_data_that_is_no_json_is_refused_and_nothing_committed(drive: Drive, way: Any, data: Any) -> None:
    """By the same rule on every way: a retry finds the session as it was."""
    driven = opened(drive)
    before = len(driven.checkpoints)
    with pytest.raises(InputRefused, match="event `free` cannot be kept as JSON"):
        way(driven, "free", data)
    assert len(driven.checkpoints) == before
    assert driven.resume().values.get("heard", []) == []
    assert driven.session.database.mailbox.list("s1") == ()


def test_a_typed_event_arrives_as_it_was_sent(drive: Drive, way: Any) -> None:
    """Dates, enums, models and sets go through JSON and are validated again."""
    driven = opened(drive)
    way(driven, "meet", MEET)
    assert driven.session.outcome().values["heard"] == ["2026 2026-01-02 GOOD Rome {3}"]


def test_an_instance_of_its_type_is_taken_as_data(drive: Drive) -> None:
    """Through LangGraph's own door."""
    driven = opened(drive)
    driven.send(Command(resume={"event": "meet", "data": Meet(**MEET)}))
    assert driven.session.outcome().values["heard"] == ["2026 2026-01-02 GOOD Rome {3}"]


def test_json_arrives_as_it_is(drive: Drive, way: Any) -> None:
    """A bare event's data is what was sent."""
    driven = opened(drive)
    way(driven, "free", {"a": [1, None, "x", {"b": 1.5}]})
    assert driven.session.outcome().values["heard"] == ["{'a': [1, None, 'x', {'b': 1.5}]}"]


def test_an_input_is_told_to_the_chart_as_json(drive: Drive) -> None:
    """A state's value may be of any kind; the event `input` carries its JSON form, before and after a restart."""
    driven = opened(drive)
    assert driven.start({"text": "x"}).values["heard"] == ["{'text': 'x'}"]


def test_an_event_read_by_aliases_is_kept_by_them() -> None:
    """Its type could not be read otherwise."""
    assert payload(Occurrence(name="aliased", data=Aliased(whoIsIt="ann"))) == {"whoIsIt": "ann"}


@pytest.mark.parametrize("data", [Hidden(word=SecretStr("x")), Loose(number=float("nan"))])
def test_a_typed_event_that_json_would_change_is_refused(data: sw.Event) -> None:
    """A secret comes out as stars, and no number is not a number."""
    with pytest.raises(InputRefused, match="cannot be kept as JSON"):
        payload(Occurrence(name="e", data=data))


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ({"a": (1, {2: Place(city="Rome")})}, {"a": [1, {"2": {"city": "Rome"}}]}),
        ([float("nan"), -float("inf"), 2**70], ["nan", "-inf", str(2**70)]),
        ("\ud800", "?"),
        (b"\xff", "b'\\xff'"),
        (CIRCLE, "[[...]]"),
    ],
)
def test_of_what_the_chart_raised_the_nearest_json_is_kept(value: object, kept: object) -> None:
    """It has happened already: a failure to keep it would lose the step."""
    assert nearest(value) == kept
