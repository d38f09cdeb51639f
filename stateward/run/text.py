"""Texts that are kept: names of sessions, tenants and people, and what these say."""

from __future__ import annotations

from stateward.errors import InputRefused


def checked_text(given: object, *, what: str) -> str:
    """Check that something from outside is a text that any database can keep.

    Args:
        given: What was given.
        what: What it is, for the message.

    Returns:
        The text.

    Raises:
        InputRefused: It is no text, has a NUL, which PostgreSQL does not take, or half a character: a lone surrogate,
            as a text has that was cut.
    """
    if not isinstance(given, str):
        raise InputRefused(f"{_upper(what)} is a text, not {given!r}", fix="Give a text.")
    if "\0" in given:
        raise InputRefused(f"{_upper(what)} has a NUL: {given!r}", fix="Give a text without one.")
    try:
        given.encode()
    except UnicodeEncodeError as broken:
        raise InputRefused(
            f"{_upper(what)} has half a character at place {broken.start}: {given!a}",
            fix="Give whole Unicode characters: what was cut out of a text, or decoded with `surrogateescape`, has "
            "halves.",
        ) from broken
    return given


def checked_session(given: object) -> str:
    """Check the id that a session is to have.

    Args:
        given: What was given.

    Returns:
        The id.

    Raises:
        InputRefused: It is no text, is empty, or cannot be kept.
    """
    if not isinstance(given, str) or not given:
        raise InputRefused(f"A session's id is a text, not {given!r}", fix="Give an id that is not empty.")
    return checked_text(given, what="the id of a session")


def _upper(what: str) -> str:
    return what[:1].upper() + what[1:]
