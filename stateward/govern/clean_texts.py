"""Texts that redaction has looked at and found nothing in: prompts and histories come with every call."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

MOST = 4096
"""How many are remembered; when there are more, all are forgotten."""


class CleanTexts:
    """Remembers them by SHA-256: what was looked at is not kept itself.

    Args:
        most: How many, ≥ 1.
    """

    def __init__(self, *, most: int = MOST) -> None:
        self._most = most
        self._known: dict[bytes, None] = {}

    def __len__(self) -> int:
        return len(self._known)

    def cleaned(self, text: str, look: Callable[[str], str]) -> str:
        """Return a text without what is found in it.

        Args:
            text: Any text.
            look: Takes out what it finds; the same of the same text, whenever it looks.
        """
        digest = sha256(text.encode("utf-8", "surrogatepass")).digest()
        if digest in self._known:
            return text
        cleaned = look(text)
        if cleaned == text:
            if len(self._known) >= self._most:
                self._known.clear()
            self._known[digest] = None
        return cleaned
