"""What a rule and a tool section may say."""

from __future__ import annotations

from typing import Any

import pytest

from stateward.errors import DefinitionError
from stateward.govern.kinds.tools import Group, Rule, ToolPolicy


@pytest.mark.parametrize("key", [{"approvals": 2}, {"four_eyes": True}, {"approvers": ("ann",)}, {"expires_s": 9.0}])
def test_what_is_about_approvals_needs_a_restricted_level(key: dict[str, Any]) -> None:
    """An allowed tool is never approved, so such a key would be read by nobody."""
    with pytest.raises(DefinitionError, match="only on a rule whose level is restricted"):
        Rule(match="pay", level="allowed", **key)


def test_a_rule_needs_as_many_approvers_as_approvals() -> None:
    """Else the call could never be approved."""
    with pytest.raises(DefinitionError, match="at least as many `approvers` as `approvals`"):
        Rule(match="pay", level="restricted", approvers=("ann", "ann"), approvals=2)


def test_separation_needs_two_groups() -> None:
    """One group has nothing to be kept apart from."""
    with pytest.raises(DefinitionError, match="`separate`"):
        ToolPolicy(separate=(Group(name="connect", match=("connect_.*",)),))


def test_a_group_is_named_once() -> None:
    """Two groups of one name would be one in a file."""
    with pytest.raises(DefinitionError, match="every name once"):
        ToolPolicy(separate=(Group(name="a", match=("x",)), Group(name="a", match=("y",))))


def test_a_pattern_of_found_tools_must_be_one() -> None:
    """A pattern RE2 cannot read is refused where it is written."""
    with pytest.raises(DefinitionError, match="an RE2 pattern"):
        ToolPolicy(discovered=("(?=x)",))
