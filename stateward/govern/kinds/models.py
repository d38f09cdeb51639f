"""Models: how often a role's call is tried, when its provider is left alone, and who answers then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from pydantic import Field

from stateward.govern.kinds.contract_spec import Tier
from stateward.govern.kinds.operator import COMMON, GREATEST, LEAST
from stateward.govern.kinds.section import Section, part
from stateward.govern.kinds.shape import Name, Positive, Seconds, Strict

DEFAULT_WAIT_S = 1.0
DEFAULT_BREAK_AFTER = 5
DEFAULT_BREAK_S = 30.0


class ModelRuleShape(Strict):
    """What holds for one model role."""

    tries: Annotated[int, Field(ge=1, le=20)] | None = None
    wait_s: Seconds | None = None
    fallback: list[Name] | None = None
    break_after: Positive | None = None
    break_s: Seconds | None = None
    tiers: list[Tier] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRule(Section):
    """What holds for one model role when its provider fails."""

    SHAPE: ClassVar[type[Strict]] = ModelRuleShape

    tries: int | None = part(LEAST, unit="attempts")
    """Attempts at one call while the infrastructure fails, the first included; a refused request is not tried again."""
    wait_s: float | None = part(GREATEST, unit="seconds")
    """The wait before the second attempt; it doubles with each, with jitter."""
    fallback: tuple[str, ...] | None = part(COMMON)
    """The roles that answer in its place, in this order, before the first visible token."""
    break_after: int | None = part(LEAST, unit="failures")
    """Failures of a provider in a row, after which it is not asked (the breaker opens)."""
    break_s: float | None = part(GREATEST, unit="seconds")
    """How long it is left alone; then one call probes it."""
    tiers: tuple[Tier, ...] | None = part(COMMON)
    """The tiers by which it may be brought to structured output; none may be given to forbid it."""

    @property
    def attempts(self) -> int:
        """How often a call is tried; a wait before the second attempt says that there is one."""
        return self.tries or (1 if self.wait_s is None else 2)

    @property
    def first_wait_s(self) -> float:
        """Seconds before the second attempt."""
        return DEFAULT_WAIT_S if self.wait_s is None else self.wait_s

    @property
    def has_breaker(self) -> bool:
        """Whether failures open a breaker."""
        return self.break_after is not None or self.break_s is not None

    @property
    def opens_after(self) -> int:
        """How many failures in a row open the breaker."""
        return self.break_after or DEFAULT_BREAK_AFTER

    @property
    def opens_for_s(self) -> float:
        """Seconds that it stays open."""
        return DEFAULT_BREAK_S if self.break_s is None else self.break_s


UNRULED = ModelRule()
"""What holds for a role of which no policy says anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleRule:
    """A model rule with the role it is for."""

    role: str
    rule: ModelRule


def tightened(outer: Sequence[RoleRule], *, inner: Sequence[RoleRule]) -> tuple[RoleRule, ...]:
    """Combine the model rules of two policies, role by role.

    Args:
        outer: The rules further out.
        inner: The rules further in.

    Returns:
        One rule for each role that either names, by name.
    """
    found = {each.role: each for each in outer}
    for each in inner:
        known = found.get(each.role)
        found[each.role] = each if known is None else replace(known, rule=known.rule.tighten(each.rule))
    return tuple(found[role] for role in sorted(found))
