"""Versions of channels: short, in order, and behind those that LangGraph's savers gave before."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from stateward.run.store.version import ShortVersions, next_version
from tests.charts.migrated import Drive
from tests.test_migration import room


def test_each_version_stands_behind_the_one_before() -> None:
    """As text, which is how they are compared: 10 behind 9, and 1,000 behind 999."""
    versions = [next_version(None)]
    for _ in range(1_100):
        versions.append(next_version(versions[-1]))
    assert sorted(versions) == versions


@pytest.mark.parametrize("count", [1, 9, 10, 12_345])
def test_a_version_stands_behind_that_of_langgraphs_savers(count: int) -> None:
    """And goes on with its number; a saver that only counts gives numbers."""
    before = InMemorySaver().get_next_version(f"{count - 1:032}.0.5", None)
    assert next_version(before) > before
    assert next_version(before).partition(".")[0] == next_version(count).partition(".")[0]


def test_two_branches_give_other_versions_under_one_number() -> None:
    """What is stored under a version belongs to one of them."""
    assert len({next_version("a5.AAAAAAAA") for _ in range(1_000)}) == 1_000


def versions(driven: Any) -> list[str]:
    stored = driven.session.database.saver.list(driven.session.config)
    return [version for one in stored for version in one.checkpoint["channel_versions"].values()]


def test_a_session_that_langgraphs_versions_began_goes_on(drive: Drive, monkeypatch: pytest.MonkeyPatch) -> None:
    """The states that were to come next come next, under versions of a dozen characters."""
    with monkeypatch.context() as earlier:
        earlier.delattr(ShortVersions, "get_next_version")
        assert drive(room()).start({"text": "kept"}).path == "OPEN"
    driven = drive(room())
    assert len(max(versions(driven))) > 32
    assert [driven.resume(event).path for event in ("lock", "unlock", "lock")] == ["SHUT", "OPEN", "SHUT"]
    assert len(max(versions(driven))) < 16
