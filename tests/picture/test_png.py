"""Pictures as PNG."""

from __future__ import annotations

import struct
import zlib

import pytest

from stateward.errors import DefinitionError
from stateward.picture import png as module
from stateward.picture.png import png

SQUARE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><rect width="20" height="10" fill="red"/></svg>'
)
LETTER = SQUARE.replace("</svg>", '<text y="9" font-family="Helvetica, Arimo" font-size="12">W</text></svg>')


def size(image: bytes) -> tuple[int, int]:
    return struct.unpack(">II", image[16:24])


def test_a_picture_has_two_pixels_for_each_point() -> None:
    """And is a PNG file."""
    image = png(SQUARE)
    assert image.startswith(b"\x89PNG\r\n")
    assert size(image) == (40, 20)
    assert zlib.crc32(b"IEND") == struct.unpack(">I", image[-4:])[0]


def test_text_is_drawn_with_a_font_that_came_along() -> None:
    """The machine's fonts are not asked."""
    assert png(LETTER) != png(SQUARE)
    assert png(LETTER) == png(LETTER)


@pytest.mark.parametrize("part", ["RENDERER", "FONT"])
def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    """SVG may still be had."""
    monkeypatch.setattr(module, part, "absent_part")
    with pytest.raises(DefinitionError, match=r"PNG needs the `draw` extra \(at absent_part\).*stateward\[draw\]"):
        png(SQUARE)
