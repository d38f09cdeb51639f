"""Redaction: which classes of findings are taken out before each place that text flows to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from stateward.govern.kinds.operator import UNITED
from stateward.govern.kinds.section import Section, part
from stateward.govern.kinds.shape import Strict

Finding = Literal["secret", "personal"]
"""What redaction looks for.

secret: gives access to something. personal: tells about a person.
"""


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
    """Log lines, traces and streams."""
    audit: tuple[Finding, ...] | None = part(UNITED)
    """The journal's arguments and the audit log."""
    memory: tuple[Finding, ...] | None = part(UNITED)
    """The long-term store."""
    model: tuple[Finding, ...] | None = part(UNITED)
    """What a model is shown."""
