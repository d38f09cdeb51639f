"""What is taken out before a place depends on the policies around a state and on its data."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.govern.effective import Effective, effective
from stateward.govern.policy import Data, Policy, Redaction
from stateward.govern.sink import is_classified, taken_out


def held(*policies: Policy) -> Effective:
    return effective([(str(number), policy) for number, policy in enumerate(policies)], path="ACT")


def test_policies_around_a_state_are_united() -> None:
    """Whichever of them names a class."""
    outer = Policy(name="outer", redact=Redaction(model=("personal",)))
    inner = Policy(name="inner", redact=Redaction(log=("personal",)))
    both = held(outer, inner)
    assert taken_out(both, sink="model") == taken_out(both, sink="log") == {"secret", "personal"}
    assert taken_out(both, sink="memory") == {"secret"}


@pytest.mark.parametrize(("sensitivity", "classified"), [("public", False), ("internal", False), ("personal", True)])
def test_classified_data_is_kept_from_the_log(sensitivity: Any, classified: bool) -> None:
    """Whatever the policy says of it; other places are as they were."""
    one = held(Policy(name="p", data=Data(sensitivity=sensitivity)))
    assert is_classified(one) is classified
    assert ("personal" in taken_out(one, sink="log")) is classified
    assert taken_out(one, sink="model") == {"secret"}


def test_without_a_policy_secrets_are_taken_out() -> None:
    """Everywhere."""
    assert taken_out(held(), sink="audit") == {"secret"}
