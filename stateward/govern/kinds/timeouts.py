"""Timeouts: how long one call and one activity may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from stateward.govern.kinds.operator import LEAST
from stateward.govern.kinds.section import Section, part
from stateward.govern.kinds.shape import Seconds, Strict


class TimeoutsShape(Strict):
    """The timeouts; in a file they stand beside the sections."""

    call_timeout_s: Seconds | None = None
    activity_timeout_s: Seconds | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts(Section):
    """How long the work of the states under a policy may take."""

    SHAPE: ClassVar[type[Strict]] = TimeoutsShape

    call_timeout_s: float | None = part(LEAST, unit="seconds")
    """One tool call, one model call or one whole stream."""
    activity_timeout_s: float | None = part(LEAST, unit="seconds")
    """One activity with all its calls. Waiting for a person does not count: the activity has ended then."""
