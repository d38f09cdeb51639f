"""Strict msgpack: a type that is not on the allowlist is an error, when it is stored and when it is loaded.

LangGraph's serializer stores every type, and where one is not allowed or cannot be rebuilt it returns its
bare data with a log line. Here both are a `CodecError`. The wire format is LangGraph's; its extension codes
are the table below. `ormsgpack` swallows what its hooks raise, so a hook keeps the first problem and its
caller raises it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import ormsgpack
from langgraph.checkpoint.serde._msgpack import SAFE_MSGPACK_METHODS, SAFE_MSGPACK_TYPES
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import _DeltaSnapshot  # pyright: ignore[reportPrivateUsage]
from pydantic import BaseModel, ValidationError

from stateward.errors import CodecError

AllowList = Iterable[tuple[str, ...] | type]

ONE_ARGUMENT, POSITIONAL, KEYWORDS, METHOD, PYDANTIC_1, PYDANTIC_2, ARRAY, SNAPSHOT = range(8)
"""LangGraph's extension codes; the first six hold (module, name, data[, method])."""


_EXTENSIONS = bytes([0xC7, 0xC8, 0xC9, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8])
"""The bytes with which msgpack begins an extension value: data without any of them holds nothing but plain values.

Source: the msgpack specification, "Formats"; fixext 1 to 16 and ext 8 to 32.
"""


@dataclass(frozen=True, slots=True)
class Apart:
    """A value that is to be stored as bytes, although its saver would put it elsewhere; it is loaded as the value."""

    value: object


class StrictSerializer(JsonPlusSerializer):
    """LangGraph's msgpack, which refuses what is not on the allowlist instead of degrading it.

    Args:
        allowed: Types, or (module, name) pairs, beside LangGraph's own safe types.
    """

    def __init__(self, *, allowed: AllowList = ()) -> None:
        super().__init__(allowed_msgpack_modules=tuple(allowed) or None)

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:  # LangGraph hands over any channel value
        """Store a value.

        Args:
            obj: A channel value or a whole checkpoint.

        Returns:
            The kind of encoding and the bytes.

        Raises:
            CodecError: The value holds a type that could not be loaded again.
        """
        if type(obj) is Apart:
            obj = obj.value
        try:
            kind, data = super().dumps_typed(obj)
        except (TypeError, ValueError) as cause:
            raise CodecError(
                f"A value cannot be stored in a checkpoint: {cause}",
                fix="Keep plain data in the state, and everything else in the context.",
            ) from cause
        if self.holds_classes((kind, data)):
            _unpack(data, _Checker(self._allowed))
        return kind, data

    def holds_classes(self, data: tuple[str, bytes]) -> bool:
        """Whether stored data may hold more than plain values.

        Args:
            data: What `dumps_typed` returned.
        """
        kind, packed = data
        return kind == "msgpack" and len(packed.translate(None, _EXTENSIONS)) < len(packed)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:  # LangGraph takes any channel value
        """Load a value.

        Args:
            data: What `dumps_typed` returned.

        Returns:
            The value, of the type it had.

        Raises:
            CodecError: The encoding is unknown, or the value holds a type that is not allowed or does not
                fit.
        """
        kind, packed = data
        if kind == "msgpack":
            return _unpack(packed, _Builder(self._allowed, array=self._unpack_ext_hook))
        if kind in ("null", "bytes", "bytearray"):
            return super().loads_typed(data)
        raise CodecError(
            f"Stored data has the encoding `{kind}`",
            fix="Open it with the release of LangGraph that wrote it.",
        )

    def _allowed(self) -> frozenset[tuple[str, ...]]:
        extra = self._allowed_msgpack_modules
        return frozenset() if extra is True else SAFE_MSGPACK_TYPES.union(extra or ())


