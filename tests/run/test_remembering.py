"""What an activity puts into the long-term store is redacted; keys are never changed."""

from __future__ import annotations

import asyncio
from datetime import date

import pytest
from langgraph.store.memory import InMemoryStore

from stateward.errors import RunError
from stateward.govern.effective import effective
from stateward.govern.policy import Policy, Redaction
from stateward.run.remembering import Remembering, remembering

PERSONAL = Policy(name="p", redact=Redaction(memory=("personal",)))
KEY = "AKIAQ7ZX2M4T8WPLK1NB"


def opened(policy: Policy = PERSONAL) -> tuple[Remembering, InMemoryStore]:
    """Return the store as an activity sees it, and the one behind it."""
    behind = InMemoryStore()
    seen = remembering(behind, effective=effective([("", policy)], path="ACT"))
    assert isinstance(seen, Remembering)
    return seen, behind


def test_value_is_redacted_and_read_back_so() -> None:
    """Secrets always, and what the policy says besides."""
    seen, behind = opened()
    seen.put(("notes",), "n", {"key": KEY, "to": "ann@example.org", "n": 3})
    item = behind.get(("notes",), "n")
    assert item is not None
    assert item.value == {"key": "[redacted aws_key]", "to": "[redacted email]", "n": 3}
    assert seen.get(("notes",), "n") == item


def test_value_that_is_no_plain_data_is_kept_as_it_is_if_nothing_is_in_it() -> None:
    """Else it is made plain, so that what is in it can be taken out."""
    seen, behind = opened()
    asyncio.run(seen.aput(("notes",), "a", {"on": date(2026, 1, 31)}))
    asyncio.run(seen.aput(("notes",), "b", {"said": ValueError(KEY)}))
    values = {item.key: item.value for item in behind.search(("notes",))}
    assert values == {"a": {"on": date(2026, 1, 31)}, "b": {"said": "[redacted aws_key]"}}


@pytest.mark.parametrize("where", [(("notes", "4111111111111111"), "n"), (("notes",), "ann@example.org")])
def test_key_that_would_have_to_change_is_refused(where: tuple[tuple[str, ...], str]) -> None:
    """Redacted, it could be the key of somebody else."""
    seen, behind = opened()
    with pytest.raises(RunError, match="an id or a hash of it"):
        seen.put(*where, {"x": 1})
    assert behind.search(()) == []


def test_deleting_and_the_rest_of_a_store_are_as_they_were() -> None:
    """Whatever a store has beside LangGraph's methods can be reached."""
    seen, behind = opened()
    seen.put(("notes",), "n", {"x": 1})
    seen.delete(("notes",), "n")
    assert behind.search(("notes",)) == []
    assert seen._data is behind._data  # pyright: ignore[reportPrivateUsage]


def test_graph_without_a_store_has_none() -> None:
    """There is nothing to put before it."""
    assert remembering(None, effective=effective([("", PERSONAL)], path="ACT")) is None
