"""What changed in one field of a contract: whether all that fitted still fits, and whether nothing new does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from stateward.govern.contract import folded, spellings
from stateward.govern.kinds.contract_spec import FieldSpec
from stateward.govern.kinds.field_value import fits

_LEAST = (("min_length", "length"), ("min", "value"), ("min_items", "number of items"))
_GREATEST = (("max_length", "length"), ("max", "value"), ("max_items", "number of items"))
_UNSEEN = ("default", "infer", "description")
"""What no party of the contract meets in an output that passed its gate as it was said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One difference, and who can live with it."""

    what: str
    before: object
    after: object
    writer: bool = True
    """Whether all that fitted before still fits, and means the same."""
    reader: bool = True
    """Whether all that fits now did so before."""


def differences(old: FieldSpec, new: FieldSpec) -> Iterator[Difference]:
    """Compare two versions of a field.

    Args:
        old: The older one.
        new: The newer one; it may have another name.

    Yields:
        Each difference.
    """
    yield from _presence(old, new)
    if _kind(old) != _kind(new):
        yield _type(old, new)
    else:
        yield from _bounds(old, new)
        yield from _texts(old, new)
        yield from _values(old, new)
    for key in _UNSEEN:
        was, now = getattr(old, key), getattr(new, key)
        if was != now:
            yield Difference(what=key, before=_shown(was), after=_shown(now))


def _presence(old: FieldSpec, new: FieldSpec) -> Iterator[Difference]:
    if old.required == new.required:
        return
    # A list that may be missing is empty then: who could meet an empty one before meets nothing new.
    empty = old.type == new.type == "list" and not old.min_items
    what = ("optional", "required") if new.required else ("required", "optional")
    yield Difference(
        what=f"{what[0]} → {what[1]}",
        before=what[0],
        after=what[1],
        writer=not new.required,
        reader=new.required or empty,
    )


def _kind(field: FieldSpec) -> str:
    return f"list of {field.items}" if field.type == "list" else field.type


def _type(old: FieldSpec, new: FieldSpec) -> Difference:
    before, after = _kind(old), _kind(new)
    wider, narrower = {("int", "float"), ("list of int", "list of float")}, {("float", "int")}
    narrower.add(("list of float", "list of int"))
    writer = (before, after) in wider and _holds(old, new)
    reader = (before, after) in narrower and _holds(new, old)
    if (before, after) == ("enum", "str"):
        writer = all(fits(value, field=new) for value in old.values)
    if (before, after) == ("str", "enum"):
        reader = all(fits(value, field=old) for value in new.values)
    return Difference(what="type", before=before, after=after, writer=writer, reader=reader)


def _holds(inner: FieldSpec, outer: FieldSpec) -> bool:
    """Whether the bounds of one field lie within those of the other."""
    return not any(one.what.startswith("narrowed") for one in _bounds(inner, outer))


def _bounds(old: FieldSpec, new: FieldSpec) -> Iterator[Difference]:
    for keys, sign in ((_LEAST, 1), (_GREATEST, -1)):
        for key, name in keys:
            was, now = getattr(old, key), getattr(new, key)
            if was == now:
                continue
            # Unset is the weakest bound of both kinds.
            narrowed = was is None or (now is not None and sign * now > sign * was)
            word = "narrowed" if narrowed else "widened"
            end = "least" if sign > 0 else "greatest"
            yield Difference(what=f"{word}: {end} {name}", before=was, after=now, writer=not narrowed, reader=narrowed)


def _texts(old: FieldSpec, new: FieldSpec) -> Iterator[Difference]:
    for key in ("pattern", "forbid"):
        was, now = getattr(old, key), getattr(new, key)
        if was != now:
            # Which of two patterns matches more is not decided here: the change breaks both.
            word = "narrowed" if was is None else "widened" if now is None else "changed"
            yield Difference(
                what=f"{word}: {key}", before=was, after=now, writer=word == "widened", reader=word == "narrowed"
            )
    was, now = set(old.contains), set(new.contains)
    if was != now:
        yield Difference(
            what="changed: what it contains",
            before=sorted(was),
            after=sorted(now),
            writer=now <= was,
            reader=was <= now,
        )


def _values(old: FieldSpec, new: FieldSpec) -> Iterator[Difference]:
    if old.type != "enum":
        return
    now, was = spellings(new.values, aliases=new.aliases), spellings(old.values, aliases=old.aliases)
    for value in old.values:
        if value not in new.values:
            stands = now.get(folded(value))
            told = Difference(what=f"value `{value}` removed", before=value, after=stands, writer=stands is not None)
            yield told
    for value in new.values:
        if value not in old.values:
            yield Difference(what=f"value `{value}` added", before=None, after=value, reader=False)
    for alias, value in old.aliases:
        stands = now.get(folded(alias))
        if stands != value and (stands is None or value in new.values):
            yield Difference(what=f"alias `{alias}` removed", before=value, after=stands, writer=False)
    for alias, value in new.aliases:
        if folded(alias) not in was:
            yield Difference(what=f"alias `{alias}` added", before=None, after=value)


def _shown(value: object) -> object:
    """What a file would say."""
    if isinstance(value, tuple):
        return [getattr(one, "content", one) for one in cast("tuple[object, ...]", value)]
    return value
