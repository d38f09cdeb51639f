"""The ruling on one tool: how far it may be used, and which place says so."""

from __future__ import annotations

from dataclasses import dataclass, replace

from stateward.errors import DefinitionError
from stateward.govern.kinds.arguments import ArgumentRule
from stateward.govern.kinds.operator import LEAST, Operator, ranked
from stateward.govern.kinds.shape import LEVELS, SENSITIVITIES, Level, Sensitivity
from stateward.govern.kinds.tools import Rule, ToolPolicy
from stateward.govern.pattern import compile_pattern
from stateward.govern.person import both_among

PEOPLE = Operator(name="common", of=both_among)
"""How lists of people tighten: to those that are on both, however each writes them."""
LESS_SENSITIVE = ranked(*reversed(SENSITIVITIES))
"""How clearances tighten: to the less sensitive data."""


def known_level(level: object) -> Level:
    """Take a level for what it says, and whatever is no level for `forbidden`.

    Args:
        level: What stands where a level should; `Rule` and `ToolPolicy` let nothing else in, this is the second lock.
    """
    for known in LEVELS:
        if isinstance(level, str) and level == known:
            return known
    return "forbidden"


def rank(level: object) -> int:
    """Order the levels: the higher, the stricter; what is no level is as strict as `forbidden`."""
    return LEVELS.index(known_level(level))


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What one argument must hold, and which place says so."""

    rule: ArgumentRule
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What holds for one tool.

    `tighten` makes rulings a semilattice: it is associative and idempotent, and never goes back to a weaker
    level, a larger count or a wider set of approvers.
    """

    tool: str
    level: Level
    origin: str
    max_calls: int | None = None
    approvers: tuple[str, ...] | None = None
    """Sorted; None means anyone, an empty tuple means nobody."""
    expires_s: float | None = None
    """How long an approval is waited for; None means without end."""
    approvals: int = 1
    """How many different people must approve."""
    four_eyes: bool = False
    """Whether who gave the input or edited the arguments may not approve."""
    cleared: Sensitivity | None = None
    """The most sensitive data it may be given here; None sets no limit."""
    arguments: tuple[Condition, ...] = ()
    """What its arguments must hold: the conditions of all layers."""
    explicit: bool = True
    """Whether a rule named the tool (False: the section's default decided)."""

    def tighten(self, other: Ruling) -> Ruling:
        """Combine with the ruling of an inner policy.

        Args:
            other: The inner ruling on the same tool.

        Returns:
            The stricter level with its origin (the outer one's when both are equal), the smaller count, the
            approvers that both accept and the shorter wait for them, the greater number of approvals, and the
            conditions on arguments of both.
        """
        stricter = other if rank(other.level) > rank(self.level) else self
        return replace(
            stricter,
            max_calls=LEAST.meet(self.max_calls, other.max_calls),
            approvers=PEOPLE.meet(self.approvers, other.approvers),
            expires_s=LEAST.meet(self.expires_s, other.expires_s),
            approvals=max(self.approvals, other.approvals),
            four_eyes=self.four_eyes or other.four_eyes,
            cleared=LESS_SENSITIVE.meet(self.cleared, other.cleared),
            arguments=tuple(dict.fromkeys((*self.arguments, *other.arguments))),
            explicit=self.explicit or other.explicit,
        )


def ruling_in(section: ToolPolicy, *, tool: str, place: str) -> Ruling:
    """Read what one policy's tool section says about a tool.

    Args:
        section: The tool section.
        tool: The tool's name.
        place: The policy's place, used as the beginning of the origin.

    Returns:
        The ruling of the first rule that matches the whole name, else of the section's default. A rule whose
        pattern cannot be read forbids what no rule before it names: it may have been meant for this tool.
    """
    for number, rule in enumerate(section.rules):
        origin = f"{place}: tools.rules[{number}] `{rule.match}`"
        try:
            matches = compile_pattern(rule.match).fullmatch(tool) is not None
        except DefinitionError:
            return Ruling(tool=tool, level="forbidden", origin=f"{origin}, which is no RE2 pattern")
        if matches:
            return _from_rule(rule, tool=tool, origin=origin)
    return Ruling(tool=tool, level=known_level(section.default), origin=f"{place}: tools.default", explicit=False)


def _from_rule(rule: Rule, *, tool: str, origin: str) -> Ruling:
    approvers = None if rule.approvers is None else tuple(sorted(set(rule.approvers)))
    level = known_level(rule.level)
    return Ruling(
        tool=tool,
        level=level,
        origin=origin,
        max_calls=rule.max_calls,
        approvers=approvers,
        expires_s=rule.expires_s,
        approvals=rule.approvals or 1,
        four_eyes=rule.four_eyes or False,
        cleared=rule.cleared,
        arguments=tuple(Condition(rule=each, origin=origin) for each in rule.arguments),
    )
