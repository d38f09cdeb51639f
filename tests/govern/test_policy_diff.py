"""Two policies side by side."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.govern.policy import ContractSpec, FieldSpec, Fuses, Group, Policy, Redaction, Rule, ToolPolicy
from stateward.govern.policy_diff import differences


def policy(**said: Any) -> Policy:
    """A policy of one name."""
    return Policy(name="p", **said)


def ruled(*rules: tuple[str, Any], **rest: Any) -> Policy:
    """A policy with rules of pattern and level."""
    return policy(tools=ToolPolicy(rules=tuple(Rule(match=match, level=level) for match, level in rules), **rest))


SPEC = ContractSpec(name="Ticket", fields=(FieldSpec(name="text", type="str"),))
GROUPS = (Group(name="in", match=("read",)), Group(name="out", match=("send",)))
WIDER = (*GROUPS, Group(name="run", match=("exec",)))


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (policy(), policy(fuses=Fuses(calls=5)), ("fuses.calls", "added", "tighter")),
        (policy(fuses=Fuses(calls=5)), policy(), ("fuses.calls", "removed", "looser")),
        (policy(fuses=Fuses(usd=0.5)), policy(fuses=Fuses(usd=0.4)), ("fuses.usd", "changed", "tighter")),
        (policy(), policy(fuses=Fuses(microsteps=2000)), ("fuses.microsteps", "added", "looser")),
        (policy(call_timeout_s=5), policy(call_timeout_s=9), ("call_timeout_s", "changed", "looser")),
        (policy(redact=Redaction(log=("secret",))), policy(redact=Redaction(log=("personal",))),
         ("redact.log", "changed", "mixed")),
        (policy(), policy(observe=True), ("observe", "changed", "looser")),
        (policy(mode="strict"), policy(mode="lenient"), ("mode", "changed", "neutral")),
        (policy(contracts=(SPEC,)), policy(), ("contract Ticket", "removed", "neutral")),
        (ruled(("pay", "allowed")), ruled(("pay", "restricted")), ("tool pay: level", "changed", "tighter")),
        (ruled(default="forbidden"), ruled(default="allowed"), ("other tools", "changed", "looser")),
        (ruled(), ruled(discovered=("a.*",)), ("tools.discovered", "added", "tighter")),
        (ruled(separate=GROUPS), ruled(separate=WIDER), ("tools.separate", "changed", "tighter")),
        (ruled(separate=GROUPS), ruled(), ("tools.separate", "removed", "looser")),
        (ruled(("(?i)pay", "restricted")), ruled(("(?i)pay", "allowed")), ("rule `(?i)pay`", "changed", "mixed")),
    ],
)  # fmt: skip
def test_each_part_is_told_with_what_it_does(before: Policy, after: Policy, told: tuple[str, str, str]) -> None:
    """Unset is the weakest, or what the house sets then."""
    assert [(one.part, one.what, one.verdict) for one in differences(before, after)] == [told]


def test_an_order_of_rules_that_matters_is_seen() -> None:
    """Both policies have the same rules; the first that matches decides."""
    rules = ("send_.*", "restricted"), ("send_mail", "allowed")
    (found,) = differences(ruled(*rules), ruled(*reversed(rules)))
    assert (found.part, found.verdict) == ("tool send_mail: level", "looser")


def test_rules_that_no_name_tells_apart_are_told_as_neutral() -> None:
    """A rule that the one before it hides."""
    (found,) = differences(ruled(("pay", "allowed")), ruled(("pay", "allowed"), ("pay", "forbidden")))
    assert (found.part, found.verdict) == ("tools", "neutral")


def test_names_of_a_graph_are_tried_as_well() -> None:
    """A pattern whose samples miss them may still rule on them."""
    before, after = ruled(("[a-z]+_[a-z]+", "allowed")), ruled(("x.*", "forbidden"), ("[a-z]+_[a-z]+", "allowed"))
    found = [one.part for one in differences(before, after, tools=["xerox_it"])]
    assert "tool xerox_it: level" in found


numbers = st.none() | st.integers(0, 3)
policies = st.builds(
    lambda calls, turns, level, default: policy(
        fuses=Fuses(calls=calls, turns=turns),
        tools=ToolPolicy(default=default, rules=(Rule(match="pay|send", level=level),)),
    ),
    numbers,
    numbers,
    *[st.sampled_from(["allowed", "restricted", "forbidden"])] * 2,
)


@given(policies, policies)
def test_the_other_way_round_is_the_opposite(one: Policy, other: Policy) -> None:
    """What is tighter from here is looser from there; a policy does not differ from itself."""
    turned = {"tighter": "looser", "looser": "tighter", "mixed": "mixed", "neutral": "neutral"}
    there = {each.part: each.verdict for each in differences(one, other)}
    back = {each.part: turned[each.verdict] for each in differences(other, one)}
    assert there == back
    assert differences(one, one) == ()
