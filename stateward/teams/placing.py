"""Putting a building block where it belongs: the same element with what leads out of it."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, TypeVar, cast

from stateward.chart.state import Parallel, State, Superstate
from stateward.chart.transition import Choices, Reaction, Reactions
from stateward.errors import DefinitionError

Block = TypeVar("Block", State[Any], Superstate[Any], Parallel[Any])
"""Any element that a block may be."""

Element = State[Any] | Superstate[Any]
"""What the building blocks are."""


def placed(
    element: Block,
    *,
    to: Choices[Any] | None = None,
    on: Reactions[Any] | None = None,
    always: Choices[Any] | None = None,
    policy: object = None,
) -> Block:
    """Return an element with what its place adds to it.

    Args:
        element: A block, or any state; it is left as it is.
        to: Where to go when it has ended; None for what it says itself.
        on: What events do here, after what it says itself.
        always: What is tested after every step, after what it says itself.
        policy: The policy that binds it, when it has none of its own.

    Returns:
        The element, anew.

    Raises:
        DefinitionError: It has a `to` or a policy already.
    """
    made = copy.copy(element)
    for field, given in (("to", to), ("policy", policy)):
        if given is None:
            continue
        if getattr(element, field) is not None:
            raise DefinitionError(
                f"The block `{element.name}` has a `{field}` of its own",
                where=element.name,
                fix=f"Leave `{field}` out in one of the two places, or put the block into a `Superstate` that has it.",
            )
        object.__setattr__(made, field, given)
    object.__setattr__(made, "on", (*element.on, *_reactions(on)))
    object.__setattr__(made, "always", (*_several(element.always), *_several(always)))
    return made


def _reactions(given: Reactions[Any] | None) -> tuple[Reaction[Any], ...]:
    return cast("tuple[Reaction[Any], ...]", _several(given))


def _several(given: object) -> tuple[Any, ...]:
    """One or several, as authors may write reactions and choices."""
    if given is None:
        return ()
    if isinstance(given, list | tuple):
        return tuple(cast("Iterable[Any]", given))
    return (given,)
