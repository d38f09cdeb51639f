"""The long-term store with sealed values."""

from __future__ import annotations

import asyncio

import pytest
from langgraph.store.memory import InMemoryStore

from stateward.errors import CheckpointError, CodecError
from stateward.run.store.cipher import Cipher
from stateward.run.store.sealed_store import SealedStore


@pytest.fixture
def store() -> SealedStore:
    return SealedStore(InMemoryStore(), cipher=Cipher({"k1": b"1" * 32}))


def test_a_value_comes_back_as_it_was(store: SealedStore) -> None:
    """Through get and search, sync and async."""
    store.put(("notes", "ann"), "k", {"text": "secret"})
    assert [item.value for item in store.search(("notes",))] == [{"text": "secret"}]
    found = asyncio.run(store.aget(("notes", "ann"), "k"))
    assert found is not None
    assert found.value == {"text": "secret"}


def test_the_store_inside_holds_nothing_clear(store: SealedStore) -> None:
    """Only what the cipher made."""
    store.put(("notes",), "k", {"text": "secret"})
    inner = store.inner.get(("notes",), "k")
    assert inner is not None
    assert "secret" not in str(inner.value)


def test_a_value_does_not_open_under_another_key(store: SealedStore) -> None:
    """Moved to another place it is refused."""
    store.put(("notes",), "k", {"text": "secret"})
    inner = store.inner.get(("notes",), "k")
    assert inner is not None
    store.inner.put(("notes",), "other", inner.value)
    with pytest.raises(CodecError, match="another place"):
        store.get(("notes",), "other")


def test_values_are_not_searched_by_what_they_hold(store: SealedStore) -> None:
    """It would find nothing, and say so only by silence."""
    with pytest.raises(CheckpointError, match="cannot be searched"):
        store.search(("notes",), filter={"text": "secret"})


def test_a_value_can_be_taken_away(store: SealedStore) -> None:
    """As in any store."""
    store.put(("notes",), "k", {"text": "secret"})
    store.delete(("notes",), "k")
    assert store.get(("notes",), "k") is None
