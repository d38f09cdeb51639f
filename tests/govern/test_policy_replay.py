"""Recorded calls under another policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from stateward.errors import PolicyLoosened
from stateward.govern.effective import Effective, effective
from stateward.govern.policy import Fuses, Policy, Rule, ToolPolicy
from stateward.govern.policy_replay import Recorded, Replayed, replayed, undecided
from stateward.govern.request import CallRequest
from stateward.govern.revocation import Revocation

WORK = "WORK.ACT"


def under(*policies: Policy) -> Effective:
    """The policies on the chart and on WORK."""
    return effective(list(zip(("", "WORK"), policies, strict=False)), path=WORK, tools=["pay", "look"])


def made(name: str = "pay", **other: Any) -> Recorded:
    """A call that was made."""
    said = {"amounts": {"calls": 1.0, f"calls:{name}": 1.0, "usd": 0.0}, "before": "allow"} | other
    about = {"session": "s", "run": "r", "path": WORK, "activation": 1, "call": 1, "arguments": {}}
    return Recorded(name=name, kind="tool", **(about | said))


def decided(calls: Sequence[Recorded], policy: Effective) -> Replayed:
    def request(call: Recorded) -> CallRequest:
        declared = frozenset(["pay", "look"])
        return CallRequest(kind="tool", name=call.name, arguments={}, path=call.path, declared=declared)

    return replayed(calls, effective=lambda path: policy if path == WORK else None, request=request)


def outcomes(calls: Sequence[Recorded], policy: Effective) -> list[str]:
    """What each flipped call would come to."""
    return [flip.after.outcome for flip in decided(calls, policy).flips]


def test_what_was_spent_counts_in_every_scope_of_the_other_policy() -> None:
    """A limit on the chart and one on a superstate see the same calls."""
    calls = [made(), made("look"), made()]
    assert outcomes(calls, under(Policy(name="p", fuses=Fuses(calls=2)))) == ["deny"]
    assert outcomes(calls, under(Policy(name="p"), Policy(name="q", fuses=Fuses(calls=1)))) == ["deny", "deny"]


def test_each_run_counts_for_itself() -> None:
    """Two runs of one call each stay under a fuse of one."""
    assert outcomes([made(run="r1"), made(run="r2")], under(Policy(name="p", fuses=Fuses(calls=1)))) == []


def test_a_refused_call_does_not_count() -> None:
    """It was not made."""
    refused = made(before="deny", made=False)
    assert outcomes([refused, made()], under(Policy(name="p", fuses=Fuses(calls=1)))) == ["allow"]


def test_raised_limits_and_revocations_are_those_of_then() -> None:
    """Each call has its own."""
    policy = under(Policy(name="p", fuses=Fuses(calls=1)))
    assert outcomes([made(), made(raised={("", "calls"): 2.0})], policy) == []
    assert outcomes([made(revoked=(Revocation(kind="tool", name="pay", by="ann"),))], policy) == ["deny"]


def test_a_state_that_is_no_more_is_told() -> None:
    """And its call is not counted among those decided."""
    found = decided([made(path="GONE"), made()], under(Policy(name="p")))
    assert (found.calls, found.strange) == (1, ("GONE",))


levels = st.sampled_from(["allowed", "restricted", "forbidden"])
policies = st.builds(
    lambda calls, pay, look: Policy(
        name="p",
        fuses=Fuses(calls=calls),
        tools=ToolPolicy(rules=(Rule(match="pay", level=pay), Rule(match="look", level=look))),
    ),
    st.none() | st.integers(0, 3),
    levels,
    levels,
)


@given(policies, st.integers(0, 3), levels, st.lists(st.sampled_from(["pay", "look"]), max_size=5))
def test_a_tighter_policy_lets_no_more_pass(loose: Policy, calls: int, pay: Any, names: list[str]) -> None:
    """Folded with another one, whose word is at least as strict, no call comes to a weaker end."""
    rules = (Rule(match="pay", level=pay), Rule(match=".*", level="allowed"))
    try:
        tight = under(loose, Policy(name="q", fuses=Fuses(calls=calls), tools=ToolPolicy(rules=rules)))
    except PolicyLoosened:
        return
    strictness = ("allow", "ask", "deny").index
    before, after = ([strictness(one) for one in ends(names, policy)] for policy in (under(loose), tight))
    assert all(now >= then for then, now in zip(before, after, strict=True))


def ends(names: Sequence[str], policy: Effective) -> list[str]:
    """What each call comes to: one that does not flip comes to what it came to before."""
    calls = [made(name, call=number) for number, name in enumerate(names)]
    flipped = {flip.call.call: flip.after.outcome for flip in decided(calls, policy).flips}
    return [flipped.get(call.call, call.before) for call in calls]


def test_what_is_not_decided_anew_is_said() -> None:
    """Parts of the policy that are about time, and the policies of agents inside; each once."""
    calls = [made(), made(path="WORK.ACT/summary"), made(path="WORK.ACT/helper"), made(path="WORK.ACT/helper")]
    timed = Policy(name="p", fuses=Fuses(runtime_s=9))
    (time, nested) = undecided(timed, calls=calls)
    assert "`fuses.runtime_s` decided nothing" in time
    assert nested.startswith("Calls of `WORK.ACT/helper` are decided")
    assert list(undecided(Policy(name="p", fuses=Fuses(calls=1)), calls=calls[:2])) == []
