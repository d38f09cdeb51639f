"""Pictures: one drawn from a prompt on this machine, and what a file turns out to be when it is looked into."""

from __future__ import annotations

import hashlib
import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, UnidentifiedImageError

import stateward as sw

Painter = Callable[[str, int, int, int], bytes]
"""Given prompt, width, height and take: the bytes of an image file."""
UNKNOWN = "application/octet-stream"
MAX_PIXELS = 4096 * 4096
"""Of a picture that is decoded at all; a small file may say that it holds a huge one."""
SHAPES = 12


def paint(prompt: str, width: int, height: int, take: int) -> bytes:
    """Draw coloured shapes, the same for the same prompt.

    Args:
        prompt: What to draw.
        width: In pixels.
        height: In pixels.
        take: The how-many-th try; another one looks different.

    Returns:
        A PNG file.
    """
    chance = random.Random(hashlib.sha256(f"{take} {prompt}".encode()).digest())
    colour = [tuple(chance.randrange(256) for _ in range(3)) for _ in range(SHAPES + 1)]
    image = Image.new("RGB", (width, height), colour[-1])
    draw = ImageDraw.Draw(image)
    for number in range(SHAPES):
        left, top = chance.randrange(width), chance.randrange(height)
        right, bottom = left + chance.randrange(width // 2), top + chance.randrange(height // 2)
        (draw.ellipse if number % 2 else draw.rectangle)((left, top, right, bottom), fill=colour[number])
    kept = io.BytesIO()
    image.save(kept, format="PNG")
    return kept.getvalue()


def picture_tools(out: Path, *, painter: Painter = paint) -> tuple[Any, ...]:
    """Make the tool that draws.

    Args:
        out: The folder that files are written to; their names are made here, so that no argument can lead out of it.
        painter: Draws.

    Returns:
        Governed tools; pass them to `compile`.
    """

    @sw.tool(effect="idempotent")
    def draw_image(prompt: str, width: int, height: int, take: int, *, ctx: sw.ToolContext) -> dict[str, str]:
        """Draw a picture and keep it in a file."""
        out.mkdir(parents=True, exist_ok=True)
        file = out / f"{ctx.idempotency_key[:32]}.png"
        file.write_bytes(painter(prompt, width, height, take))
        return {"file": str(file)}

    return (draw_image,)


def inspected(file: str) -> dict[str, Any]:
    """Say what a file is by its bytes, whatever its name says.

    Args:
        file: Its path.

    Returns:
        What the contract `Image` wants. What cannot be decoded to its end has no size and an unknown type; a file that
        is not there has no bytes.
    """
    try:
        data = Path(file).read_bytes()
    except OSError:
        data = b""
    mime, (width, height) = _decoded(data)
    found = {"file": file, "mime": mime, "width": width, "height": height, "bytes": len(data)}
    return {**found, "sha256": hashlib.sha256(data).hexdigest()}


def _decoded(data: bytes) -> tuple[str, tuple[int, int]]:
    try:
        with Image.open(io.BytesIO(data)) as image:
            if image.width * image.height > MAX_PIXELS:
                return UNKNOWN, (0, 0)
            image.load()
            return Image.MIME.get(image.format or "", UNKNOWN), image.size
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return UNKNOWN, (0, 0)
