"""Accuracy: how often verdicts agree with labels, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Pairs = Sequence[tuple[str, str]]
"""The label and the verdict of each message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How often verdicts agree with labels on one field."""

    field: str
    right: int
    total: int
    confusions: tuple[tuple[str, str, int], ...]
    """Label, verdict and how often they were confused so; the commonest first."""

    @property
    def share(self) -> float:
        """The share of right verdicts, 0 to 1; 0 when nothing was measured."""
        return self.right / self.total if self.total else 0.0


def agreement(field: str, *, pairs: Pairs) -> Agreement:
    """Count agreements and confusions.

    Args:
        field: The field's name.
        pairs: Label and verdict of each message.
    """
    wrong = [pair for pair in pairs if pair[0] != pair[1]]
    counts = sorted((-wrong.count(pair), pair) for pair in set(wrong))
    return Agreement(
        field=field,
        right=len(pairs) - len(wrong),
        total=len(pairs),
        confusions=tuple((label, verdict, -count) for count, (label, verdict) in counts),
    )


def table(columns: Mapping[str, Sequence[Agreement]]) -> str:
    """Lay out agreements as a Markdown table, one line for each field.

    Args:
        columns: For each part of the messages, its agreements; every part has the same fields.
    """
    head = ["field", *columns]
    rows = [
        [fields[0].field, *(f"{a.share:.3f} ({a.right}/{a.total})" for a in fields)]
        for fields in zip(*columns.values(), strict=True)
    ]
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
