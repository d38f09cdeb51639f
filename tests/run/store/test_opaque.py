"""Stored values as plain data: what is packed again is packed as it was."""

from __future__ import annotations

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import _DeltaSnapshot  # pyright: ignore[reportPrivateUsage]
from langgraph.types import Interrupt

from stateward.errors import CodecError
from stateward.run.store.opaque import OpaqueSerializer, replaced

VALUES = [None, b"x", {"a": 1}, [HumanMessage("hi", id="m")], {"s": _DeltaSnapshot([HumanMessage("hi", id="m")])}]


@pytest.mark.parametrize("value", VALUES)
def test_bytes_are_the_same_again(value: object) -> None:
    """Types that cannot be imported pass through."""
    stored, opaque = JsonPlusSerializer().dumps_typed(value), OpaqueSerializer()
    assert opaque.dumps_typed(opaque.loads_typed(stored)) == stored


def test_a_full_copy_is_told_apart() -> None:
    """PostgreSQL stores it under a mark."""
    stored = JsonPlusSerializer().dumps_typed({"s": _DeltaSnapshot([1])})
    assert OpaqueSerializer().loads_typed(stored) == {"s": _DeltaSnapshot([1])}


@pytest.mark.parametrize("stored", [("pickle", b""), ("msgpack", b"\xc1")])
def test_what_cannot_be_read_is_an_error(stored: tuple[str, bytes]) -> None:
    """Another encoding, or damaged data."""
    with pytest.raises(CodecError):
        OpaqueSerializer().loads_typed(stored)


def test_texts_are_replaced_wherever_they_stand() -> None:
    """Also inside what stays packed, as keys, and in a full copy; all else is as it was."""
    serde = OpaqueSerializer()
    value = {"a": ["a", 1, None], "b": Interrupt(value={"asks": [{"id": "a", "of": "ab"}]}, id="a")}
    loaded = serde.loads_typed(JsonPlusSerializer().dumps_typed(value))
    told = replaced(loaded, text=lambda text: {"a": "z"}.get(text, text), form=lambda form: form)
    assert serde.dumps_typed(replaced(loaded, text=str, form=dict)) == serde.dumps_typed(loaded)
    assert JsonPlusSerializer().loads_typed(serde.dumps_typed(told)) == {
        "z": ["z", 1, None],
        "b": Interrupt(value={"asks": [{"id": "z", "of": "ab"}]}, id="z"),
    }
