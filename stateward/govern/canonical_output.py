"""The last tier's reading of an output: put right, then inferred, then filled in with conservative defaults.

Nothing here hides: whatever was not said as the contract wants it is told beside the value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from stateward.govern.contract import folded, normalise, spellings
from stateward.govern.gate import Failed, Passed, check
from stateward.govern.kinds.contract_spec import ContractSpec, FieldSpec
from stateward.govern.pattern import compile_pattern
from stateward.govern.reply_text import lines_in, object_in

How = Literal["inferred", "default", "dropped"]
"""inferred: a rule of the contract found the value in a text. default: the contract's default stands there.
dropped: the contract has no such key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Degraded:
    """One key whose value is not what was said."""

    field: str
    how: How
    given: object
    """What was said; None if nothing was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Canonical:
    """An output as the last tier reads it."""

    verdict: Passed | Failed
    degraded: tuple[Degraded, ...] = ()
    """What is not as it was said, in the contract's order, what was dropped last; empty if it failed."""


def read(text: str, *, contract: type[BaseModel], spec: ContractSpec | None) -> Canonical:
    """Read an output out of a model's words.

    Args:
        text: What it wrote.
        contract: What the output must fit.
        spec: The contract's description; None of a pydantic model that no policy describes.

    Returns:
        `Passed` with what was degraded, or `Failed` with feedback.
    """
    found = object_in(text) or _told(text, spec=spec)
    if found is None:
        return Canonical(verdict=check(contract, value=text))
    return canonical_output(found, contract=contract, spec=spec)


def canonical_output(value: Mapping[str, object], *, contract: type[BaseModel], spec: ContractSpec | None) -> Canonical:
    """Make an output fit its contract as far as the contract says how.

    Args:
        value: The output as it came.
        contract: What it must fit.
        spec: The contract's description; None of a pydantic model that no policy describes, which is only checked.

    Returns:
        `Passed` with what was degraded, or `Failed` with feedback.

    Source:
        SYSTEMS.md, C5.
    """
    if spec is None:
        return Canonical(verdict=check(contract, value=value))
    try:
        said = normalise(value, spec=spec)
    except ValueError:  # two keys for one field: the gate says which
        return Canonical(verdict=check(contract, value=value))
    names = {field.name for field in spec.fields}
    known = {name: item for name, item in said.items() if name in names}
    repaired, degraded = _repaired(known, check(contract, value=known), spec=spec)
    verdict = check(contract, value=repaired)
    if isinstance(verdict, Failed):
        return Canonical(verdict=verdict)
    dropped = [Degraded(field=name, how="dropped", given=said[name]) for name in said if name not in names]
    return Canonical(verdict=verdict, degraded=(*degraded, *dropped))


def _told(text: str, *, spec: ContractSpec | None) -> Mapping[str, object] | None:
    """Read lines of `key: value`, if any of them speaks of a field."""
    if spec is None:
        return None
    names = spellings((field.name for field in spec.fields), aliases=spec.aliases)
    # A line that speaks of no field is no key that was meant: it is not even dropped.
    lines = {key: value for key, value in lines_in(text).items() if folded(key) in names}
    return lines or None


def _repaired(
    known: Mapping[str, object], verdict: Passed | Failed, *, spec: ContractSpec
) -> tuple[dict[str, object], list[Degraded]]:
    wrong = {error.key[0] for error in verdict.errors if error.key} if isinstance(verdict, Failed) else set[str | int]()
    repaired, degraded = dict(known), list[Degraded]()
    for field in spec.fields:
        if field.name not in wrong:
            continue
        for how, value in _offers(field, known=known):
            repaired[field.name] = value
            degraded.append(Degraded(field=field.name, how=how, given=known.get(field.name)))
            break
    return repaired, degraded


def _offers(field: FieldSpec, *, known: Mapping[str, object]) -> Iterator[tuple[How, object]]:
    for rule in field.infer:
        text = known.get(rule.field or field.name)
        if isinstance(text, str) and compile_pattern(rule.pattern, case_sensitive=False).search(text) is not None:
            yield "inferred", rule.value
    if field.default is not None:
        yield "default", list(field.default) if isinstance(field.default, tuple) else field.default
