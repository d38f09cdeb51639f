"""What may stand where in an SCXML document: checked before anything is read, so that nothing is dropped.

Source: SCXML 1.0, sections 3.2 to 3.10.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from stateward.chart.definition import NodeKind
from stateward.errors import DefinitionError
from stateward.exchange.element import Element
from stateward.exchange.names import is_name, name_from, unused
from stateward.exchange.scxml_content import OWN, is_scxml, only

STATES = ("state", "parallel", "final", "history")
HARMLESS = ("http://www.w3.org/XML/1998/namespace", "http://www.w3.org/2001/XMLSchema-instance")
"""Namespaces of attributes that speak of the document and not of the chart."""
MARKS = ("version", "name", "root", "generated", "completion", "after", "events")
MARKS_OF_INVOKE = ("model", "tools", "output", "contract", "timeout", "asks")
"""What our own namespace has."""
CHILDREN: Mapping[str, tuple[str, ...]] = {
    "scxml": ("state", "parallel", "final", "datamodel", "script"),
    "state": (*STATES, "onentry", "onexit", "transition", "initial", "datamodel", "invoke"),
    "parallel": ("state", "parallel", "history", "onentry", "onexit", "transition", "datamodel", "invoke"),
    "final": ("onentry", "onexit", "donedata"),
    "history": ("transition",),
    "initial": ("transition",),
}
"""What may stand inside of what. Source: SCXML 3.2 to 3.10."""
ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    "scxml": ("initial", "name", "version", "datamodel", "binding"),
    "state": ("id", "initial"),
    "parallel": ("id",),
    "final": ("id",),
    "history": ("id", "type"),
    "initial": (),
    "transition": ("event", "cond", "target", "type"),
}
"""Their attributes without namespace."""


def kind_of(element: Element) -> NodeKind:
    """Return what a state is.

    Args:
        element: The state.
    """
    if element.name in ("parallel", "final", "history"):
        return element.name
    return "compound" if own(element, *STATES) else "atomic"


def names_beside(elements: Sequence[Element]) -> list[str]:
    """Return a name for each of the states beside each other.

    Args:
        elements: The states.

    Raises:
        DefinitionError: Two have one name, or a name of ours is illegal.
    """
    wished = [mark(e, "name") or e.get("id") for e in elements]
    taken = [name for e, name in zip(elements, wished, strict=True) if is_name(name) or mark(e, "name")]
    names: list[str] = []
    for place, (element, name) in enumerate(zip(elements, wished, strict=True), start=1):
        if name not in taken:
            name = unused(name_from(name) if name else f"{element.name}_{place}", taken=taken)
            taken.append(name)
        elif name in names or not (is_name(name) or element.name == "history"):
            raise DefinitionError(f"`{name}` names two states or none", where=element.where, fix="Choose another.")
        names.append(name)
    return names


def check_shape(element: Element) -> None:
    """Check what stands in a state, and that there is no text between.

    Args:
        element: The state, or the document.

    Raises:
        DefinitionError: An attribute, an element or text that cannot stand there.
    """
    only(element, *ATTRIBUTES[element.name])
    allowed = CHILDREN[element.name]
    for child in element.children:
        if child.name not in allowed or not is_scxml(child):
            raise DefinitionError(
                f"<{child.name}> cannot stand in <{element.name}>",
                where=child.where,
                fix="Remove it, or name its namespace in `ignoring`." if not is_scxml(child) else "Remove it.",
            )
        if child.name == "initial":
            check_shape(child)
    if element.text.strip():
        raise DefinitionError(
            f"There is text in <{element.name}>: `{element.text.strip()[:40]}`", where=element.where, fix="Remove it."
        )


def check_generated(block: Element) -> None:
    """Check that a block has nothing that is not read, when it is marked as what a state does by itself.

    Args:
        block: The `<onentry>` or `<onexit>`.

    Raises:
        DefinitionError: It has something else than its timers, their cancelling and its completion.
    """
    allowed = ("send", "raise") if block.name == "onentry" else ("cancel",)
    for child in block.children if mark(block, "generated") else ():
        if child.name not in allowed or not is_scxml(child) or child.children:
            raise DefinitionError(
                f"<{child.name}> would be lost: it stands in what is marked as `generated`",
                where=child.where,
                fix=f"Put it into an <{block.name}> of its own.",
            )


def mark(element: Element, name: str) -> str:
    """Return an attribute of our own namespace; empty if it is not there.

    Args:
        element: The element.
        name: The attribute.
    """
    return element.foreign.get((OWN, name), "")


def walk(element: Element) -> Iterator[Element]:
    """Yield an element and everything inside, in document order.

    Args:
        element: The element.
    """
    yield element
    for child in element.children:
        yield from walk(child)


def own(element: Element, *names: str) -> list[Element]:
    """Return the SCXML children of these names.

    Args:
        element: The element around them.
        names: The names.
    """
    return [child for child in element.named(*names) if is_scxml(child)]


def cleaned(element: Element, *, ignoring: Collection[str]) -> Element:
    """Return the element without what is to be ignored; refuse foreign attributes nobody understands.

    Args:
        element: The document.
        ignoring: Namespaces to skip.

    Raises:
        DefinitionError: An attribute of another namespace.
    """
    foreign = {key: value for key, value in element.foreign.items() if key[0] not in (*ignoring, *HARMLESS)}
    marks = (*MARKS, *MARKS_OF_INVOKE, "params")
    for namespace, name in foreign:
        if namespace != OWN or name not in marks:
            raise DefinitionError(
                f"The attribute `{name}` of the namespace `{namespace}` is not carried over",
                where=element.where,
                fix="Remove it, or name its namespace in `ignoring`.",
            )
    children = tuple(cleaned(child, ignoring=ignoring) for child in element.children if child.namespace not in ignoring)
    return replace(element, foreign=foreign, children=children)
