"""A layer: one policy on one state, and the limits it sets there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from stateward.govern.kinds.fuses import COUNTED
from stateward.govern.policy import Policy
from stateward.govern.ruling import Ruling, ruling_in

ROOT_LABEL = "(chart)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """The most that may be spent of one unit in one scope during a run."""

    unit: str
    """`turns`, `tokens`, `usd`, `calls`, `runtime_s`, or `calls:<tool>`."""
    value: float
    scope: str
    """The path of the state the limit hangs on; everything inside draws on it."""
    origin: str


def smallest(limits: Iterable[Limit]) -> tuple[Limit, ...]:
    """Keep one limit for each scope and unit, the smallest, in the order of first appearance.

    Args:
        limits: The limits, outermost first.
    """
    kept: dict[tuple[str, str], Limit] = {}
    for limit in limits:
        key = (limit.scope, limit.unit)
        known = kept.get(key)
        kept[key] = limit if known is None or limit.value < known.value else known
    return tuple(kept.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One policy, hung on the state with the path `scope` (empty for the chart itself)."""

    scope: str
    policy: Policy
    _rulings: dict[str, Ruling | None] = field(default_factory=dict[str, "Ruling | None"], compare=False, repr=False)
    """What was read of it before: matching patterns is most of the work of folding policies."""

    @property
    def place(self) -> str:
        """Where this policy hangs and was written, for people."""
        return f"{self.scope or ROOT_LABEL} ({self.policy.source})"

    def origin(self, key: str) -> str:
        """Name one key of this policy.

        Args:
            key: The dotted key inside the policy file.
        """
        return f"{self.place}: {key}"

    def fuse_limits(self) -> tuple[Limit, ...]:
        """List the limits that the fuses of this policy set."""
        values = {one.name: one.value for one in self.policy.fuses.parts()}
        return tuple(
            Limit(unit=unit, value=values[unit], scope=self.scope, origin=self.origin(f"fuses.{unit}"))
            for unit in COUNTED
            if unit in values
        )

    def tool_limit(self, tool: str) -> Limit | None:
        """Return the count this policy sets for one tool, if it sets one.

        Args:
            tool: The tool's name.
        """
        ruling = self.ruling(tool)
        if ruling is None or ruling.max_calls is None:
            return None
        return Limit(unit=f"calls:{tool}", value=ruling.max_calls, scope=self.scope, origin=ruling.origin)

    def ruling(self, tool: str) -> Ruling | None:
        """Return what this policy says about one tool; None when it has no tool section.

        Args:
            tool: The tool's name.
        """
        if tool not in self._rulings:
            section = self.policy.tools
            self._rulings[tool] = None if section is None else ruling_in(section, tool=tool, place=self.place)
        return self._rulings[tool]
