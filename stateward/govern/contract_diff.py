"""What changed between two versions of a contract, and for whom it breaks.

Two parties hold a contract. The writer makes outputs: a change breaks it when an output that passed may fail, or mean
something else. The reader takes them: a change breaks it when something may come that could not come before. A reader
is expected to leave keys alone that it does not know.

| change | writer | reader |
|---|---|---|
| a field is added, required | breaks | holds |
| a field is added, optional | holds | holds |
| a field is removed | breaks, unless its name is an alias now | breaks |
| optional → required | breaks | holds |
| required → optional | holds | breaks |
| narrowed: less fits | breaks | holds |
| widened: more fits | holds | breaks |
| another type, another pattern | breaks | breaks |
| a value is removed | breaks, unless it is an alias now | holds |
| a value is added | holds | breaks |
| an alias is removed, or means something else | breaks | holds |
| retries, tiers, rules of inference, defaults, descriptions | holds | holds |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from stateward.govern.contract import folded, spellings
from stateward.govern.field_diff import Difference, differences
from stateward.govern.kinds.contract_spec import ContractSpec, FieldSpec

Verdict = Literal["compatible", "breaking"]
"""compatible: the party goes on as it is. breaking: it has to be changed, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of a contract."""

    contract: str
    field: str
    """The field it is about; empty for the contract itself."""
    what: str
    before: object
    after: object
    writer: Verdict
    reader: Verdict

    @property
    def is_breaking(self) -> bool:
        """Whether it breaks anybody."""
        return "breaking" in (self.writer, self.reader)

    def to_json(self) -> dict[str, object]:
        """Return it as plain JSON."""
        return {
            "contract": self.contract,
            "field": self.field,
            "what": self.what,
            "before": self.before,
            "after": self.after,
            "writer": self.writer,
            "reader": self.reader,
        }


def changes(before: Iterable[ContractSpec], after: Iterable[ContractSpec]) -> tuple[Change, ...]:
    """Compare the contracts of two policies.

    Args:
        before: The contracts of the older one.
        after: Those of the newer one.

    Returns:
        Every change, contract by contract and field by field; empty when nothing changed that anybody can see.
    """
    old, new = {spec.name: spec for spec in before}, {spec.name: spec for spec in after}
    found: list[Change] = []
    for name in dict.fromkeys((*old, *new)):
        if name not in old:
            found.append(_change(name, "", Difference(what="contract added", before=None, after=name)))
        elif name not in new:
            gone = Difference(what="contract removed", before=name, after=None, writer=False, reader=False)
            found.append(_change(name, "", gone))
        else:
            found.extend(_change(name, field, one) for field, one in _contract(old[name], new[name]))
    return tuple(found)


def _change(contract: str, field: str, found: Difference) -> Change:
    return Change(
        contract=contract,
        field=field,
        what=found.what,
        before=found.before,
        after=found.after,
        writer="compatible" if found.writer else "breaking",
        reader="compatible" if found.reader else "breaking",
    )


def _contract(old: ContractSpec, new: ContractSpec) -> Iterator[tuple[str, Difference]]:
    before, after = {field.name: field for field in old.fields}, {field.name: field for field in new.fields}
    renamed = _renamed(before, after, new=new)
    for name, field in before.items():
        successor = renamed.get(name, name)
        if successor != name:
            yield name, Difference(what="renamed", before=name, after=successor, reader=False)
        if successor in after:
            yield from ((name, one) for one in differences(field, after[successor]))
        else:
            yield name, Difference(what="field removed", before=name, after=None, writer=False, reader=False)
    for name, field in after.items():
        if name not in before and name not in renamed.values():
            what = f"field added, {'required' if field.required else 'optional'}"
            yield name, Difference(what=what, before=None, after=name, writer=not field.required)
    yield from (("", one) for one in _aliases(old, new))
    for key in ("retries", "tiers"):
        was, now = getattr(old, key), getattr(new, key)
        if was != now:
            yield "", Difference(what=key, before=was, after=now)


def _renamed(before: Mapping[str, FieldSpec], after: Mapping[str, FieldSpec], *, new: ContractSpec) -> dict[str, str]:
    """Find the fields whose old name leads to a new field: what is written under it is still taken."""
    names = spellings(after, aliases=new.aliases)
    found: dict[str, str] = {}
    for name in before:
        successor = names.get(folded(name), name)
        if name not in after and successor not in before and successor not in found.values():
            found[name] = successor
    return {name: successor for name, successor in found.items() if successor in after}


def _aliases(old: ContractSpec, new: ContractSpec) -> Iterator[Difference]:
    now = spellings((field.name for field in new.fields), aliases=new.aliases)
    was = spellings((field.name for field in old.fields), aliases=old.aliases)
    for alias, field in old.aliases:
        stands = now.get(folded(alias))
        # An alias of a field that is gone is no change of its own.
        if stands != field and any(field == one.name for one in new.fields):
            yield Difference(what=f"alias `{alias}` removed", before=field, after=stands, writer=False)
    for alias, field in new.aliases:
        if folded(alias) not in was:
            yield Difference(what=f"alias `{alias}` added", before=None, after=field)