class _Checker:
    """A hook that looks at the types in packed data without building them."""

    def __init__(self, allowed: Callable[[], frozenset[tuple[str, ...]]]) -> None:
        self._make_allowed = allowed
        self.problem: CodecError | None = None

    def __call__(self, code: int, data: bytes) -> Any:  # a value of any type
        try:
            return self.visit(code, data)
        except CodecError as problem:
            self.problem = self.problem or problem
            raise
        except Exception as cause:
            self.problem = self.problem or CodecError(
                f"Stored data of extension {code} cannot be rebuilt: {cause!r}",
                fix="Resume with the code that wrote it, or migrate the session.",
            )
            raise

    @cached_property
    def allowed(self) -> frozenset[tuple[str, ...]]:
        """The allowed types, put together only when there is an extension value: plain data has none."""
        return self._make_allowed()

    def visit(self, code: int, data: bytes) -> Any:
        """Look at one extension value."""
        if code == ARRAY:
            return None
        content = self.open(data)
        if code != SNAPSHOT:
            self.resolve(code, content)
        return None

    def open(self, data: bytes) -> Any:
        """Unpack what is inside an extension value with this same hook."""
        return ormsgpack.unpackb(data, ext_hook=self, option=ormsgpack.OPT_NON_STR_KEYS)

    def resolve(self, code: int, content: Sequence[Any]) -> Callable[..., Any]:
        """Find the allowed constructor that an extension value names."""
        module, name = str(content[0]), str(content[1])
        if code == METHOD:
            known = (module, name, str(content[3])) in SAFE_MSGPACK_METHODS
        else:
            known = (module, name) in self.allowed
        if not known:
            raise CodecError(
                f"Type `{module}.{name}` is not on the allowlist of the checkpoints",
                fix="Declare it in the state schema, give it to `with_allowlist`, or store plain data.",
                type=f"{module}.{name}",
            )
        return cast("Callable[..., Any]", getattr(importlib.import_module(module), name))


class _Builder(_Checker):
    """A hook that builds the values it allows."""

    def __init__(
        self, allowed: Callable[[], frozenset[tuple[str, ...]]], *, array: Callable[[int, bytes], Any]
    ) -> None:
        super().__init__(allowed)
        self._array = array

    def visit(self, code: int, data: bytes) -> Any:
        """Build one extension value."""
        if code == ARRAY:
            return _present(self._array(code, data))
        content = self.open(data)
        if code == SNAPSHOT:
            return _DeltaSnapshot(content)
        return _build(code, self.resolve(code, content), content)


def _present(array: object) -> object:
    if array is None:
        raise CodecError("An array cannot be rebuilt", fix="Install numpy where the session is resumed.")
    return array


def _build(code: int, make: Callable[..., Any], content: Sequence[Any]) -> Any:
    argument = content[2]
    if code == ONE_ARGUMENT:
        return make(argument)
    if code == METHOD:
        return getattr(make, content[3])(argument)
    if code == POSITIONAL:
        # `Send` takes its third argument by name only.
        return make(*argument[:2], timeout=argument[2]) if content[1] == "Send" and argument[2:] else make(*argument)
    if code == PYDANTIC_2:
        return _model(make, argument)
    return make(**argument)


def _model(make: Callable[..., Any], fields: dict[str, Any]) -> Any:
    try:
        return make(**fields)
    except ValidationError:
        # Stored by field name: a model whose fields have aliases has to be told.
        if not (isinstance(make, type) and issubclass(make, BaseModel)):
            raise
        return make.model_validate(fields, by_alias=True, by_name=True)


def _unpack(data: bytes, hook: _Checker) -> Any:
    try:
        return ormsgpack.unpackb(data, ext_hook=hook, option=ormsgpack.OPT_NON_STR_KEYS)
    except ValueError as cause:
        if hook.problem is not None:
            raise hook.problem from None  # the hook knows more than what ormsgpack makes of its error
        raise CodecError(f"Stored data is no msgpack: {cause}", fix="Restore the database from a backup.") from cause
