"""What a revocation reaches, and how it is told."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.govern.revocation import Revocation, read_told


@pytest.mark.parametrize(
    ("kind", "name", "path", "hit"),
    [
        ("state", "WORK", "WORK", True),
        ("state", "WORK", "WORK.ACT", True),
        ("state", "WORK", "WORK/helper", True),
        ("state", "WORK.ACT", "WORK.ACT/helper/PLAN", True),
        ("state", "WORK", "WORKSHOP.ACT", False),
        ("agent", "helper", "WORK.ACT/helper", True),
        ("agent", "helper", "WORK.ACT/boss/helper", True),
        ("agent", "WORK", "WORK/helper", False),
    ],
)
def test_a_place_is_reached_with_all_inside(kind: Any, name: str, path: str, hit: bool) -> None:
    """Nested agents included, and nothing that only begins alike."""
    assert Revocation(kind=kind, name=name, by="ann").hits(kind="tool", name="pay", path=path) is hit


@given(
    st.sampled_from(["tool", "agent", "state"]), st.from_regex(r"[A-Za-z_.]{1,9}", fullmatch=True), st.text(), st.text()
)
def test_what_is_told_can_be_read_back(kind: Any, name: str, by: str, reason: str) -> None:
    """A record of a denial tells as much as a replay needs."""
    told = Revocation(kind=kind, name=name, by=by, reason=reason).told()
    read = read_told(told)
    assert read is not None
    assert (read.kind, read.name, read.told()) == (kind, name, told)


def test_another_reason_is_none() -> None:
    """Such as that of a fuse."""
    assert read_told("`calls` in `WORK` is limited to 3: 3 spent, 1 more asked") is None
