"""What keeps a call from being made now: it comes too early, or there is no time left for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from stateward.govern.verdict import Deny

TimeKind = Literal["pace", "time", "runtime_s", "activity_timeout_s"]
"""By what time a refusal was made; it is written down with it, so that a replay refuses the same.

pace: its turn would come too late. time: none is left for it. runtime_s: the run has worked for as long as it may.
activity_timeout_s: a sync activity ended too late.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Early:
    """The call may be made later."""

    wait_s: float
    """Seconds, more than 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutOfTime:
    """The call is not made, because of the time."""

    kind: TimeKind
    denial: Deny
