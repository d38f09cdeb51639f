"""What an activity gets for an answer: an approval, a reviewed call, or a value of the type that was asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

from stateward.errors import DefinitionError
from stateward.govern.json_schema import refuse_unsound

Said = Mapping[str, Any]
"""What was said: `decision`, `value`, `note`, `by`, `tool` and `arguments`, as the journal keeps it."""
Outcome = Literal["approve", "reject", "respond", "expired"]
"""How it came to an answer; `expired`: nobody answered in time, and the default counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """What people said to `approve`; true when they approved."""

    approved: bool
    decision: Outcome
    note: str = ""
    """Why, or what is wanted instead."""
    by: str = ""
    """Who answered last; empty when nobody did."""

    def __bool__(self) -> bool:
        """Whether it was approved."""
        return self.approved


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What people said to `review_call`; true when a call is to be made."""

    decision: Literal["approve", "edit", "reject", "respond", "expired"]
    tool: str
    """What is to be called: as it was shown, or as somebody edited it."""
    arguments: Mapping[str, Any]
    made: bool
    """Whether the call is to be made."""
    note: str = ""
    """Why, or with `respond` what is to be told in the place of the tool's result."""
    by: str = ""
    """Who answered last; empty when nobody did."""

    def __bool__(self) -> bool:
        """Whether the call is to be made."""
        return self.made

    @property
    def call(self) -> dict[str, Any]:
        """The call, as `run.tools` takes it."""
        return {"name": self.tool, "args": dict(self.arguments)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What a value must be."""

    says: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Its JSON Schema as `schema`; nothing where any value will do."""
    adapter: TypeAdapter[Any] | None = None
    """Of the type that the activity gets; None where that is JSON."""


def form_of(schema: type[Any] | Mapping[str, Any] | None, *, where: str) -> Form:
    """Read what a value must be.

    Args:
        schema: A type, a JSON Schema, or None.
        where: The kind of question, for messages.

    Raises:
        DefinitionError: Nobody could tell whether a value fits.
    """
    if schema is None:
        return Form()
    if isinstance(schema, Mapping):
        try:
            refuse_unsound(schema)
        except ValueError as unsound:
            raise DefinitionError(
                "The schema is none that could be checked", where=where, fix=f"Give {unsound}."
            ) from None
        return Form(says={"schema": dict(schema)})
    try:
        adapter = TypeAdapter[Any](schema)
        return Form(says={"schema": adapter.json_schema()}, adapter=adapter)
    except (PydanticSchemaGenerationError, PydanticUserError) as misfit:
        raise DefinitionError(
            f"`{getattr(schema, '__name__', schema)}` is no type that an answer could have: {misfit.message}",
            where=where,
            fix="Give a Pydantic model, another type of plain data, or a JSON Schema.",
        ) from misfit


def plain_of(value: object, *, form: Form) -> object:
    """Return a value as a question keeps it: of a model what reads as the same in the words of its schema.

    Args:
        value: JSON, or a Pydantic model.
        form: What the value must be.
    """
    if not isinstance(value, BaseModel):
        return value
    dumps = [value.model_dump(mode="json", by_alias=by_alias, round_trip=True) for by_alias in (True, False)]
    return next((dump for dump in dumps if _is_read(dump, form)), dumps[-1])


def _is_read(value: object, form: Form) -> bool:
    try:
        value_of(form)({"value": value})
    except ValueError:
        return False
    return True


def value_of(form: Form) -> Callable[[Said], Any]:
    """Return what makes the value that an activity gets of what was said.

    Args:
        form: What the value must be.
    """
    adapter = form.adapter

    def read(said: Said) -> Any:
        if adapter is None:
            return said["value"]
        try:
            return adapter.validate_json(json.dumps(said["value"]))
        except ValidationError as misfit:
            problems = (f"{'.'.join(map(str, one['loc'])) or 'it'}: {one['msg']}" for one in misfit.errors())
            raise ValueError("; ".join(problems)) from misfit

    return read


def approval_of(said: Said) -> Approval:
    """Return what an activity gets for `approve`.

    Args:
        said: What was said.
    """
    decision = said["decision"]
    approved = bool(said["value"]) if decision == "expired" else decision == "approve"
    return Approval(approved=approved, decision=decision, note=said["note"], by=said["by"])


def review_of(said: Said) -> Review:
    """Return what an activity gets for `review_call`.

    Args:
        said: What was said.
    """
    decision = said["decision"]
    made = said["value"] == "approve" if decision == "expired" else decision in ("approve", "edit")
    return Review(
        decision=decision,
        tool=said["tool"],
        arguments=said["arguments"],
        made=made,
        note=said["note"],
        by=said["by"],
    )
