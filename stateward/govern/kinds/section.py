"""A section of a policy: named parts, each with its unit and the operator by which it tightens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import Field, dataclass, field, fields
from functools import reduce
from typing import Any, ClassVar, Self, TypeVar, cast

from stateward.govern.kinds.operator import Operator
from stateward.govern.kinds.shape import Strict
from stateward.govern.required import require

AnySection = TypeVar("AnySection", bound="Section")
_KEY = "stateward"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What is known of one part, whatever its value."""

    operator: Operator
    unit: str = ""
    """In what it is counted; empty for words and lists."""


def part(operator: Operator, *, unit: str = "") -> Any:
    """Declare a part of a section, unset by default.

    Args:
        operator: How it tightens.
        unit: In what it is counted.
    """
    return field(default=None, metadata={_KEY: Kind(operator=operator, unit=unit)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a section that is set."""

    name: str
    value: Any
    kind: Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section of a policy. Every field is declared with `part`."""

    SHAPE: ClassVar[type[Strict]]
    """What a policy file may say here."""

    def __post_init__(self) -> None:
        require(self.SHAPE, said=self.content, by=self)

    @property
    def content(self) -> dict[str, object]:
        """What a policy file says here: the parts that are set, as plain data."""
        return {one.name: plain(one.value) for one in self.parts()}

    def parts(self) -> Iterator[Part]:
        """Yield the parts that are set."""
        for each in fields(self):
            value = cast(object, getattr(self, each.name))
            if value is not None:
                yield Part(name=each.name, value=value, kind=kind_of(each))

    def tighten(self, inner: Self) -> Self:
        """Combine with the same section of a policy further in.

        Args:
            inner: The other section.

        Returns:
            The section that holds for both: never weaker than either.
        """
        both = {
            each.name: kind_of(each).operator.meet(getattr(self, each.name), getattr(inner, each.name))
            for each in fields(self)
        }
        return type(self)(**both)


def plain(value: object) -> object:
    """Return a part's value as a policy file would say it: a tuple as a list.

    Args:
        value: The value.
    """
    return list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value


def kind_of(each: Field[Any]) -> Kind:
    """Return what a field of a section was declared as.

    Args:
        each: A field made by `part`.
    """
    return cast(Kind, each.metadata[_KEY])


def tightest(sections: Sequence[AnySection | None]) -> AnySection | None:
    """Fold the same section of several policies, outermost first.

    Args:
        sections: The sections of one type; None where a policy has none.

    Returns:
        What holds for all; None if no policy has the section.
    """
    found = [section for section in sections if section is not None]
    return reduce(lambda outer, inner: outer.tighten(inner), found) if found else None
