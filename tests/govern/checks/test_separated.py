"""Tools of separate groups never meet in one run."""

from __future__ import annotations

import pytest

from stateward.govern.decision import Allow, CallRequest, Decision, Deny, decide
from stateward.govern.effective import effective
from stateward.govern.policy import Group, Policy, ToolPolicy

APART = Policy(
    name="apart",
    tools=ToolPolicy(
        default="allowed",
        separate=(Group(name="connect", match=("connect_.*",)), Group(name="execute", match=("run_.*", "drop"))),
    ),
)


def asked(tool: str, *, used: tuple[str, ...], scope: str = "WORK") -> Decision:
    """Ask for a tool after others were used."""
    request = CallRequest(kind="tool", name=tool, arguments={}, path="WORK.A", declared=frozenset({tool}))
    spent = {(scope, f"calls:{name}"): 1.0 for name in used}
    return decide(effective([("WORK", APART)], path="WORK.A"), request=request, spent=spent)


@pytest.mark.parametrize(("tool", "before"), [("run_sql", "connect_db"), ("connect_db", "drop")])
def test_the_other_group_is_refused_after_one_was_used(tool: str, before: str) -> None:
    """Whichever came first; the reason names both tools' groups."""
    refusal = asked(tool, used=(before,))
    assert isinstance(refusal, Deny)
    assert "`connect`" in refusal.reason
    assert "`execute`" in refusal.reason
    assert refusal.rule == "WORK (code): tools.separate"


@pytest.mark.parametrize("used", [(), ("run_sql",), ("search",)])
def test_one_group_alone_is_free(used: tuple[str, ...]) -> None:
    """So are tools of no group beside it."""
    assert asked("run_shell", used=used) == Allow()


def test_a_tool_of_no_group_is_always_free() -> None:
    """Separation is about the groups it names."""
    assert asked("search", used=("connect_db", "run_sql")) == Allow()


def test_what_was_used_outside_the_scope_does_not_count() -> None:
    """A policy on a state keeps its groups apart there."""
    assert asked("run_sql", used=("connect_db",), scope="OTHER") == Allow()
