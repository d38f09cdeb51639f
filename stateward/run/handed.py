"""What functions are handed: values of their own, so that what they change in place stays with them.

LangGraph hands a node the very lists and dictionaries that its channels hold. A function that changes one in place has
changed the state, without an update, also when it fails or is cancelled afterwards. So containers are copied on the way
in. Messages and other objects are taken for values: they are shared, and are not to be changed in place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from stateward.chart.event import Occurrence

_VALUES = frozenset((type(None), bool, int, float, str, bytes, HumanMessage, AIMessage, ToolMessage, SystemMessage))
"""The most frequent types that are no containers: a container of these alone is copied at once."""


def own(value: Any) -> Any:
    """Copy a value as deep as its lists, dictionaries, sets and tuples go.

    Args:
        value: Any value; what is of none of these types is not copied.

    Returns:
        The copy, or the same value when it holds no container.
    """
    kind: type[object] = type(value)  # pyright: ignore[reportUnknownVariableType]  # of anything
    if kind in _VALUES:
        return value
    if kind is dict:
        copied = value.copy()
        if not _VALUES.issuperset(map(type, value.values())):
            for key, each in value.items():
                if type(each) not in _VALUES:
                    copied[key] = own(each)
        return copied
    if kind is list or kind is tuple:
        if _VALUES.issuperset(map(type, value)):
            return value[:]  # of a tuple this is the tuple itself
        return [own(each) for each in value] if kind is list else tuple(map(own, value))
    return value.copy() if kind is set else value


def happened(event: Occurrence) -> Occurrence:
    """Return an event whose data is the reader's own.

    Args:
        event: What happened; a typed event is frozen, and taken for a value.
    """
    data = own(event.data)
    return event if data is event.data else replace(event, data=data)


def value_of(event: Occurrence | None) -> object:
    """Return what a function that names `event` is handed.

    Args:
        event: What happened, or None.

    Returns:
        The typed event if there is one, else the event with data of the reader's own; None when nothing happened.
    """
    # A completion has no data, and most events are completions: nothing to look at then.
    return event if event is None or event.data is None else happened(event).value


class Handed(Mapping[str, Any]):
    """The state as a guard or action sees it: each value is copied when it is first read.

    Args:
        values: State key to value.
    """

    __slots__ = ("_copies", "_values")

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self._copies: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:
        """Return a key's value, of one reader always the same.

        Raises:
            KeyError: The key has no value.
        """
        copies = self._copies
        if key not in copies:
            copies[key] = own(self._values[key])
        return copies[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)
