"""The two policies that most tests of this folder fold and ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from stateward.config import load_policy
from stateward.govern.effective import Effective, effective
from stateward.govern.policy import Policy

FOLDER = Path(__file__).parent / "policies"
TOOLS = ("delete_account", "issue_refund", "lookup_order", "search_kb")


@pytest.fixture
def working() -> Policy:
    """The policy on WORKING."""
    return load_policy("working", folder=FOLDER, env={})


@pytest.fixture
def tighter() -> Policy:
    """A policy for WORKING.ACT that only tightens."""
    return load_policy("tighter", folder=FOLDER, env={})


@pytest.fixture
def inside(working: Policy) -> Effective:
    """What holds in a state of WORKING."""
    return effective([("WORKING", working)], path="WORKING.ACT", tools=TOOLS)


@pytest.fixture
def deep(working: Policy, tighter: Policy) -> Effective:
    """What holds in WORKING.ACT when it has a policy of its own."""
    return effective([("WORKING", working), ("WORKING.ACT", tighter)], path="WORKING.ACT", tools=TOOLS)
