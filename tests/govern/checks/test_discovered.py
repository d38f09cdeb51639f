"""A tool that is found at run time needs a place on every list."""

from __future__ import annotations

import pytest

from stateward.govern.decision import Allow, CallRequest, Deny, decide
from stateward.govern.effective import effective
from stateward.govern.policy import Policy, ToolPolicy


def listing(*patterns: str) -> Policy:
    """Make a policy that lists tools."""
    return Policy(name="list", tools=ToolPolicy(default="allowed", discovered=patterns))


@pytest.mark.parametrize(
    ("policies", "found", "runs"),
    [
        ([listing("search_.*")], True, True),
        ([listing("search_.*"), listing("search_kb", "x")], True, True),
        ([listing("search_.*"), listing("search_web")], True, False),
        ([listing()], True, False),
        ([listing()], False, True),
        ([Policy(name="none")], True, True),
    ],
)
def test_every_list_must_name_it(policies: list[Policy], found: bool, runs: bool) -> None:
    """Registered tools need none, and without a list the rules decide."""
    request = CallRequest(
        kind="tool", name="search_kb", arguments={}, path="A", declared=frozenset({"search_kb"}), is_discovered=found
    )
    decision = decide(effective([("A", each) for each in policies], path="A"), request=request, spent={})
    assert isinstance(decision, Allow if runs else Deny)
