"""`<invoke>`: which document, with which data. Source: SCXML 6.4."""

from __future__ import annotations

from dataclasses import dataclass

from stateward.errors import DefinitionError
from stateward.exchange.element import Element
from tests.conformance.block import Block, Json
from tests.conformance.document import Document, Invoke, parsed, read
from tests.conformance.payload import child, named, text_of
from tests.conformance.session import Session
from tests.conformance.value import Markup, ScriptError, encode

_TYPES = ("", "scxml", "http://www.w3.org/TR/scxml", "http://www.w3.org/TR/scxml/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """An invocation whose arguments are evaluated."""

    id: str
    document: Document
    given: Json
    forwards: bool


def prepared(session: Session, invoke: Invoke) -> Ready:
    """Evaluate the arguments of an `<invoke>`.

    Raises:
        ScriptError: One is wrong, or it names no document; nothing is invoked then.
        NotSupportedError: The document uses something that is left out here.
    """
    element, block = invoke.element, session.block()
    name = _id(invoke, block)
    kind = _argument(element, "type", block)
    if kind not in _TYPES:
        raise ScriptError(f"there is no processor {kind!r}")
    given = {key: encode(value) for key, value in named(element, block).items()}
    inner = _document(element, block, session.document)
    if "idlocation" in element.attributes or block.data["ids"] != session.engine.data["ids"]:
        session.engine.write(block.closed())
    return Ready(id=name, document=inner, given=given, forwards=element.attributes.get("autoforward") == "true")


def _id(invoke: Invoke, block: Block) -> str:
    known = invoke.element.attributes.get("id")
    made = known or block.new_id(invoke.state)
    location = invoke.element.attributes.get("idlocation")
    if location is not None:
        block.assign(location, made)
    return made


def _argument(element: Element, name: str, block: Block) -> str:
    expr = element.attributes.get(f"{name}expr")
    return element.attributes.get(name, "") if expr is None else str(block.evaluate(expr))


def _document(element: Element, block: Block, outer: Document) -> Document:
    folder = outer.setting.folder
    source = _argument(element, "src", block)
    if source:
        path = folder / source.removeprefix("file:")
        if not path.is_file():
            raise ScriptError(f"{source!r} cannot be read")
        return read(path)
    content = child(element, "content")
    if content is None:
        raise ScriptError("it names no document")
    text = block.evaluate(content.attributes["expr"]) if "expr" in content.attributes else text_of(content)
    try:
        return parsed(text.text if isinstance(text, Markup) else str(text), folder=folder)
    except DefinitionError as wrong:
        raise ScriptError(wrong.what) from wrong
