"""How versions of channels are written: LangGraph's savers take 50 characters for each, and a checkpoint has a dozen.

A version here is a letter for the number of digits, the digits, and eight characters by chance: `a7.Vd0w-kQ2`. Versions
are compared as text, so that the letter puts 10 behind 9, and each of ours behind each of LangGraph's, which begin with
a digit: a session that an earlier release wrote goes on. Chance keeps apart what two branches of a session write under
the same number (48 bits), since values are kept, and sealed, by their version.

Source: `langgraph.checkpoint.sqlite` 3.1 and `.postgres` 3.2, `get_next_version`.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from os import urandom
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

_BYTES = 6
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class ShortVersions(BaseCheckpointSaver[Any]):
    """A saver that gives channels versions of a dozen characters; the next class in line stores."""

    def get_next_version(self, current: Any, channel: None) -> str:
        """Return the version of what changes next.

        Args:
            current: The highest version of the checkpoint yet.
            channel: LangGraph names none.
        """
        return next_version(current)


def next_version(current: str | int | None) -> str:
    """Return a version that stands behind another one.

    Args:
        current: The highest version yet, ours, LangGraph's, or a number; None for the first.
    """
    digits = str(_number(current) + 1)
    return f"{_LETTERS[len(digits) - 1]}{digits}.{urlsafe_b64encode(urandom(_BYTES)).decode()}"


def _number(version: str | int | None) -> int:
    if not isinstance(version, str):
        return int(version or 0)
    return int(version.partition(".")[0].lstrip(_LETTERS))
