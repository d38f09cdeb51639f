"""ECMAScript text as tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from tests.conformance.value import ScriptError

Kind = Literal["number", "string", "word", "sign", "end"]

_SIGNS = r"===|!==|==|!=|<=|>=|&&|\|\||\+\+|--|\+=|-=|\*=|/=|%=|=>|[-+*/%<>=!?:;,.(){}\[\]|&^~]"  # longest first
_TOKEN = re.compile(
    rf"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|\.\d+)
    |(?P<string>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")
    |(?P<word>[A-Za-z_$][\w$]*)
    |(?P<sign>{_SIGNS})""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}


@dataclass(frozen=True, slots=True)
class Token:
    """One token, and where it stands in the text."""

    kind: Kind
    text: str
    start: int
    end: int


def tokens(text: str) -> list[Token]:
    """Return the tokens of a text, an `end` last.

    Raises:
        ScriptError: Some character begins no token.
    """
    found: list[Token] = []
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise ScriptError(f"SyntaxError: {text[place : place + 10]!r}")
        if match.lastgroup != "space":
            found.append(Token(match.lastgroup, match[0], match.start(), match.end()))  # pyright: ignore
        place = match.end()
    return [*found, Token("end", "", place, place)]


def unquoted(text: str) -> str:
    """Return what a string token means."""
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), text[1:-1], flags=re.DOTALL)
