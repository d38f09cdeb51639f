"""What variables of a document can hold beyond JSON, and how a checkpoint keeps it in JSON.

A document's data stand in one state key. They are decoded before a block of content runs and encoded after it, so
nothing but JSON is ever kept: a function as its text, markup as its text, `undefined` as a mark of its own.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from typing import Any
from xml.etree import ElementTree

from stateward.errors import StatewardError

MARK = "#"
"""The key that says of a JSON object what it stands for."""


class NotSupportedError(StatewardError):
    """A document uses something the translators and the session layer leave out; it is never an event of the chart."""


class ScriptError(Exception):
    """What evaluating an expression came to instead of a value: the event `error.execution`.

    Args:
        reason: What is wrong.
        sendid: The id of the `<send>` that failed, if it was one.
    """

    def __init__(self, reason: str, *, sendid: str | None = None) -> None:
        super().__init__(reason)
        self.sendid = sendid


class _Undefined(Enum):
    UNDEFINED = "undefined"

    def __bool__(self) -> bool:
        return False


UNDEFINED = _Undefined.UNDEFINED
"""ECMAScript's `undefined`: the value of a variable that was only declared."""


@dataclass(frozen=True)
class Function:
    """A function as its source text; it sees its parameters and the variables of the document, no closure."""

    text: str


@dataclass(frozen=True)
class Markup:
    """XML as data: what ECMAScript sees as a DOM, and Python as an element of `xml.etree`."""

    text: str

    def named(self, name: str) -> list[Markup]:
        """Return the elements inside of this name, at any depth, in document order."""
        root = self._element
        found = [element for element in root.iter() if element is not root and local(element) == name]
        return [Markup(ElementTree.tostring(element, encoding="unicode").strip()) for element in found]

    def attribute(self, name: str) -> str | None:
        """Return an attribute, None if it is not there."""
        return self._element.get(name)

    @property
    def _element(self) -> ElementTree.Element:
        return ElementTree.fromstring(self.text)


def local(element: ElementTree.Element) -> str:
    """Return an element's name without its namespace."""
    return element.tag.rpartition("}")[2]


def encode(value: Any) -> Any:
    """Return a value as JSON.

    Raises:
        ScriptError: It is nothing that can be kept, a function of the language itself for instance.
    """
    if value is UNDEFINED:
        return {MARK: "undefined"}
    if isinstance(value, Function | Markup):
        return {MARK: type(value).__name__.lower(), "text": value.text}
    if isinstance(value, dict):
        return {str(key): encode(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [encode(inner) for inner in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise ScriptError(f"{value!r} cannot be kept as data")


def decode(kept: Any) -> Any:
    """Return the value that `encode` made this JSON of, as a copy."""
    if isinstance(kept, list | tuple):
        return [decode(inner) for inner in kept]
    if not isinstance(kept, dict):
        return kept
    if MARK not in kept:
        return {key: decode(inner) for key, inner in kept.items()}
    makers = {"undefined": lambda: UNDEFINED, "function": lambda: Function(kept["text"])}
    return makers.get(kept[MARK], lambda: Markup(kept["text"]))()


def literal(text: str) -> Any:
    """Return written content: JSON if it is that, else text with its white space normalised.

    Source: SCXML B.2.8.1.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return " ".join(text.split())
