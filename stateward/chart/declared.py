"""What a function says of itself as an activity, so that it says so wherever it is used."""

from __future__ import annotations

import functools
from typing import TypeVar, cast

from stateward.errors import DefinitionError

T = TypeVar("T")
_OUTPUT = "__stateward_output__"
_UNASKED = "__stateward_unasked__"


def declare_output(do: T, output: object) -> T:
    """Mark an activity with the contract of its output.

    Args:
        do: A function, or another activity that can carry a mark.
        output: What a state would declare as `output=`.

    Returns:
        The same activity.

    Raises:
        DefinitionError: It has a contract already, or cannot carry a mark.
    """
    if declared_output(do) is not None:
        raise DefinitionError("The activity has a gate already", where=_name(do), fix="Keep one of the two.")
    try:
        setattr(do, _OUTPUT, output)
    except (AttributeError, TypeError, ValueError) as fixed:
        raise DefinitionError(
            f"`{type(do).__name__}` cannot carry a gate",
            where=_name(do),
            fix="Decorate a function, or say `output=` at the state.",
        ) from fixed
    return do


def declared_output(do: object) -> object:
    """Return the contract an activity was marked with, or None.

    Args:
        do: The activity; of a `functools.partial` the function inside counts.
    """
    while isinstance(do, functools.partial):
        do = cast("functools.partial[object]", do).func
    return getattr(do, _OUTPUT, None)


def unasked(do: T) -> T:
    """Mark an activity as one that must never wait for a person: a chart in which it might is refused.

    Args:
        do: A function, or another activity that can carry a mark.

    Returns:
        The same activity.
    """
    setattr(do, _UNASKED, True)
    return do


def is_unasked(do: object) -> bool:
    """Whether an activity must never wait for a person.

    Args:
        do: The activity.
    """
    return bool(getattr(do, _UNASKED, False))


def output_of(do: object, output: object, *, where: str) -> object:
    """Return the contract of a state's activity.

    Args:
        do: The activity.
        output: What the state declares; None for nothing.
        where: The state's path.

    Raises:
        DefinitionError: Both the state and the activity declare one.
    """
    marked = declared_output(do)
    if marked is not None and output is not None:
        raise DefinitionError(
            "The state declares `output=`, and its activity has a gate of its own",
            where=where,
            fix="Keep one of the two.",
        )
    return output if marked is None else marked


def _name(do: object) -> str:
    return str(getattr(do, "__qualname__", None) or type(do).__qualname__)
