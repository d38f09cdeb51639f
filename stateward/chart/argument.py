"""What is handed to a function of ours is looked at where it comes in: a wrong kind is told there, not from inside."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar, cast

from stateward.errors import DefinitionError

T = TypeVar("T")


def of_kind(
    given: object, kind: type[T] | tuple[type[T], ...], *, name: str, expected: str, where: str, fix: str = ""
) -> T:
    """Return an argument that is of a kind.

    Args:
        given: The argument.
        kind: Its class, or several that will do.
        name: What it is called.
        expected: What it should be, in words.
        where: The call, for the message.
        fix: How to come by one.

    Raises:
        DefinitionError: It is something else.
    """
    if isinstance(given, kind):
        return given
    raise unfit(given, name=name, expected=expected, where=where, fix=fix)


def several(
    given: object, *, name: str, expected: str, where: str, alone: tuple[type, ...] = (str, bytes)
) -> list[object]:
    """Return the things that an argument consists of; one alone is taken as one.

    Args:
        given: The argument.
        name: What it is called.
        expected: What it should be, in words.
        where: The call, for the message.
        alone: The classes of a thing that stands for itself, although one might iterate over it.

    Raises:
        DefinitionError: It is neither.
    """
    if isinstance(given, alone):
        return [given]
    if isinstance(given, Iterable):
        return list(cast("Iterable[object]", given))
    raise unfit(given, name=name, expected=expected, where=where)


def texts(given: object, *, name: str, expected: str, where: str) -> list[str]:
    """Return the texts that an argument consists of; one alone is taken as one.

    Args:
        given: The argument.
        name: What it is called.
        expected: What it should be, in words.
        where: The call, for the message.

    Raises:
        DefinitionError: It is something else.
    """
    found = several(given, name=name, expected=expected, where=where)
    return [of_kind(each, str, name=name, expected=expected, where=where) for each in found]


def unfit(given: object, *, name: str, expected: str, where: str, fix: str = "") -> DefinitionError:
    """Return the error of an argument of the wrong kind.

    Args:
        given: The argument.
        name: What it is called.
        expected: What it should be, in words.
        where: The call.
        fix: How to come by one.
    """
    return DefinitionError(f"`{name}` is {given!r}, expected {expected}", where=where, fix=fix)
