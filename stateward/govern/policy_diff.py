"""What lies between two policies: each part by its operator, tools by names that the patterns of both match.

A part is tighter when the stricter of both values, by the part's own operator, is the new one; looser when it is the
old one; mixed when it is neither, so that the new policy allows something the old one did not, and the other way round.
What cannot loosen or tighten is neutral. A name stands for all that a rule matches: of each pattern some are made
(`pattern_sample`). A pattern of which none can be made is compared as text, and is mixed where it was changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from stateward.govern.contract_diff import changes as contract_changes
from stateward.govern.kinds.fuses import DEFAULT_MICROSTEPS
from stateward.govern.kinds.operator import COMMON, Operator
from stateward.govern.kinds.tools import ToolPolicy
from stateward.govern.pattern_sample import samples
from stateward.govern.policy import Policy
from stateward.govern.tool_diff import RANKED_LEVELS, Verdict, by_operator, rulings_differ, verdict_of

What = Literal["added", "removed", "changed"]
_DEFAULTS = {"fuses.microsteps": DEFAULT_MICROSTEPS}
"""What holds where a part is not set, if not nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One part of a policy that is not the same."""

    part: str
    what: What
    before: object
    after: object
    verdict: Verdict

    @property
    def is_looser(self) -> bool:
        """Whether the new policy may allow what the old one did not."""
        return self.verdict in ("looser", "mixed")

    def to_json(self) -> dict[str, object]:
        """Return it as plain JSON."""
        return {
            "part": self.part,
            "what": self.what,
            "before": self.before,
            "after": self.after,
            "verdict": self.verdict,
        }


def differences(before: Policy, after: Policy, *, tools: Iterable[str] = ()) -> tuple[Change, ...]:
    """Compare two policies.

    Args:
        before: The older one.
        after: The newer one.
        tools: Names of tools to try both on, beside those that their patterns are made of.

    Returns:
        Every part that is not the same.
    """
    return (
        *_words(before, after),
        *_parts(before, after),
        *_tools(before.tools, after.tools, names=tools),
        *_contracts(before, after),
    )


def _words(before: Policy, after: Policy) -> Iterator[Change]:
    if before.mode != after.mode:
        yield Change(part="mode", what="changed", before=before.mode, after=after.mode, verdict="neutral")
    if before.observe != after.observe:  # a policy that only observes binds nothing
        verdict: Verdict = "looser" if after.observe else "tighter"
        yield Change(part="observe", what="changed", before=before.observe, after=after.observe, verdict=verdict)


def _parts(before: Policy, after: Policy) -> Iterator[Change]:
    old, new = dict(before.parts()), dict(after.parts())
    for name in dict.fromkeys((*old, *new)):
        operator = (old.get(name) or new[name]).kind.operator
        values = [side[name].value if name in side else _DEFAULTS.get(name) for side in (old, new)]
        if values[0] != values[1]:
            yield _change(name, *values, operator=operator, what=_what(old.get(name), new.get(name)))


def _what(old: object, new: object) -> What:
    return "added" if old is None else "removed" if new is None else "changed"


def _change(part: str, old: Any, new: Any, *, operator: Operator, what: What) -> Change:
    verdict = by_operator(old, new, operator=operator)
    return Change(part=part, what=what, before=old, after=new, verdict=verdict)


def _tools(before: ToolPolicy | None, after: ToolPolicy | None, *, names: Iterable[str]) -> Iterator[Change]:
    if before == after:
        return
    found = [
        *_defaults(before, after),
        *_named(before, after, names),
        *_unsampled(before, after),
        *_lists(before, after),
    ]
    if not found:
        told = "the rules, in a way that no sampled name tells apart"
        found.append(Change(part="tools", what="changed", before=None, after=told, verdict="neutral"))
    yield from found


def _defaults(before: ToolPolicy | None, after: ToolPolicy | None) -> Iterator[Change]:
    old, new = ("allowed" if each is None else each.default for each in (before, after))
    if old != new:
        verdict = by_operator(old, new, operator=RANKED_LEVELS)
        yield Change(part="other tools", what="changed", before=old, after=new, verdict=verdict)


def _named(before: ToolPolicy | None, after: ToolPolicy | None, names: Iterable[str]) -> Iterator[Change]:
    sampled = {name for each in (before, after) if each for rule in each.rules for name in samples(rule.match)}
    for tool in sorted({*names, *sampled}):
        for part, old, new, verdict in rulings_differ(before, after, tool=tool):
            yield Change(part=f"tool {tool}: {part}", what=_what(old, new), before=old, after=new, verdict=verdict)


def _unsampled(before: ToolPolicy | None, after: ToolPolicy | None) -> Iterator[Change]:
    old, new = (({rule.match: rule for rule in each.rules} if each else {}) for each in (before, after))
    for match in dict.fromkeys((*old, *new)):
        if old.get(match) != new.get(match) and not samples(match):
            was, now = (side[match].level if match in side else None for side in (old, new))
            yield Change(part=f"rule `{match}`", what=_what(was, now), before=was, after=now, verdict="mixed")


def _lists(before: ToolPolicy | None, after: ToolPolicy | None) -> Iterator[Change]:
    old, new = (None if each is None else each.discovered for each in (before, after))
    if old != new:
        yield _change("tools.discovered", old, new, operator=COMMON, what=_what(old, new))
    groups = _groups(before), _groups(after)
    if groups[0] != groups[1]:
        was, now = (tuple(sorted(each)) or None for each in groups)
        yield Change(
            part="tools.separate",
            what=_what(was, now),
            before=was,
            after=now,
            verdict=verdict_of(is_tighter=_keeps(groups[1], groups[0]), is_looser=_keeps(groups[0], groups[1])),
        )


def _groups(section: ToolPolicy | None) -> dict[str, frozenset[str]]:
    return {group.name: frozenset(group.match) for group in (section.separate if section else ())}


def _keeps(one: dict[str, frozenset[str]], other: dict[str, frozenset[str]]) -> bool:
    """Whether one keeps apart all that the other does: more groups and more patterns keep more apart."""
    return all(one.get(name, frozenset()) >= other[name] for name in other)


def _contracts(before: Policy, after: Policy) -> Iterator[Change]:
    for one in contract_changes(before.contracts, after.contracts):
        whole: dict[str, What] = {"contract added": "added", "contract removed": "removed"}
        what = whole.get(one.what, "changed")
        about = f"contract {one.contract}" + (f".{one.field}" if one.field else "")
        said = "" if what != "changed" else f": {one.what}"
        yield Change(part=about + said, what=what, before=one.before, after=one.after, verdict="neutral")
