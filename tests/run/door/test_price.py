"""What tokens cost: input and output, what came from a cache, and calls so long that they have another rate."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from stateward.run.door.price import Rate, Taken, bound, cost, taken

FLAT = (Rate(input=2.0, output=8.0, cached=0.5, cache_write=2.5),)
STEPPED = (*FLAT, Rate(input=4.0, output=12.0, cached=1.0, cache_write=5.0, above=200_000))
M = 1_000_000


def usage(**tokens: Any) -> AIMessage:
    return AIMessage("x", usage_metadata=tokens)  # pyright: ignore[reportArgumentType]  # some of its keys


@pytest.mark.parametrize(
    ("took", "usd"),
    [
        (Taken(sent=M, got=0), 4.0),
        (Taken(sent=100_000, got=100_000), 1.0),
        (Taken(sent=100_000, got=0, cached=100_000), 0.05),
        (Taken(sent=100_000, got=0, cache_write=100_000), 0.25),
        (Taken(sent=200_000, got=0), 0.4),
        (Taken(sent=200_001, got=0), 0.800004),
    ],
    ids=str,
)
def test_each_kind_of_token_has_its_price(took: Taken, usd: float) -> None:
    """Above a number of input tokens, all tokens have another."""
    assert cost(STEPPED, taken=took) == pytest.approx(usd)


def test_model_without_a_price_costs_nothing_that_is_known() -> None:
    """So it has no bound either."""
    assert (cost((), taken=Taken(sent=5, got=5)), bound((), sent=5, got=5)) == (0.0, None)


@given(
    st.integers(0, 300_000),
    st.integers(0, 300_000),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 1),
    st.sampled_from([FLAT, STEPPED]),
)
def test_no_call_within_its_bound_costs_more(
    sent: int, got: int, part: float, cached: float, written: float, rates: tuple[Rate, ...]
) -> None:
    """Whatever the cache does, and in whichever step the call ends up."""
    real = int(sent * part)
    took = Taken(
        sent=real, got=int(got * part), cached=int(real * cached), cache_write=int(real * (1 - cached) * written)
    )
    most = bound(rates, sent=sent, got=got)
    assert most is not None
    assert cost(rates, taken=took) <= most + 1e-9


def test_reply_says_what_it_took() -> None:
    """With what came from the cache and what went there."""
    details = {"cache_read": 3, "cache_creation": 0, "ephemeral_5m_input_tokens": 2}
    found = taken(usage(input_tokens=10, output_tokens=5, total_tokens=15, input_token_details=details))
    assert found == Taken(sent=10, got=5, cached=3, cache_write=2)


def test_reasoning_that_is_in_the_total_only_is_output() -> None:
    """Some providers leave it out of the output."""
    found = taken(usage(input_tokens=10, output_tokens=5, total_tokens=40))
    assert found is not None
    assert (found.got, found.total) == (30, 40)


@pytest.mark.parametrize("message", [AIMessage("x"), HumanMessage("x")], ids=["silent", "no reply"])
def test_reply_without_usage_says_nothing(message: Any) -> None:
    """Which is not the same as none."""
    assert taken(message) is None
