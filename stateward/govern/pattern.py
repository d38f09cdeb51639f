"""Regular expressions that come from files, run by RE2 so that no pattern can take exponential time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, cast

import re2

from stateward.errors import DefinitionError

_RE2_ERROR = cast("type[Exception]", re2.error)  # pyright: ignore[reportUnknownMemberType] re2 has no types


class Match(Protocol):
    """The part of a match that Stateward reads."""

    def group(self, index: int = 0, /) -> str:
        """Return the text of one group."""
        ...

    def span(self, index: int = 0, /) -> tuple[int, int]:
        """Return where one group begins and ends."""
        ...

    def end(self, index: int = 0, /) -> int:
        """Return where one group ends."""
        ...


class Pattern(Protocol):
    """A compiled RE2 pattern."""

    def fullmatch(self, text: str, /) -> Match | None:
        """Match the whole text or nothing."""
        ...

    def search(self, text: str, /) -> Match | None:
        """Find the first match in the text."""
        ...

    def finditer(self, text: str, /) -> Iterator[Match]:
        """Find every match in the text, from left to right."""
        ...

    def sub(self, repl: Callable[[Match], str], text: str, /) -> str:
        """Replace every match by what `repl` makes of it."""
        ...


def compile_pattern(text: str, *, case_sensitive: bool = True, has_groups: bool = True) -> Pattern:
    """Compile a pattern with google-re2.

    Args:
        text: The pattern, in RE2 syntax (no look-around, no back-references).
        case_sensitive: Whether capital letters matter.
        has_groups: Whether anybody asks what its groups match; a search takes several times as long then.

    Returns:
        The compiled pattern.

    Raises:
        DefinitionError: `text` is not a pattern RE2 can compile.
    """
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = case_sensitive
    options.never_capture = not has_groups
    try:
        return cast(Pattern, re2.compile(text, options))  # pyright: ignore[reportUnknownMemberType] re2 has no types
    except (_RE2_ERROR, TypeError, UnicodeError) as error:
        raise DefinitionError(
            f"`{text}` is not an RE2 pattern: {_reason(error)}",
            fix="RE2 has no look-around and no back-references.",
            pattern=text,
        ) from error


def is_one_of(text: str, *, patterns: Iterable[str]) -> bool:
    """Whether one of several patterns matches a whole text.

    Args:
        text: The text, such as a tool's name.
        patterns: Patterns in RE2 syntax.
    """
    return any(compile_pattern(pattern).fullmatch(text) for pattern in patterns)


def _reason(error: Exception) -> str:
    detail: object = error.args[0] if error.args else ""
    return detail.decode("utf-8", "replace") if isinstance(detail, bytes) else str(detail)
