"""What a tool's look-up knows of a call that was started before a crash: one of three answers.

`stateward.effects` is the public name of this module.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Completed:
    """The call was done: its result is taken over, and it is never made again."""

    result: Any = None  # JSON, as the tool would have returned it


@dataclass(frozen=True, slots=True)
class SafeToRetry:
    """The call did not happen: it is made now, under the same key."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nobody can say: the chart's `unknown_after_crash` takes it, else a person is asked."""

    reason: str = ""
    """Why, for the audit log."""


Looked = Completed | SafeToRetry | Unknown


def looked(found: object) -> Looked:
    """Read what a look-up returned.

    Args:
        found: One of the three answers; None stands for `SafeToRetry`, anything else for what the call returned.
    """
    if isinstance(found, Completed | SafeToRetry | Unknown):
        return found
    return SafeToRetry() if found is None else Completed(found)
