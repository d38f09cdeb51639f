"""What a run can reach in total under two policies, side by side."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from stateward.govern.total import Total

Compared = Literal["less", "same", "more"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The most of one unit under both."""

    unit: str
    before: Total
    after: Total

    @property
    def compared(self) -> Compared:
        """Whether the newer policy lets a run reach less, the same or more."""
        if self.before.most == self.after.most:
            return "same"
        if self.before.most is None or self.after.most is None:
            return "less" if self.before.most is None else "more"
        return "less" if self.after.most < self.before.most else "more"

    def to_json(self) -> dict[str, object]:
        """Return it as plain JSON; both ways are those on which the most is reached."""
        ways = {"before": self.before.to_json(), "after": self.after.to_json()}
        return {"unit": self.unit, "compared": self.compared, **ways}


def reach(before: Iterable[Total], after: Iterable[Total]) -> tuple[Reach, ...]:
    """Compare what one run can come to.

    Args:
        before: The totals under the older policy.
        after: The totals under the newer one.

    Returns:
        Every unit that either of them knows; one that is missing cannot be reached at all.
    """
    old, new = ({total.unit: total for total in totals} for totals in (before, after))
    return tuple(
        Reach(
            unit=unit, before=old.get(unit) or Total(unit=unit, most=0), after=new.get(unit) or Total(unit=unit, most=0)
        )
        for unit in dict.fromkeys((*old, *new))
    )
