"""XML as plain values with line numbers: the part of XML that a chart needs, and nothing that can hurt.

A document type is refused, so there are no entities to expand and nothing is fetched. Comments and processing
instructions are no part of a chart and are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from stateward.chart.argument import of_kind
from stateward.errors import DefinitionError

DEEPEST = 100
"""How deep elements may be nested."""

_LABELS = ("id", "name", "event", "target", "src", "sendid")


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """One element."""

    name: str
    namespace: str
    attributes: Mapping[str, str]
    """Those without a namespace, by name."""
    foreign: Mapping[tuple[str, str], str]
    """Those with one, by namespace and name."""
    children: tuple[Element, ...]
    text: str
    """All text right inside, what stands between children included."""
    line: int
    """Where it begins, counted from 1."""

    def get(self, name: str, default: str = "") -> str:
        """Return an attribute without namespace.

        Args:
            name: Its name.
            default: What to return if it is not there.
        """
        return self.attributes.get(name, default)

    def named(self, *names: str) -> Iterator[Element]:
        """Yield the children of these names, whatever their namespace, in document order.

        Args:
            names: The names.
        """
        return (child for child in self.children if child.name in names)

    @property
    def where(self) -> str:
        """The element as messages name it: what it is, its id or what it reacts to, its line."""
        label = next((self.get(name) for name in _LABELS if self.get(name)), "")
        shown = f"<{self.name} {label!r}>" if label else f"<{self.name}>"
        return f"{shown}, line {self.line}"


@dataclass(slots=True)
class _Open:
    """An element whose end has not come."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list[Element])
    text: list[str] = field(default_factory=list[str])

    def closed(self) -> Element:
        namespace, name = _split(self.tag)
        several = {_split(tag): value for tag, value in self.attributes.items()}
        return Element(
            name=name,
            namespace=namespace,
            attributes={name: value for (uri, name), value in several.items() if not uri},
            foreign={key: value for key, value in several.items() if key[0]},
            children=tuple(self.children),
            text="".join(self.text),
            line=self.line,
        )


class _Tree:
    """Puts together what the parser tells."""

    def __init__(self, parser: expat.XMLParserType) -> None:
        self._parser = parser
        self._open: list[_Open] = [_Open(tag="", attributes={}, line=0)]
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._data
        parser.StartDoctypeDeclHandler = self._doctype

    @property
    def root(self) -> Element:
        return self._open[0].children[0]

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        line = self._parser.CurrentLineNumber
        if len(self._open) > DEEPEST:
            raise DefinitionError(
                f"Elements are nested more than {DEEPEST} deep", where=f"line {line}", fix="Make the chart flatter."
            )
        self._open.append(_Open(tag=tag, attributes=attributes, line=line))

    def _end(self, _: str) -> None:
        done = self._open.pop()
        self._open[-1].children.append(done.closed())

    def _data(self, text: str) -> None:
        self._open[-1].text.append(text)

    def _doctype(self, name: str, *_: object) -> None:
        raise DefinitionError(
            f"The document declares a document type, `<!DOCTYPE {name} …>`",
            where=f"line {self._parser.CurrentLineNumber}",
            fix="Remove it: a chart needs none, and entities are not expanded.",
        )


def parse(text: str | bytes) -> Element:
    """Return the root element of a document.

    Args:
        text: The document; bytes are read in the encoding they declare, UTF-8 otherwise.

    Raises:
        DefinitionError: It is no well-formed XML, declares a document type, or is nested too deep.
    """
    given = of_kind(text, (str, bytes), name="text", expected="an SCXML document, as text or bytes", where="exchange")
    parser = expat.ParserCreate(namespace_separator="}")
    tree = _Tree(parser)
    try:
        parser.Parse(given, True)
    except expat.ExpatError as error:
        raise DefinitionError(
            f"The document is no well-formed XML: {expat.ErrorString(error.code)}",
            where=f"line {error.lineno}, column {error.offset}",
            fix="Mend it there.",
        ) from error
    except (UnicodeError, ValueError, LookupError) as error:
        raise DefinitionError(
            f"The document cannot be decoded: {error}", fix="Give it as text, or as bytes in UTF-8."
        ) from error
    return tree.root


def _split(tag: str) -> tuple[str, str]:
    namespace, found, name = tag.rpartition("}")
    return (namespace, name) if found else ("", tag)
