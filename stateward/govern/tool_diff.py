"""What two policies say of one tool: part by part, which of both is the stricter one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, cast

from stateward.govern.kinds.arguments import ArgumentRule
from stateward.govern.kinds.operator import ANY, COMMON, GREATEST, LEAST, Operator, ranked
from stateward.govern.kinds.shape import LEVELS
from stateward.govern.kinds.tools import ToolPolicy
from stateward.govern.ruling import LESS_SENSITIVE, PEOPLE, Ruling, ruling_in

Verdict = Literal["tighter", "looser", "mixed", "neutral"]
"""How the newer value compares.

tighter: it allows less. looser: it allows more. mixed: some of both, or nobody can tell. neutral: it limits nothing.
"""
Difference = tuple[str, object, object, Verdict]
"""The part, the older value, the newer value, and how they compare."""

RANKED_LEVELS = ranked(*LEVELS)
_PARTS: Mapping[str, Operator] = {
    "max_calls": LEAST,
    "approvers": PEOPLE,
    "approvals": GREATEST,
    "four_eyes": ANY,
    "expires_s": LEAST,
    "cleared": LESS_SENSITIVE,
}
_EITHER = Operator(name="either", of=lambda one, other: (one, other) if one != other else one)
"""No two different values of it can be compared."""
_CONDITIONS: Mapping[str, Operator] = {
    "min": GREATEST,
    "max": LEAST,
    "values": COMMON,
    "min_length": GREATEST,
    "max_length": LEAST,
    "hosts": COMMON,
    "required": ANY,
}


def verdict_of(*, is_tighter: bool, is_looser: bool) -> Verdict:
    """Name a comparison.

    Args:
        is_tighter: Whether the newer value is at least as strict.
        is_looser: Whether the older one is.
    """
    if is_tighter == is_looser:
        return "neutral" if is_tighter else "mixed"
    return "tighter" if is_tighter else "looser"


def by_operator(old: Any, new: Any, *, operator: Operator) -> Verdict:
    """Compare two values of one part.

    Args:
        old: The older one; None if it is not set.
        new: The newer one; None if it is not set.
        operator: How the part tightens; what is not set is the weakest.
    """
    if old is None or new is None:
        return verdict_of(is_tighter=old is None, is_looser=new is None)
    return verdict_of(is_tighter=not operator.is_loosened(old, by=new), is_looser=not operator.is_loosened(new, by=old))


def rulings_differ(before: ToolPolicy | None, after: ToolPolicy | None, *, tool: str) -> Iterator[Difference]:
    """Compare what two tool sections say of one tool.

    Args:
        before: The older section; None where everything that is declared is allowed.
        after: The newer one.
        tool: The tool's name.
    """
    old, new = _ruling(before, tool), _ruling(after, tool)
    if old.level != new.level:
        yield "level", old.level, new.level, by_operator(old.level, new.level, operator=RANKED_LEVELS)
    if "forbidden" in (old.level, new.level):
        return  # what else is said of a tool that may not be used says nothing
    for part, operator in _PARTS.items():
        values = _value(old, part), _value(new, part)
        if values[0] != values[1]:
            yield part, *values, by_operator(*values, operator=operator)
    yield from _arguments(old, new)


def _ruling(section: ToolPolicy | None, tool: str) -> Ruling:
    if section is None:
        return Ruling(tool=tool, level="allowed", origin="", explicit=False)
    return ruling_in(section, tool=tool, place="")


def _value(ruling: Ruling, part: str) -> object:
    value: object = getattr(ruling, part)
    unset = {"approvals": 1, "four_eyes": False}
    return None if part in unset and value == unset[part] else value


def _arguments(old: Ruling, new: Ruling) -> Iterator[Difference]:
    before, after = ({each.rule.name: each.rule for each in one.arguments} for one in (old, new))
    for name in sorted({*before, *after}):
        was, now = (_content(side.get(name)) for side in (before, after))
        for key in dict.fromkeys((*was, *now)):
            if was.get(key) != now.get(key):
                values = was.get(key), now.get(key)
                verdict = by_operator(*values, operator=_CONDITIONS.get(key, _EITHER))
                yield f"argument {name}.{key}", *values, verdict


def _content(rule: ArgumentRule | None) -> Mapping[str, object]:
    if rule is None:
        return {}
    return {
        key: tuple(cast("list[object]", value)) if isinstance(value, list) else value
        for key, value in rule.content.items()
    }
