"""What is read from LangGraph's config, and added to it."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config, merge_configs, set_config_context

from stateward.run.checkpoint import FENCE, Pins
from stateward.run.configurable import is_nested, named, person_in, pinned, seen_fence, whole, with_fence


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
    assert with_fence(bare, 4).get("configurable") == {"thread_id": "1", FENCE: 4}


def test_pins_are_metadata_of_every_checkpoint() -> None:
    """By their own keys, so that checkpoints can be searched by them, and by their first digits, as commits are."""
    pins = Pins(chart="c", policy="p" * 12 + "more", schema="s", mode="strict")
    metadata = pinned({"metadata": {"mine": 1}}, pins).get("metadata")
    assert metadata == {"mine": 1, "chart_hash": "c", "policy_hash": "p" * 12, "schema_hash": "s", "mode": "strict"}


def test_fence_that_was_seen_is_optional() -> None:
    """Only who decided on an earlier look says so."""
    assert seen_fence(config()) is None


BARE: RunnableConfig = {"recursion_limit": 1000, "configurable": {}}
SAYING: RunnableConfig = {"recursion_limit": 30, "configurable": {"a": 1}, "tags": ["x"], "metadata": {"m": 1}}


@pytest.mark.parametrize("own", [None, BARE, config(tenant="t", model="own"), SAYING])
@pytest.mark.parametrize(
    "given",
    [
        None,
        {},
        config(thread_id="t"),
        config(model="m", checkpoint_ns=""),
        {"recursion_limit": 25},
        {"recursion_limit": 0},
        {"recursion_limit": 7, "metadata": {"m": 2, "model": "x"}, **config(model="m")},
        {"configurable": None, "metadata": None, "recursion_limit": None},
        {"tags": ["b", "a"], "run_name": "r", "thread_id": "t"},
    ],
)
def test_config_of_a_call_is_what_langchain_makes_of_it(own: Any, given: Any) -> None:
    """The short way for callers who say little comes to the same as LangChain's functions."""
    assert whole(own, given) == ensure_config(merge_configs(own, given))


def test_config_of_a_call_has_what_the_code_around_says() -> None:
    """A chart that is called inside a LangChain run goes on with its metadata."""
    with set_config_context({"metadata": {"around": "it"}}) as context:
        made: Any = context.run(whole, BARE, config(thread_id="t"))
    assert made["metadata"] == {"around": "it"}


def test_config_of_a_call_is_not_its_callers() -> None:
    """What is written into it does not show in what the caller passed."""
    given = config(thread_id="t")
    made: Any = whole(BARE, given)
    made["configurable"]["more"] = 1
    assert given == config(thread_id="t")
