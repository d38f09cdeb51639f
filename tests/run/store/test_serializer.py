"""Strict msgpack: what cannot come back is not stored, and what does not fit is not degraded."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import pathlib
import uuid
from collections import deque
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Interrupt, Overwrite, Send
from pydantic import BaseModel, Field, SecretStr

from stateward.errors import CodecError
from stateward.run.store.serializer import StrictSerializer


@dataclasses.dataclass
class Point:
    x: int


class Ticket(BaseModel):
    id: str


class Aliased(BaseModel):
    order_id: str = Field(alias="orderId")


class Level(enum.Enum):
    LOW = "low"


_SAFE = [
    None,
    b"raw",
    {"a": [1, 2.5, "x", None, True], 3: "int key"},
    {1, 2},
    deque([1]),
    datetime.datetime(2026, 1, 2, 3, 4, tzinfo=datetime.UTC),
    datetime.timedelta(seconds=3),
    decimal.Decimal("1.10"),
    uuid.UUID(int=7),
    pathlib.Path("a/b"),
    [HumanMessage("hi", id="1"), AIMessage("", id="2", tool_calls=[{"name": "t", "args": {"a": 1}, "id": "c"}])],
    ToolMessage("ok", tool_call_id="c", id="3"),
    Send("node", {"x": 1}),
    Interrupt(value={"a": 1}, id="i"),
    Overwrite([1]),
]


@pytest.mark.parametrize("value", _SAFE, ids=lambda value: type(value).__name__)
def test_langgraphs_safe_types_come_back_as_they_were(value: Any) -> None:
    """What LangGraph itself puts into checkpoints needs no allowlist."""
    serializer = StrictSerializer()
    assert serializer.loads_typed(serializer.dumps_typed(value)) == value


@pytest.mark.parametrize("value", [Point(1), Ticket(id="T1"), Level.LOW, Aliased(orderId="A1")])
def test_an_allowed_type_comes_back_and_another_is_refused_when_stored(value: Any) -> None:
    """However deep it sits, and with the type's name in the message."""
    kind: type = value.__class__
    allowing = StrictSerializer(allowed=[kind])
    nested = {"a": [value]}
    assert allowing.loads_typed(allowing.dumps_typed(nested)) == nested
    with pytest.raises(CodecError, match=kind.__name__):
        StrictSerializer().dumps_typed(nested)


def test_a_type_hidden_in_an_allowed_one_is_refused() -> None:
    """The whole value is looked at, not its surface."""
    with pytest.raises(CodecError, match="Ticket"):
        StrictSerializer(allowed=[Point]).dumps_typed(Point(Ticket(id="T1")))  # pyright: ignore[reportArgumentType]


def test_a_secret_is_refused_when_stored() -> None:
    """A secret's text would be in the database in clear."""
    with pytest.raises(CodecError, match="SecretStr"):
        StrictSerializer().dumps_typed({"key": SecretStr("hunter2")})


def test_stored_data_of_an_unlisted_type_is_an_error_and_no_dict() -> None:
    """What a permissive saver wrote is not degraded."""
    stored = JsonPlusSerializer().dumps_typed({"a": Ticket(id="T1")})
    with pytest.raises(CodecError, match="not on the allowlist"):
        StrictSerializer().loads_typed(stored)


def test_stored_data_that_no_longer_fits_its_type_is_an_error_and_no_dict() -> None:
    """A field that was renamed since is told."""
    class_now = Ticket
    stored = JsonPlusSerializer().dumps_typed(class_now.model_construct(number=7))
    with pytest.raises(CodecError, match="cannot be rebuilt"):
        StrictSerializer(allowed=[Ticket]).loads_typed(stored)


def test_a_class_inside_a_function_is_refused_when_stored() -> None:
    """It could not be imported again."""

    class Local(BaseModel):
        x: int = 1

    with pytest.raises(CodecError, match="Local"):
        StrictSerializer(allowed=[Local]).dumps_typed(Local())


@pytest.mark.parametrize("value", [object(), lambda: 1, {"a": open}])
def test_what_has_no_data_is_refused(value: object) -> None:
    """Objects and functions belong in the context."""
    with pytest.raises(CodecError, match="cannot be stored"):
        StrictSerializer().dumps_typed(value)


@pytest.mark.parametrize("stored", [("json", b"{}"), ("pickle", b""), ("msgpack", b"\xc1")])
def test_another_encoding_or_damaged_data_is_an_error(stored: tuple[str, bytes]) -> None:
    """Nothing is guessed."""
    with pytest.raises(CodecError):
        StrictSerializer().loads_typed(stored)


def test_an_extended_allowlist_makes_a_new_serializer() -> None:
    """LangGraph extends it with the types of the state schema."""
    strict = StrictSerializer(allowed=[Point])
    wider = strict.with_msgpack_allowlist([Ticket])
    assert isinstance(wider, StrictSerializer)
    assert wider.loads_typed(wider.dumps_typed([Point(1), Ticket(id="1")])) == [Point(1), Ticket(id="1")]
    with pytest.raises(CodecError):
        strict.dumps_typed(Ticket(id="1"))
