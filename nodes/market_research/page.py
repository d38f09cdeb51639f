"""Pages as a reader sees them: the title, and the text without scripts, styles and navigation, one block a line."""

from __future__ import annotations

import re
from html.parser import HTMLParser

MARKUP = re.compile(r"<(?:!doctype|html|head|body|p|div)\b", re.IGNORECASE)
LEFT_OUT = frozenset({"script", "style", "nav", "footer", "noscript", "template", "title"})
"""Elements whose text tells nothing of what a page is about."""
ENDS_A_LINE = frozenset({"p", "li", "tr", "h1", "h2", "h3", "h4", "div", "br", "table", "ul", "ol"})
ENDS_A_CELL = frozenset({"td", "th"})


class _Reader(HTMLParser):
    """Collects what is seen of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.parts: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in LEFT_OUT:
            self._open.append(tag)
        if tag in ENDS_A_LINE:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            # What was never closed inside ends with what is around it.
            del self._open[self._open.index(tag) :]
        if tag in ENDS_A_LINE:
            self.parts.append("\n")
        if tag in ENDS_A_CELL:
            self.parts.append("  ")

    def handle_data(self, data: str) -> None:
        if self._open[-1:] == ["title"]:
            self.title += data
        elif not self._open:
            self.parts.append(data)


def read_page(source: str) -> tuple[str, str]:
    """Read a page.

    Args:
        source: HTML, or Markdown whose first line is the title.

    Returns:
        Its title, and its text, one block a line.
    """
    return _html(source) if MARKUP.search(source) else _markdown(source)


def _markdown(source: str) -> tuple[str, str]:
    head, _, rest = source.strip().partition("\n")
    blocks = (" ".join(block.split()) for block in rest.split("\n\n"))
    return head.lstrip("# "), "\n".join(block for block in blocks if block)


def _html(source: str) -> tuple[str, str]:
    reader = _Reader()
    reader.feed(source)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.parts).splitlines())
    return " ".join(reader.title.split()), "\n".join(line for line in lines if line)
