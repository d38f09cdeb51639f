"""What `graphs.release` does: build a version, check it in several ways at once, remind, ship.

The checks wait instead of working, so that the chart can be watched for itself; `pace_s` says how long.
"""

from __future__ import annotations

import asyncio
import operator
from typing import Annotated, TypedDict

import stateward as sw


class Release(TypedDict, total=False):
    """The state of a release."""

    version: str
    pace_s: float
    """Seconds that a quick check takes; the scan takes three times as long. Nothing when it is not given."""
    artefact: str
    checks: Annotated[int, operator.add]
    """How many checks have passed. A sum: whichever of two regions adds first, it is the same."""
    reminded: bool
    shipped: bool


class Passed(TypedDict):
    """What a check writes. That its type names the keys lets `check` see what regions share."""

    checks: int


def assemble(state: Release) -> sw.Update[Release]:
    """Build the version.

    Args:
        state: The release.

    Returns:
        The file's name.
    """
    return {"artefact": f"app-{state.get('version', 'dev')}.whl"}


async def check(state: Release) -> Passed:
    """Run a quick check.

    Args:
        state: The release.

    Returns:
        One more check that has passed.
    """
    await asyncio.sleep(state.get("pace_s", 0))
    return {"checks": 1}


async def scan(state: Release) -> Passed:
    """Run the slow check.

    Args:
        state: The release.

    Returns:
        One more check that has passed.
    """
    await asyncio.sleep(3 * state.get("pace_s", 0))
    return {"checks": 1}


def remind(state: Release) -> sw.Update[Release]:
    """Note that the reviewer was reminded.

    Args:
        state: The release.

    Returns:
        The note.
    """
    return {"reminded": True}


def ship(state: Release) -> sw.Update[Release]:
    """Ship what was built.

    Args:
        state: The release.

    Returns:
        The note that it is out.
    """
    return {"shipped": bool(state.get("artefact"))}
