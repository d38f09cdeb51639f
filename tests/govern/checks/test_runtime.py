"""Runtime: what the time of work lets pass."""

from __future__ import annotations

from stateward.govern.checks.runtime import left_s, used_up
from stateward.govern.decision import CallRequest, Deny, decide
from stateward.govern.effective import Effective, effective
from stateward.govern.policy import Fuses, Policy


def limited(*limits: tuple[str, float]) -> Effective:
    return effective([(scope, Policy(name="p", fuses=Fuses(runtime_s=s))) for scope, s in limits], path="W.A")


def a_call() -> CallRequest:
    return CallRequest(kind="tool", name="t", arguments={}, path="W.A", declared=frozenset({"t"}))


def test_no_call_begins_when_the_time_is_used_up() -> None:
    """The fuse is `runtime_s`, and the refusal names the scope."""
    decision = decide(limited(("W", 30)), request=a_call(), spent={("W", "runtime_s"): 30.0})
    assert isinstance(decision, Deny)
    assert (decision.fuse, decision.scope) == ("runtime_s", "W")
    assert "`W`" in decision.reason


def test_a_call_begins_while_there_is_time() -> None:
    """A moment before the limit it is let in."""
    assert not isinstance(decide(limited(("W", 30)), request=a_call(), spent={("W", "runtime_s"): 29.9}), Deny)


def test_a_raised_limit_takes_the_place_of_the_policys() -> None:
    """A person gave the run more time."""
    spent, raised = {("", "runtime_s"): 30.0}, {("", "runtime_s"): 60.0}
    assert used_up(limited(("", 30)), spent=spent, raised=raised) is None
    assert left_s(limited(("", 30)), spent=spent, raised=raised) == 30.0


def test_the_scope_with_the_least_left_counts() -> None:
    """Inner and outer limits hold side by side."""
    spent = {("", "runtime_s"): 50.0, ("W", "runtime_s"): 1.0}
    assert left_s(limited(("", 60), ("W", 20)), spent=spent, raised={}) == 10.0


def test_without_a_limit_there_is_no_end() -> None:
    """None says that nothing limits the time."""
    assert left_s(limited(), spent={}, raised={}) is None
