"""The gate: an output passes its contract, or comes back with feedback its author can act on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from pydantic import BaseModel, ValidationError

from stateward.govern.problem import Problem, problems

_MOST_LINES = 20
_MOST_LETTERS = 200
_MOST_OF_A_FIELD = 5
_MOST_ERRORS = 500
"""A model pays for what it is told, and a checkpoint keeps it: an output may be wrong in any number of places."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """The output fits."""

    value: Mapping[str, object]
    """The output as plain JSON data, normalised and coerced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The output does not fit."""

    feedback: str
    """What to tell the author."""
    errors: tuple[Problem, ...]
    """What is wrong; of one field no more than a few, of the whole no more than some hundreds."""


def check(contract: type[BaseModel], *, value: object) -> Passed | Failed:
    """Check an output against its contract.

    Args:
        contract: A model made by `contract`.
        value: A mapping, an instance of any pydantic model, or a text that holds a JSON object.

    Returns:
        `Passed` with plain JSON data, else `Failed` with feedback; nothing is raised for a bad output.

    Source:
        SYSTEMS.md, C3.
    """
    data = value.model_dump() if isinstance(value, BaseModel) else value
    if isinstance(data, str | bytes):
        try:
            data = cast(object, json.loads(data))
        except (ValueError, RecursionError) as error:
            return _failed(contract, errors=(Problem(key=(), expected=f"valid JSON ({error})", given="a text"),))
    try:
        checked = contract.model_validate(data)
    except ValidationError as error:
        return _failed(contract, errors=problems(error, schema=contract))
    return Passed(value=cast("dict[str, object]", checked.model_dump(mode="json")))


def _failed(contract: type[BaseModel], *, errors: Sequence[Problem]) -> Failed:
    lines = [f"- `{_place(error)}`: expected {error.expected}, given {error.given!r}" for error in errors[:_MOST_LINES]]
    head = f"The output does not fit `{contract.__name__}`. Correct this and send the whole object again:"
    more = [f"- and {len(errors) - len(lines)} more"] if len(errors) > len(lines) else []
    return Failed(feedback="\n".join((head, *lines, *more)), errors=_kept(errors))


def _place(error: Problem) -> str:
    dotted = error.dotted or "the whole"
    return dotted if len(dotted) <= _MOST_LETTERS else f"{dotted[:_MOST_LETTERS]}…"


def _kept(errors: Sequence[Problem]) -> tuple[Problem, ...]:
    """Keep some of each field: who repairs an output asks which fields are wrong."""
    seen = Counter[str | int]()
    kept: list[Problem] = []
    for error in errors:
        field = error.key[0] if error.key else ""
        seen[field] += 1
        if seen[field] <= _MOST_OF_A_FIELD and len(kept) < _MOST_ERRORS:
            kept.append(error)
    return tuple(kept)
