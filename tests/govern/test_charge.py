"""What a call reserves, and why one that nobody can bound is refused where something is limited."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.govern.charge import charges, overspent
from stateward.govern.effective import Effective, effective
from stateward.govern.policy import Fuses, Policy
from stateward.govern.request import CallRequest, Facts


def under(**fuses: Any) -> Effective:
    return effective([("", Policy(name="p", fuses=Fuses(**fuses)))], path="ACT")


def asked(**parts: Any) -> CallRequest:
    return CallRequest(kind="model", name="m", arguments={}, path="ACT", declared=frozenset({"m"}), **parts)


def test_a_model_call_reserves_a_turn_tokens_and_money() -> None:
    """In every scope that counts it; here the chart's own."""
    found = charges(under(usd=1.0), request=asked(estimate_usd=0.5, estimate_tokens=70))
    assert [(charge.scope, charge.unit, charge.amount, charge.limit) for charge in found] == [
        ("", "turns", 1.0, None),
        ("", "tokens", 70.0, None),
        ("", "usd", 0.5, 1.0),
    ]


@pytest.mark.parametrize(("limit", "fuse"), [({"usd": 1.0}, "money"), ({"tokens": 9}, "tokens")], ids=str)
def test_a_call_without_a_bound_is_refused_with_what_to_configure(limit: dict[str, Any], fuse: str) -> None:
    """The reason is the request's own; without one it is told plainly."""
    facts = Facts(spent={})
    told = overspent(
        under(**limit), request=asked(estimate_usd=None, estimate_tokens=None, unbounded="set it"), facts=facts
    )
    plain = overspent(under(**limit), request=asked(estimate_usd=None, estimate_tokens=None), facts=facts)
    assert told is not None
    assert plain is not None
    assert fuse in told.reason
    assert (told.reason, told.fuse) == (f"{plain.reason}: set it", None)


def test_a_call_without_a_bound_is_free_where_nothing_is_limited() -> None:
    """Nobody asks what it costs."""
    assert (
        overspent(under(turns=5), request=asked(estimate_usd=None, estimate_tokens=None), facts=Facts(spent={})) is None
    )


@pytest.mark.parametrize(("spent", "trips"), [(0.5, False), (0.50001, True)])
def test_a_limit_trips_before_the_call_that_would_pass_it(spent: float, trips: bool) -> None:
    """To the last digit that counts."""
    facts = Facts(spent={("", "usd"): spent})
    refused = overspent(under(usd=1.0), request=asked(estimate_usd=0.5), facts=facts)
    assert (refused is not None) is trips
