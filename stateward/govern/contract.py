"""A contract: the pydantic model made from a policy's description of an output.

Before an output is checked, other spellings of keys and values are put right, as the contract's aliases say.
Case and the characters between words do not matter there: `Account Access` finds the alias `account access`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from stateward.govern.fingerprint import digest
from stateward.govern.kinds.contract_spec import ContractSpec, FieldSpec
from stateward.govern.kinds.field_value import annotation

_SPACING = str.maketrans("-_", "  ")


class Contracts:
    """The contracts that were made, so that states under the same policies share one class."""

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: dict[tuple[str, str, str], type[BaseModel]] = {}

    def get(self, spec: ContractSpec, *, mode: str, policy_hash: str) -> type[BaseModel]:
        """Return the model that an output must fit, made when it is first asked for.

        Args:
            spec: The contract's description.
            mode: The mode of the policy.
            policy_hash: The hash of the policy.

        Returns:
            What `contract` makes; the same class for the same description, mode and hash.

        Source:
            SYSTEMS.md, C1.
        """
        # The description is part of the key: a policy made in code may say a hash that is not its own.
        key = (digest(spec.content), f"{spec.name} {mode}", policy_hash)
        made = self._made.get(key)
        # Of two threads that make the same one, both get the one that was put down first.
        return made or self._made.setdefault(key, contract(spec, mode=mode, policy_hash=policy_hash))


def contract(spec: ContractSpec, *, mode: str, policy_hash: str) -> type[BaseModel]:
    """Make the model that an output must fit.

    Args:
        spec: The contract's description.
        mode: The mode of the policy, shown in the title.
        policy_hash: The hash of the policy, its first twelve digits shown in the title.

    Returns:
        A frozen model that refuses unknown keys. Each call makes a new class; `Contracts` keeps them. A field
        named like a part of every model, such as `copy`, has that name in data and in the schema, and an underscore
        behind it as an attribute.

    Source:
        SYSTEMS.md, C1, C2 and C5.
    """
    # Any: the types of the fields are known only when the policy has been read.
    fields: dict[str, Any] = {
        name: _definition(field, alias=None if name == field.name else field.name)
        for name, field in _attributes(spec.fields).items()
    }
    return create_model(
        spec.name,
        __config__=ConfigDict(
            title=f"{spec.name}-{mode}-{policy_hash[:12]}",
            extra="forbid",
            frozen=True,
            str_strip_whitespace=True,
            allow_inf_nan=False,
            protected_namespaces=(),
            serialize_by_alias=True,
        ),
        __validators__={"_normalise": cast("Callable[..., Any]", model_validator(mode="before")(_before(spec)))},
        **fields,
    )


def normalise(value: Mapping[str, object], *, spec: ContractSpec) -> dict[str, object]:
    """Put the spelling of keys and values right.

    Args:
        value: The output as it came.
        spec: The contract's description.

    Returns:
        The output with the contract's own keys and values where an alias leads to them, the rest unchanged.

    Raises:
        ValueError: Two keys stand for the same field.
    """
    names = spellings((field.name for field in spec.fields), aliases=spec.aliases)
    fields = {field.name: field for field in spec.fields}
    result: dict[str, object] = {}
    for key, item in value.items():
        name = key if key in fields else names.get(folded(key), key)
        if name in result:
            raise ValueError(f"one key for the field `{name}`, not two")
        result[name] = _value(item, spec=fields[name]) if name in fields else item
    return result


def _before(spec: ContractSpec) -> Callable[[object], object]:
    def normalise_before(data: object) -> object:
        return normalise(cast("Mapping[str, object]", data), spec=spec) if _is_object(data) else data

    return normalise_before


def _is_object(data: object) -> bool:
    keys = cast("Mapping[object, object]", data) if isinstance(data, Mapping) else (None,)
    return all(isinstance(key, str) for key in keys)


def _value(value: object, *, spec: FieldSpec) -> object:
    if spec.type != "enum" or not isinstance(value, str) or value in spec.values:
        return value
    return spellings(spec.values, aliases=spec.aliases).get(folded(value), value)


def spellings(names: Iterable[str], *, aliases: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Map every folded spelling to the name it stands for; a name itself goes before an alias.

    Args:
        names: The names.
        aliases: Pairs of another spelling and the name it stands for.
    """
    own = {folded(name): name for name in names}
    return {folded(alias): name for alias, name in aliases} | own


def folded(text: str) -> str:
    """Return what spellings of the same words have in common: no case, one space between words.

    Args:
        text: A key or a value.
    """
    return " ".join(text.translate(_SPACING).casefold().split())


def _attributes(fields: Iterable[FieldSpec]) -> dict[str, FieldSpec]:
    """Give each field an attribute's name that pydantic takes: its own, unless every model has one of that name."""
    specs = tuple(fields)
    own = {spec.name for spec in specs if not _is_taken(spec.name)}
    given: dict[str, FieldSpec] = {}
    for spec in specs:
        given[spec.name if spec.name in own else _free(spec.name, taken=own | given.keys())] = spec
    return given


def _is_taken(name: str) -> bool:
    return name.startswith("_") or hasattr(BaseModel, name)


def _free(name: str, *, taken: Container[str]) -> str:
    free = f"{name.lstrip('_') or 'field'}_"
    while free in taken or _is_taken(free):
        free += "_"
    return free


def _definition(spec: FieldSpec, *, alias: str | None) -> tuple[object, object]:
    kind = annotation(spec)
    if spec.required:
        return kind, Field(alias=alias, description=spec.description or None)
    if spec.type == "list":
        return kind, Field(alias=alias, default=[], description=spec.description or None)
    return cast(Any, kind) | None, Field(alias=alias, default=None, description=spec.description or None)
