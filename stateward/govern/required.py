"""What a value made in code must hold, said in the words that a mistake in a file is answered with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar, cast

from pydantic import BaseModel, ValidationError

from stateward.errors import DefinitionError
from stateward.govern.problem import first, problems

Part = TypeVar("Part")


def require(shape: type[BaseModel], *, said: Mapping[str, object], by: object) -> None:
    """Refuse what a policy file could not say.

    Args:
        shape: The model of that part of a file.
        said: The content, as it would stand in a file.
        by: The value that holds the content, for the message.

    Raises:
        DefinitionError: A value has the wrong type, is out of range or does not fit the others.
    """
    try:
        shape.model_validate(said)
    except ValidationError as error:
        found = first(problems(error, schema=shape))
        raise refused(found.dotted, expected=found.expected, given=found.given, by=by) from error


def require_kind(value: object, *, kind: type[object], key: str, by: object, optional: bool = False) -> None:
    """Refuse a part of another class.

    Args:
        value: The part.
        kind: The class it must have.
        key: The name of the part.
        by: The value that holds the part, for the message.
        optional: Whether None will do as well.

    Raises:
        DefinitionError: The part is of another class.
    """
    if not isinstance(value, kind) and not (optional and value is None):
        raise refused(
            key, expected=f"a value of type {kind.__name__}{' or None' if optional else ''}", given=value, by=by
        )


def items_of(value: object, *, kind: type[Part], key: str, by: object) -> list[Part]:
    """List the items of a part that must be a tuple, since a list could be changed later.

    Args:
        value: The part.
        kind: The class of every item.
        key: The name of the part.
        by: The value that holds the part, for the message.

    Raises:
        DefinitionError: The part is no tuple, or holds something else.
    """
    if not isinstance(value, tuple):
        raise refused(key, expected=f"a tuple of {kind.__name__}", given=value, by=by)
    items = list(cast("tuple[Part, ...]", value))
    for number, item in enumerate(items):
        require_kind(item, kind=kind, key=f"{key}[{number}]", by=by)
    return items


def pairs_of(value: object, *, key: str, by: object) -> dict[str, str]:
    """Read pairs of texts as the mapping they stand for.

    Args:
        value: The part.
        key: The name of the part.
        by: The value that holds the part, for the message.

    Raises:
        DefinitionError: The part is no tuple of pairs of texts, or two pairs begin alike.
    """
    found: dict[str, str] = {}
    for number, pair in enumerate(items_of(value, kind=object, key=key, by=by)):
        place = f"{key}[{number}]"
        texts = items_of(pair, kind=str, key=place, by=by)
        if len(texts) != 2 or texts[0] in found:
            raise refused(place, expected="a pair of two texts, the first in no other pair", given=pair, by=by)
        found[texts[0]] = texts[1]
    return found


def require_distinct(names: Sequence[str], *, key: str, by: object) -> None:
    """Refuse a name that is given twice, of which a mapping would keep one.

    Args:
        names: The names.
        key: The name of the part.
        by: The value that holds the part, for the message.

    Raises:
        DefinitionError: Two names are equal.
    """
    double = next((name for number, name in enumerate(names) if name in names[:number]), None)
    if double is not None:
        raise refused(key, expected="every name once", given=double, by=by)


def refused(key: str, *, expected: str, given: object, by: object) -> DefinitionError:
    """Make the error for a value in code that a policy file could not hold.

    Args:
        key: The key a file would have; empty for the whole.
        expected: What would have been right.
        given: What was found.
        by: The value that holds the key.
    """
    whole, kind = repr(by), type(by).__name__
    return DefinitionError(
        f"`{key or kind}` is {given!r}, expected {expected}",
        where=whole if len(whole) <= _LONGEST else f"{whole[:_LONGEST]}…",
        fix=f"Correct the value: {kind} in code takes what a policy file takes.",
        key=key,
        expected=expected,
        given=given,
    )


_LONGEST = 160
