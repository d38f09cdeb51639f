"""Data classes: how sensitive what a state works on is, and so which models and tools may see it (SYSTEMS D9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from stateward.govern.kinds.operator import ranked
from stateward.govern.kinds.section import Section, part
from stateward.govern.kinds.shape import SENSITIVITIES, Sensitivity, Strict

STRICTER_DATA = ranked(*SENSITIVITIES)


class DataShape(Strict):
    """The data."""

    sensitivity: Sensitivity | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Data(Section):
    """How sensitive what the states under a policy work on is."""

    SHAPE: ClassVar[type[Strict]] = DataShape

    sensitivity: Sensitivity | None = part(STRICTER_DATA)
    """Only models and tools that are cleared for it may be used: `cleared` of a model role, a tool and a rule."""
