"""Events: what can happen to a chart, as types, and what did happen, as values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from stateward.errors import DefinitionError, InputRefused


class Event(BaseModel):
    """A typed event: subclass it and give it fields; its name is the class name in snake_case."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid")
    event_name: ClassVar[str] = ""
    """Set it in a subclass to give the event another name than the one made from the class name."""


EventLike = type[Event] | str
"""How an author names an event: the class, or a bare name for an event without data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """One happening: an event's name with the data that came with it."""

    name: str
    """The event's full name, dotted tokens without wildcard."""
    data: object = None
    """The typed `Event` instance, JSON-like data, or None."""

    @property
    def value(self) -> object:
        """What a function that names `event` receives: the typed event if there is one, else this."""
        return self.data if isinstance(self.data, Event) else self


def event_name_of(event: EventLike, *, where: str = "") -> str:
    """Return the name under which an event is matched.

    Args:
        event: An `Event` subclass or a bare name (dotted tokens; `*` and a trailing `.*` match more).
        where: The place that names it, for messages.

    Returns:
        The name: `event_name` if the class sets it itself, else the class name in snake_case.

    Raises:
        DefinitionError: It is neither, or the name is not made of legal tokens.
    """
    given = cast("object", event)
    if not isinstance(given, str) and not (isinstance(given, type) and issubclass(given, Event)):
        raise DefinitionError(
            f"{event!r} is no event", where=where, fix="Give a name, or a class that inherits from `Event`."
        )
    name = event if isinstance(event, str) else _class_name(event)
    if not re.fullmatch(r"\*|[A-Za-z_][\w-]*(\.[\w-]+)*(\.\*?)?", name):
        raise DefinitionError(
            f"`{name}` is not an event name",
            where=where,
            fix="Use letters, digits, `_` and `-`, in tokens joined by dots; `*` alone or as the last token.",
        )
    return name


def _class_name(event: type[Event]) -> str:
    own = event.__dict__.get("event_name", "")
    if isinstance(own, str) and own:
        return own
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", event.__name__)
    return words.lower()


def occurrence_of(event: Event | Occurrence | str) -> Occurrence:
    """Return the happening for an event instance, a bare name, or a happening itself.

    Raises:
        DefinitionError: A bare name is not a legal event name.
    """
    if isinstance(event, Occurrence):
        return event
    if isinstance(event, Event):
        return Occurrence(name=event_name_of(type(event)), data=event)
    return Occurrence(name=event_name_of(event))


def fitting(event: Occurrence, *, kind: type[Event] | None) -> Occurrence:
    """Return a happening that came from outside with its data as the event's type has it.

    Args:
        event: The happening; its data is an instance of the type, its fields, or None for none of them.
        kind: The event's type; None for an event without one, which may say anything.

    Raises:
        InputRefused: The data does not fit the type.
    """
    if kind is None or isinstance(event.data, kind):
        return event
    try:
        return Occurrence(name=event.name, data=kind.model_validate({} if event.data is None else event.data))
    except ValidationError as misfit:
        problem = misfit.errors(include_url=False)[0]
        place = ".".join(str(part) for part in problem["loc"]) or "data"
        raise InputRefused(
            f"The data of event `{event.name}` does not fit `{kind.__name__}`: {place}: {problem['msg']}",
            fix=f"Its fields: {', '.join(kind.model_fields) or 'none'}.",
        ) from misfit


def normal(descriptor: str) -> str:
    """Return an event descriptor without its redundant tail: `a.*` and `a.` mean `a`.

    Source: SCXML 3.12.1.
    """
    return descriptor if descriptor == "*" else descriptor.removesuffix("*").removesuffix(".")


def matches(descriptors: tuple[str, ...], *, name: str) -> bool:
    """Tell whether one of the normal descriptors is `*`, the name, or a prefix of it at a token boundary.

    A completion is named whole: paths have dots, so `done.state.A` would else mean what is inside `A` as well.

    Source: SCXML 3.12.1.
    """
    for descriptor in descriptors:
        if descriptor == name or descriptor == "*":
            return True
        whole = descriptor.startswith(("done.state.", "done.activity."))
        if name.startswith(descriptor) and name[len(descriptor)] == "." and not whole:
            return True
    return False
