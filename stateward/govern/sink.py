"""Sinks: what is taken out of text and data before it flows to a place, under the policy of the state it comes from."""

from __future__ import annotations

from stateward.govern.effective import Effective
from stateward.govern.kinds.redaction import BY_DEFAULT, Finding, Sink
from stateward.govern.kinds.shape import Sensitivity
from stateward.govern.redact import EVERY_CLASS

CLASSIFIED: frozenset[Sensitivity] = frozenset({"personal", "secret"})
"""Classes of data that no trace shows."""


def is_classified(effective: Effective) -> bool:
    """Whether a state works on data that no trace shows.

    Args:
        effective: The policy of the state.
    """
    return effective.sensitivity in CLASSIFIED


def taken_out(effective: Effective, *, sink: Sink) -> frozenset[Finding]:
    """Return what is taken out before a place.

    Args:
        effective: The policy of the state that it comes from.
        sink: The place.

    Returns:
        What the policies name, and what is taken out by default; before the log everything, where data is classified.

    Source:
        DESIGN.md, decision 10; SYSTEMS.md, D9 and G3.
    """
    if sink == "log" and is_classified(effective):
        return EVERY_CLASS
    return BY_DEFAULT if effective.redact is None else effective.redact.classes(sink)
