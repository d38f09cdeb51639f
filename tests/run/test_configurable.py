"""What is read from LangGraph's config, and added to it."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig

from stateward.run.checkpoint import FENCE, Pins
from stateward.run.configurable import is_nested, named, person_in, pinned, seen_fence, with_fence


def config(**configurable: Any) -> RunnableConfig:
    return {"configurable": configurable}


def test_name_that_nobody_gave_is_empty() -> None:
    """Never the word `None`."""
    assert (named(config(), "tenant"), named(config(tenant="acme"), "tenant")) == ("", "acme")


@pytest.mark.parametrize(
    ("told", "person"),
    [
        ({"approver": "eve", "langgraph_auth_user_id": "ann"}, "ann"),
        ({"approver": "eve", "langgraph_auth_user_id": ""}, "eve"),
        ({"approver": "eve", "langgraph_auth_user_id": None}, "eve"),
        ({"langgraph_auth_user_id": "ann"}, "ann"),
        ({}, ""),
    ],
)
def test_who_is_authenticated_stands_above_who_is_named(told: Any, person: str) -> None:
    """A client of LangGraph's server can write `approver`, and cannot write who it is."""
    assert person_in(config(**told), "approver") == person


def test_call_is_nested_only_when_langgraph_says_so() -> None:
    """A caller who writes a namespace of its own does not get past the session's lease."""
    forged, real = config(checkpoint_ns="a"), config(checkpoint_ns="a:1", __pregel_task_id="t")
    assert (is_nested(config()), is_nested(forged), is_nested(real)) == (False, False, True)


def test_fence_travels_with_the_writes() -> None:
    """Without a lease nothing is added."""
    bare = config(thread_id="1")
    assert with_fence(bare, None) is bare
    assert with_fence(bare, 4)["configurable"] == {"thread_id": "1", FENCE: 4}


def test_pins_are_metadata_of_every_checkpoint() -> None:
    """By their own keys, so that checkpoints can be searched by them."""
    pins = Pins(chart="c", policy="p", schema="s", mode="strict")
    metadata = pinned({"metadata": {"mine": 1}}, pins)["metadata"]
    assert metadata == {"mine": 1, "chart_hash": "c", "policy_hash": "p", "schema_hash": "s", "mode": "strict"}


def test_fence_that_was_seen_is_optional() -> None:
    """Only who decided on an earlier look says so."""
    assert seen_fence(config()) is None
