"""Texts that are kept."""

from __future__ import annotations

import pytest

from stateward.errors import InputRefused
from stateward.run.text import checked_text


@pytest.mark.parametrize("text", ["", "ann", "ä\U0001f642", "a\nb"])
def test_a_text_passes(text: str) -> None:
    """Whatever whole characters it has."""
    assert checked_text(text, what="`by`") == text


@pytest.mark.parametrize("given", ["a\ud800", "\udfff", "a\x00b", b"ann", None, 3])
def test_what_cannot_be_kept_is_refused(given: object) -> None:
    """Half a character, a NUL, or no text at all; the message can be printed."""
    with pytest.raises(InputRefused, match="`by` ") as refused:
        checked_text(given, what="`by`")
    assert str(refused.value).encode()
