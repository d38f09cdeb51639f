"""`<data>`: variables and what they hold first. Source: SCXML 5.2-5.3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stateward.exchange.element import Element
from tests.conformance.block import Block
from tests.conformance.content import Execute, Setting, file_value
from tests.conformance.event_view import failed
from tests.conformance.payload import text_of
from tests.conformance.value import ScriptError, decode


def bind_data(elements: Sequence[Element], *, setting: Setting, given: Sequence[str] = (), once: str = "") -> Execute:
    """Return what makes variables and gives them their first values; one that fails stays without and raises an error.

    Args:
        elements: The `<data>` elements, in document order.
        setting: The document's language and folder.
        given: The variables that an invoking session may set.
        once: The state that is entered; its variables are bound at its first entry only. Empty: always.
    """

    def bind(block: Block) -> None:
        if once in block.data["bound"]:
            return
        if once:
            block.data["bound"].append(once)
        for element in elements:
            _bind(element, block, setting=setting, given=given)

    return bind


def _bind(element: Element, block: Block, *, setting: Setting, given: Sequence[str]) -> None:
    name = element.attributes["id"]
    try:
        block.declare(name, block.language.nothing)
        block.declare(name, _value(element, block, setting=setting, given=given))
    except ScriptError as error:
        block.news.append(failed("error.execution", str(error)))


def _value(element: Element, block: Block, *, setting: Setting, given: Sequence[str]) -> Any:
    name, expr, source = element.attributes["id"], element.attributes.get("expr"), element.attributes.get("src")
    if name in given and name in block.data["given"]:
        return decode(block.data["given"][name])
    if expr is not None:
        return block.evaluate(expr)
    if source is not None:
        return file_value(source, setting=setting)
    written = element.children or element.text.strip()
    return text_of(element) if written else block.language.nothing


def data_of(element: Element) -> list[Element]:
    """Return the `<data>` elements of a state, those of the states inside left out."""
    return [each for model in element.children if model.name == "datamodel" for each in model.children]
