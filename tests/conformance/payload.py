"""Data that travel with an event or into an invoked session: namelist, `<param>`, `<content>`.

Source: SCXML 5.6-5.8.
"""

from __future__ import annotations

from typing import Any

from stateward.exchange.element import Element
from tests.conformance.block import Block
from tests.conformance.markup import written
from tests.conformance.value import UNDEFINED, Markup, ScriptError, literal


def text_of(element: Element) -> Any:
    """Return what is written inside an element: markup if there is an element in it, else a literal."""
    if element.children:
        return Markup(written(element.children[0]))
    return literal(element.text)


def child(element: Element, name: str) -> Element | None:
    """Return the first child of a name."""
    return next((each for each in element.children if each.name == name), None)


def payload(element: Element, block: Block) -> Any:
    """Return the data of a `<send>` or `<donedata>`; UNDEFINED if it carries none.

    Raises:
        ScriptError: An expression is wrong.
    """
    content = child(element, "content")
    if content is not None:
        expr = content.attributes.get("expr")
        return block.evaluate(expr) if expr is not None else text_of(content)
    return named(element, block) or UNDEFINED


def named(element: Element, block: Block) -> dict[str, Any]:
    """Return what the namelist and the parameters of an element name.

    Raises:
        ScriptError: An expression is wrong.
    """
    found = {name: _location(name, block) for name in element.attributes.get("namelist", "").split()}
    for each in element.children:
        if each.name == "param":
            expr = each.attributes.get("expr")
            found[each.attributes["name"]] = (
                block.evaluate(expr) if expr is not None else _location(each.attributes["location"], block)
            )
    return found


def _location(text: str, block: Block) -> Any:
    if not text.strip():
        raise ScriptError("a location is empty")
    return block.evaluate(text)
