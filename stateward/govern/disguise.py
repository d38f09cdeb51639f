"""Text as a reader takes it: what hides a finding from a pattern is undone, and every letter knows where it stood.

Undone are letters nobody sees (zero-width spaces, soft hyphens), other alphabets' digits, letters of other widths and
shapes (Unicode's compatibility forms), percent escapes of URLs and `\\u` escapes of JSON.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from stateward.govern.pattern import Pattern, compile_pattern

_ESCAPE = r"%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}"
_UNSEEN = (
    r"\p{Cf}\x{034F}\x{115F}\x{1160}\x{17B4}\x{17B5}\x{180B}-\x{180F}\x{3164}\x{FE00}-\x{FE0F}\x{FFA0}"
    r"\x{E0100}-\x{E01EF}"
)
SUSPICIOUS = rf"{_ESCAPE}|[{_UNSEEN}]|[^\x00-\x7f]"
"""A pattern that finds something in every text that may be disguised."""
_SUSPICIOUS = compile_pattern(rf"{_ESCAPE}|[{_UNSEEN}]|[^\P{{Nd}}0-9]")
_ESCAPED = compile_pattern(_ESCAPE)
_HIDDEN = compile_pattern(f"[{_UNSEEN}]")
_BREAK = compile_pattern(r"[ \t]*(?:\r?\n|\r|\\r\\n|\\n)[ \t]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A text with some letters left out or replaced."""

    text: str
    places: tuple[tuple[int, int], ...] | None = None
    """Where each letter stands in the original; None if nothing was changed."""

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return where something stands in the original.

        Args:
            start: Where it begins in the view.
            end: Where it ends in the view, after `start`.
        """
        return (start, end) if self.places is None else (self.places[start][0], self.places[end - 1][1])


def readable(text: str) -> str:
    """Replace lone surrogates, which no pattern can read, each by one letter.

    Args:
        text: Any text.
    """
    return text if text.isascii() else text.encode(errors="replace").decode()


def undisguised(text: str) -> View | None:
    """Undo what hides a finding.

    Args:
        text: A text without lone surrogates.

    Returns:
        The view; None if nothing in the text hides anything.
    """
    if _SUSPICIOUS.search(text) is None and (text.isascii() or unicodedata.is_normalized("NFKC", text)):
        return None
    letters: list[str] = []
    places: list[tuple[int, int]] = []
    for start, end in _units(text):
        for letter in _read(text[start:end]):
            letters.append(letter)
            places.append((start, end))
    return View(text="".join(letters), places=tuple(places))


def is_broken(text: str, *, hides: Pattern) -> bool:
    """Whether a text has something in it when its line breaks are left out.

    Args:
        text: A text without lone surrogates.
        hides: What is looked for.
    """
    return _BREAK.search(text) is not None and hides.search(_BREAK.sub(lambda _: "", text)) is not None


def joined(text: str) -> View:
    """Leave the line breaks out, with the spaces around them.

    Args:
        text: A text without lone surrogates.
    """
    breaks = [match.span() for match in _BREAK.finditer(text)]
    places: list[tuple[int, int]] = []
    pieces: list[str] = []
    for start, end in zip([0, *(end for _, end in breaks)], [*(start for start, _ in breaks), len(text)], strict=True):
        pieces.append(text[start:end])
        places.extend((place, place + 1) for place in range(start, end))
    return View(text="".join(pieces), places=tuple(places))


def _units(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the letters are; an escape is one."""
    done = 0
    for match in _ESCAPED.finditer(text):
        start, end = match.span()
        yield from ((place, place + 1) for place in range(done, start))
        yield start, end
        done = end
    yield from ((place, place + 1) for place in range(done, len(text)))


def _read(unit: str) -> str:
    """Return what a letter or an escape is read as."""
    letter = unit
    if len(unit) > 1:
        code = int(unit.lstrip("%\\u"), 16)
        letter = chr(code) if not 0xD800 <= code < 0xE000 else "?"
    if letter.isascii():
        return letter
    if _HIDDEN.fullmatch(letter):
        return ""
    digit = unicodedata.decimal(letter, None)
    return str(digit) if digit is not None else unicodedata.normalize("NFKC", letter)
