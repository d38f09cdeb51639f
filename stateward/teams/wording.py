"""What a member's model is told of its job: a text, a prompt from a file, or a function of the state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stateward.run.prompt import Prompt
from stateward.teams.state import value_of

Wording = str | Prompt | Callable[[Any], str]
"""A text; a `Prompt`, whose variables are read from the state keys of their names; or a function of `(state)`."""


def worded(wording: Wording, state: object) -> str:
    """Return what the model is told.

    Args:
        wording: As the author gave it.
        state: The state.

    Returns:
        The text.

    Raises:
        DefinitionError: A variable of the prompt is neither given nor in the state.
    """
    if isinstance(wording, str):
        return wording
    if isinstance(wording, Prompt):
        found = {name: value_of(state, name) for name in wording.variables}
        return wording.render(**{name: value for name, value in found.items() if value is not None})
    return wording(state)
