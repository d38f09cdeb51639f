"""The user's state schema as the channels and validators it stands for.

A TypedDict, dataclass or Pydantic model becomes a TypedDict with Stateward's control channel added and message
reducers swapped for the linear channel. Updates are validated against the declared types before anything is committed.
"""

from __future__ import annotations

import copy
import operator
import uuid
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from typing import Annotated, Any, NoReturn, cast, get_args, get_origin, get_type_hints

from langchain_core.messages import AnyMessage, BaseMessage, BaseMessageChunk, convert_to_messages
from langchain_core.messages.utils import message_chunk_to_message
from langgraph.channels.base import BaseChannel
from langgraph.channels.binop import BinaryOperatorAggregate
from langgraph.channels.delta import DeltaChannel
from langgraph.channels.last_value import LastValue
from langgraph.channels.untracked_value import UntrackedValue
from langgraph.types import Overwrite
from pydantic import (
    BaseModel,
    ConfigDict,
    PydanticSchemaGenerationError,
    PydanticUserError,
    TypeAdapter,
    ValidationError,
)

from stateward.errors import DefinitionError, UpdateRefused
from stateward.run.channel import ControlChannel
from stateward.run.checkpoint import CHANNEL
from stateward.run.handed import Handed, own
from stateward.run.messages import is_message_channel, linear

Channels = Mapping[str, BaseChannel[Any, Any, Any]]
"""`Any` three times: LangGraph's channels are generic over values that only the user's schema knows."""

_AGGREGATES = (BinaryOperatorAggregate,)
_OVERWRITE = "__overwrite__"
"""What marks an `Overwrite` in JSON: LangGraph's own channel reads such a value."""
_OPERATORS = operator.add.__module__
"""Where the language's own operators say they are from."""


class StateSchema:
    """The user's state schema, as the channels and validators it stands for.

    Args:
        schema: The user's schema.
        channels: The user's channels by key, without Stateward's own.
        types: The declared type of each key.
    """

    def __init__(self, *, schema: type[Any], channels: Channels, types: Mapping[str, Any]) -> None:
        self.schema = schema
        self.types = types
        self.channels = channels
        self._instance = None if is_mapping_schema(schema) else schema
        self.messages = frozenset(key for key, channel in channels.items() if is_message_channel(channel))
        self.reducing = frozenset(key for key, channel in channels.items() if reduces(channel))
        """Keys that take several writes in one step."""
        self.folding = self.reducing - self.messages
        """Keys with a reducer of the user's, which may refuse an update."""
        self.joining = frozenset(
            key for key in self.folding if getattr(channels[key], "operator", None) is operator.add
        )
        """Those of them whose reducer puts lists together."""
        self.untracked = frozenset(key for key, channel in channels.items() if isinstance(channel, UntrackedValue))
        """Keys that live in memory alone."""
        self._operators: Mapping[str, Callable[[object, object], object]] = {
            key: cast(Any, channel).operator for key, channel in channels.items() if type(channel) in _AGGREGATES
        }
        self._plain = frozenset(key for key, channel in channels.items() if type(channel) is LastValue)
        self._adapters = {key: _adapter(types.get(key, Any)) for key in channels if key not in self.messages}

    def normalise(self, key: str, value: object, *, base: object, where: str) -> object:
        """Validate one value of an update and return the form that is committed.

        Args:
            key: The state key.
            value: The value an activity or action returned for it.
            base: The key's present value, which a reducer would start from; None when there is none.
            where: The state path, for the message.

        Returns:
            The validated, coerced value; messages as a list with ids.

        Raises:
            UpdateRefused: The key is not in the schema, or the value does not fit its type.
        """
        if key not in self.channels:
            _refuse_key(key, known=self.channels, where=where)
        if isinstance(value, Overwrite):
            return Overwrite(self.normalise(key, value.value, base=None, where=where))
        if key in self.messages:
            return _messages(value, where=where, key=key)
        adapter = self._adapters[key]
        if adapter is None:
            return value
        try:
            return adapter.validator.validate_python(value)  # what the adapter's own method comes down to
        except ValidationError as invalid:
            if self._fits_reduced(key, value, base=base, adapter=adapter):
                return value
            raise UpdateRefused(
                f"The update of `{key}` does not fit its declared type: {_first(invalid)}",
                where=where,
                fix="Give a value of the type the state schema declares; nothing was committed.",
                key=key,
            ) from invalid

    def present(self, values: Mapping[str, Any]) -> Any:
        """Return the state as the user's functions get it: a mapping, or an instance of the schema.

        Args:
            values: State key to value; what a function changes in place does not change them.
        """
        seen: Mapping[str, Any] = own(values) if type(values) is dict else Handed(values)
        return seen if self._instance is None else self._instance(**seen)

    def _fits_reduced(self, key: str, value: object, *, base: object, adapter: TypeAdapter[Any]) -> bool:
        """Whether a reducer that takes another type than it holds makes a valid value of this update."""
        channel = self.channels[key]
        if not isinstance(channel, BinaryOperatorAggregate | DeltaChannel):
            return False
        try:
            adapter.validate_python(self.reduce(key, base, [value]))
        except (ValidationError, TypeError, ValueError, AttributeError, KeyError):
            return False
        return True

    def reduce(self, key: str, base: object, updates: list[object]) -> object:
        """Apply a key's reducer on a copy.

        Args:
            key: The state key.
            base: Its present value, or None when it has none.
            updates: The values written in this step, in order.

        Returns:
            The value the channel would hold after the commit.
        """
        if key in self._plain:
            return updates[-1]
        channel = self.channels[key]
        operate = self._operators.get(key)
        if operate is not None and base is not None and not any(map(_is_overwrite, updates)):
            # What LangGraph's channel would come to, without making one: each block writes its record in each step.
            made = copy.copy(base)
            for update in updates:
                made = operate(made, update)
            return made
        fresh = channel.from_checkpoint(copy.copy(base)) if base is not None else channel.copy()
        fresh.update(updates)
        return fresh.get()

    def joins(self, key: str, value: object) -> bool:
        """Whether a reduced value can be kept when its parts can: two lists put together, or what is kept by its parts.

        Args:
            key: The state key.
            value: What its reducer made.
        """
        channel = self.channels[key]
        reducer = getattr(channel, "operator", None)
        joins = isinstance(channel, DeltaChannel) or getattr(reducer, "__module__", "") == _OPERATORS
        return joins and isinstance(value, list | tuple | dict | set)


