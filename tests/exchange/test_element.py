"""XML with line numbers, and without what can hurt."""

from __future__ import annotations

import pytest

from stateward.errors import DefinitionError
from stateward.exchange.element import DEEPEST, parse


def test_an_element_knows_its_names_its_text_and_its_line() -> None:
    """Attributes of other namespaces are kept apart."""
    root = parse('<a xmlns="urn:x" xmlns:o="urn:y">\n  <b id="1" o:id="2">te<c/>xt</b>\n</a>')
    b = root.children[0]
    assert (root.namespace, b.name, b.line, b.text) == ("urn:x", "b", 2, "text")
    assert (b.attributes, b.foreign, b.where) == ({"id": "1"}, {("urn:y", "id"): "2"}, "<b '1'>, line 2")


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
        '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
        '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
    ],
)
def test_a_document_type_is_refused_so_nothing_expands_and_nothing_is_fetched(text: str) -> None:
    """The message names the line."""
    with pytest.raises(DefinitionError, match=r"document type, `<!DOCTYPE a …>` \(at line 1\)"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<a>", "no element found"),
        ("<a></b>", r"mismatched tag \(at line 1"),
        ("", "no element found"),
        ("<a>&b;</a>", "undefined entity"),
        (b"<a>\xff</a>", "not well-formed"),
        (b'<?xml version="1.0" encoding="klingon"?><a/>', "unknown encoding"),
        ("<a>" * (DEEPEST + 1) + "</a>" * (DEEPEST + 1), "nested more than"),
    ],
)
def test_what_is_no_xml_is_refused_with_its_place(text: str | bytes, told: str) -> None:
    """So is what is nested too deep to be a chart."""
    with pytest.raises(DefinitionError, match=told):
        parse(text)
