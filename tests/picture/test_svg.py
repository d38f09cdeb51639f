"""Pictures as SVG."""

from __future__ import annotations

import re
from xml.dom.minidom import Document, parseString

from stateward.chart.compiler import build
from stateward.chart.note import Note
from stateward.chart.state import Final, State
from stateward.chart.transition import on
from stateward.picture.layout import layout
from stateward.picture.scene import Scene, scene
from stateward.picture.svg import AMBER, BLUE, svg
from stateward.picture.trail import trail
from tests.chart.machines.shipping import shipping


def written(seen: Scene) -> str:
    return svg(seen, layout(seen))


def texts(document: Document, tag: str = "text") -> list[str]:
    return [node.firstChild.nodeValue for node in document.getElementsByTagName(tag)]  # type: ignore[union-attr]


def test_a_picture_tells_in_words_what_it_shows() -> None:
    """Title and description come first, and every state says its path."""
    chart = build("door", [State("OPEN", on=on("shut", "SHUT")), Final("SHUT")])
    document = parseString(written(scene(chart, trail=trail(chart, highlight=["OPEN"]))))
    assert texts(document, "title")[:3] == ["Statechart door", "OPEN", "SHUT"]
    assert texts(document, "desc") == ["States: OPEN (active), SHUT. Transitions: initial to OPEN; OPEN to SHUT, shut."]
    assert document.documentElement is not None
    assert document.documentElement.getAttribute("role") == "img"


def test_everything_written_is_in_the_picture() -> None:
    """Names, histories, events, guards, actions, timers, reactions."""
    shown = set(texts(parseString(written(scene(shipping())))))
    assert {"HANDLING", "GOODS", "WRAP", "READY", "H", "H*", "order", "[is_express]", "after 30s"} <= shown
    assert {"damaged / count", "note / count", "exit / count", "abort"} <= shown


def test_text_is_escaped() -> None:
    """Nothing a chart says becomes markup."""
    chart = build('<a & "b">', [State("A", on=on("x", "B")), Final("B")])
    seen = scene(chart, notes={"A": [Note("</text><script>&\0")]})
    shown = texts(parseString(written(seen)))
    assert {'<a & "b">', "</text><script>& "} <= set(shown)
    assert "<script" not in written(seen)


def test_a_run_is_seen() -> None:
    """Amber where it is, blue where it went."""
    plain, marked = scene(shipping()), scene(shipping(), trail=trail(shipping(), highlight=["NEW"], path=["HELD"]))
    assert (AMBER in written(plain), BLUE in written(plain)) == (False, False)
    assert (AMBER in written(marked), BLUE in written(marked)) == (True, True)


def test_a_picture_needs_nothing_from_outside() -> None:
    """No script, style sheet, font file, image or link; and a light ground of its own, for dark pages."""
    text = written(scene(shipping())).replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"<(?:script|style|image|use|a)\b|url\(|https?:|href", text)
    assert 'fill="#ffffff"' in text


def test_numbers_are_short() -> None:
    """One decimal at most, so that a change of a chart is a small change of its picture."""
    attributes = re.sub(r'paint-order="stroke"|>[^<]*<|d="M6 0L1[^"]*"|d="M\.8[^"]*"', "", written(scene(shipping())))
    assert not re.search(r"\d\.\d\d", attributes)
