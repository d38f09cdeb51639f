"""What keeps a call from being made now: it comes too early, or the time for it is over."""

from __future__ import annotations

from typing import Literal

from stateward.govern.verdict import Deny

TimeKind = Literal["pace", "time", "runtime_s", "activity_timeout_s"]
"""By what time something was refused, written down for replays.

pace: its turn comes too late. time: none is left. runtime_s: the run has worked for long enough. activity_timeout_s: a
sync activity ended too late.
"""
TIMED = "limit"
"""The key of an audit record under which the kind stands."""


class TooEarly(Exception):  # named after what happened, as in errors.py
    """A call has to wait for its turn, so many seconds; whoever makes it waits and asks again."""

    def __init__(self, wait_s: float) -> None:
        self.wait_s = wait_s
        super().__init__(f"{wait_s:g} s")


class OutOfTime(Exception):  # named after what happened, as in errors.py
    """A call is not made, because the time is over in which it could be."""

    def __init__(self, kind: TimeKind, denial: Deny) -> None:
        self.kind: TimeKind = kind
        self.denial = denial
        super().__init__(denial.reason)
