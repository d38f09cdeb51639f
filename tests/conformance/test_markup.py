"""Elements are written as the XML they came from."""

from __future__ import annotations

import pytest

from stateward.exchange.element import parse
from tests.conformance.markup import written

TEXTS = [
    "<a/>",
    '<a b="1 &lt; &quot;2&quot;">x &amp; y</a>',
    '<a xmlns="urn:one"><b xmlns=""><c/></b><d/></a>',
    '<a xmlns:o="urn:two" o:mark="1"><b o:other="2"/></a>',
]


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_written_reads_as_the_same_element(text: str) -> None:
    """Namespaces, attributes, text and nesting survive."""
    element = parse(text)
    assert parse(written(element)) == element
