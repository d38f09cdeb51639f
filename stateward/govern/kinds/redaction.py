"""Redaction: which classes of findings are taken out before each place that text flows to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, cast, get_args

from stateward.govern.kinds.operator import UNITED
from stateward.govern.kinds.section import Section, part
from stateward.govern.kinds.shape import Strict

Finding = Literal["secret", "personal"]
"""What redaction looks for.

secret: gives access to something. personal: tells about a person.
"""
FINDINGS: tuple[Finding, ...] = get_args(Finding)
Sink = Literal["log", "audit", "memory", "model"]
"""Where text flows to.

log: traces and streams of the application's own. audit: the journal's arguments and the audit log. memory: the
long-term store. model: what a model is shown.
"""
BY_DEFAULT: frozenset[Finding] = frozenset({"secret"})
"""What is taken out where no policy says more."""


class RedactionShape(Strict):
    """What is taken out, by where the text goes to."""

    log: list[Finding] | None = None
    audit: list[Finding] | None = None
    memory: list[Finding] | None = None
    model: list[Finding] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction(Section):
    """What is taken out, by where the text goes to; what is not set keeps the house's default (`secret` everywhere)."""

    SHAPE: ClassVar[type[Strict]] = RedactionShape

    log: tuple[Finding, ...] | None = part(UNITED)
    """Traces, and what activities and tools send to the custom stream."""
    audit: tuple[Finding, ...] | None = part(UNITED)
    """The journal's arguments and the audit log."""
    memory: tuple[Finding, ...] | None = part(UNITED)
    """The long-term store."""
    model: tuple[Finding, ...] | None = part(UNITED)
    """What a model is shown."""

    def classes(self, sink: Sink) -> frozenset[Finding]:
        """Return what is taken out before a place.

        Args:
            sink: The place.

        Returns:
            What policies name, and what is taken out by default.
        """
        return BY_DEFAULT | frozenset(cast("tuple[Finding, ...] | None", getattr(self, sink)) or ())