def _is_overwrite(value: object) -> bool:
    """Whether a value may be meant to take the place of all before it, in any of the forms that LangGraph knows."""
    if not isinstance(value, dict):
        return isinstance(value, Overwrite)
    told = cast("dict[object, object]", value)
    return _OVERWRITE in told or told.get("type") == _OVERWRITE


def _refuse_key(key: str, *, known: Mapping[str, object], where: str) -> NoReturn:
    raise UpdateRefused(
        f"The update has the key `{key}`, which the state schema does not declare",
        where=where,
        fix=f"Known keys: {', '.join(sorted(known))}.",
        key=key,
    )


def _first(invalid: ValidationError) -> str:
    error = invalid.errors(include_url=False)[0]
    place = ".".join(str(part) for part in error["loc"])
    return f"{place + ': ' if place else ''}{error['msg']}"


def _adapter(declared: Any) -> TypeAdapter[Any] | None:  # any type a user may declare
    declared = get_args(declared)[0] if get_origin(declared) is Annotated else declared
    if declared is Any:
        return None
    try:
        return TypeAdapter(declared)
    except (PydanticSchemaGenerationError, PydanticUserError):
        pass
    try:
        return TypeAdapter(declared, config=ConfigDict(arbitrary_types_allowed=True))
    except (PydanticSchemaGenerationError, PydanticUserError):
        return None


def _messages(value: object, *, where: str, key: str) -> list[AnyMessage]:
    raw = cast("list[Any]", value if isinstance(value, list) else [value])
    try:
        messages = convert_to_messages(raw)
    except (ValueError, TypeError, NotImplementedError) as unreadable:
        raise UpdateRefused(
            f"The update of `{key}` holds what is not a message: {unreadable}",
            where=where,
            fix="Return messages, or what LangChain converts to messages.",
            key=key,
        ) from unreadable
    return [_with_id(message) for message in messages]


def _with_id(message: BaseMessage) -> AnyMessage:
    plain = message_chunk_to_message(message) if isinstance(message, BaseMessageChunk) else message
    if plain.id is None:
        plain = plain.model_copy(update={"id": str(uuid.uuid4())})
    return cast(AnyMessage, plain)


def reduces(channel: BaseChannel[Any, Any, Any]) -> bool:
    """Whether a channel takes several writes in one step.

    Args:
        channel: A channel of a state schema.
    """
    return isinstance(channel, BinaryOperatorAggregate | DeltaChannel)


def declared_types(schema: type[Any]) -> dict[str, Any]:
    """Return the keys of a state schema with their annotations, message reducers made linear.

    Args:
        schema: A TypedDict, dataclass or Pydantic model.

    Returns:
        State key to annotation.

    Raises:
        DefinitionError: The schema declares no keys, or uses the name of Stateward's own channel.
    """
    hints = {key: linear(kind) for key, kind in get_type_hints(schema, include_extras=True).items()}
    if issubclass(schema, BaseModel):
        hints = {key: kind for key, kind in hints.items() if key in schema.model_fields}
    if not hints:
        raise DefinitionError(f"The state schema `{schema.__name__}` declares no keys", fix="Give it at least one.")
    if CHANNEL in hints:
        raise DefinitionError(
            f"The state schema `{schema.__name__}` declares the key `{CHANNEL}`",
            fix="That name is Stateward's own.",
        )
    return hints


def with_control(hints: Mapping[str, Any]) -> dict[str, Any]:
    """Add the control channel to a schema's keys.

    Args:
        hints: State key to annotation.
    """
    return {**hints, CHANNEL: Annotated[dict[str, Any], ControlChannel()]}


def is_mapping_schema(schema: type[Any]) -> bool:
    """Whether functions get the state as a mapping (TypedDict) and not as an instance of the schema.

    Args:
        schema: The user's state schema.
    """
    return not (is_dataclass(schema) or issubclass(schema, BaseModel))


def schema_json(hints: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a schema as plain JSON, the same in every process: what a hash of it is taken over.

    Args:
        hints: State key to annotation.

    Returns:
        For each key its type, as JSON schema where there is one, and its reducer.
    """
    return {key: _described(declared) for key, declared in hints.items()}


def _described(declared: Any) -> dict[str, Any]:
    annotated = get_origin(declared) is Annotated
    inner, *extras = get_args(declared) if annotated else (declared,)
    try:
        kind: Any = TypeAdapter(inner).json_schema()
    except (PydanticSchemaGenerationError, PydanticUserError):
        kind = getattr(inner, "__qualname__", None) or type(inner).__qualname__
    return {"type": kind, "reducer": [_extra_name(extra) for extra in extras]}


def _extra_name(extra: Any) -> str:
    reducer = extra.reducer if isinstance(extra, DeltaChannel) else extra
    return getattr(reducer, "__qualname__", None) or type(reducer).__qualname__
