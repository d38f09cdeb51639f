"""Elements as text: markup that is data, and documents inside of documents."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from stateward.exchange.element import Element


def written(element: Element, *, around: str = "") -> str:
    """Return an element as XML. Text is put before the elements inside: what is written here has one or the other.

    Args:
        element: The element.
        around: The namespace that holds where it will stand.
    """
    plain = dict(element.attributes)
    if element.namespace != around:
        plain = {"xmlns": element.namespace, **plain}
    spaces = {uri: f"n{number}" for number, uri in enumerate(dict.fromkeys(uri for uri, _ in element.foreign))}
    plain |= {f"xmlns:{prefix}": uri for uri, prefix in spaces.items()}
    plain |= {f"{spaces[uri]}:{name}": value for (uri, name), value in element.foreign.items()}
    attributes = "".join(f" {name}={quoteattr(value)}" for name, value in plain.items())
    inside = escape(element.text) + "".join(written(each, around=element.namespace) for each in element.children)
    return f"<{element.name}{attributes}>{inside}</{element.name}>"
