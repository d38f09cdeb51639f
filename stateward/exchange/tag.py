"""Elements to write: built piece by piece, printed with two spaces for each level."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

from stateward.errors import DefinitionError

_ILLEGAL = re.compile(r"[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")
_WHITE = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
"""White space that a parser would change in an attribute."""


@dataclass(slots=True)
class Tag:
    """An element to write.

    Args:
        name: Its name, with the prefix.
        inner: Its text, if it has no children.
    """

    name: str
    inner: str = ""
    attributes: dict[str, str] = field(default_factory=dict[str, str])
    children: list[Tag] = field(default_factory=list["Tag"])

    def set(self, name: str, value: str, *, empty: bool = False) -> Tag:
        """Give it an attribute, unless the value is empty.

        Args:
            name: The attribute.
            value: Its value.
            empty: Whether to write it even if it is empty.

        Returns:
            The element itself.

        Raises:
            DefinitionError: The value has characters that XML has not.
        """
        if _ILLEGAL.search(value):
            raise DefinitionError(
                f"{value!r} has characters that no XML document can hold", where=f"{self.name} {name}", fix="Rename it."
            )
        if value or empty:
            self.attributes[name] = value
        return self

    def add(self, *children: Tag) -> Tag:
        """Put elements inside, behind those that are there.

        Args:
            children: The elements.

        Returns:
            The element itself.
        """
        self.children.extend(children)
        return self

    def text(self, *, depth: int = 0) -> str:
        """Return it as text that ends with a line break.

        Args:
            depth: How many levels it stands inside others.
        """
        indent = "  " * depth
        opening = (
            indent + "<" + " ".join([self.name, *(f"{k}={quoteattr(v, _WHITE)}" for k, v in self.attributes.items())])
        )
        if self.children:
            inside = "".join(child.text(depth=depth + 1) for child in self.children)
            return f"{opening}>\n{inside}{indent}</{self.name}>\n"
        return f"{opening}>{escape(self.inner)}</{self.name}>\n" if self.inner else f"{opening}/>\n"
