"""SVG to PNG, by a renderer and a font that come as wheels: no browser, no system library, no font of the machine."""

from __future__ import annotations

import importlib
from importlib.metadata import PackageNotFoundError, files
from types import ModuleType

from stateward.errors import DefinitionError

RENDERER = "resvg_py"
FONT = "fontpkg-arimo"
SCALE = 2.0
"""Pixels for each point."""


def png(svg: str) -> bytes:
    """Render a picture.

    Args:
        svg: What `svg` returned.

    Returns:
        A PNG file with two pixels for each point.

    Raises:
        DefinitionError: The `draw` extra is not installed.
    """
    return bytes(
        _renderer().svg_to_bytes(
            svg_string=svg, zoom=SCALE, skip_system_fonts=True, font_files=_fonts(), sans_serif_family="Arimo"
        )
    )


def _renderer() -> ModuleType:
    try:
        return importlib.import_module(RENDERER)
    except ImportError as missing:
        raise _absent(RENDERER) from missing


def _fonts() -> list[str]:
    try:
        return [str(file.locate()) for file in files(FONT) or () if file.suffix == ".ttf" and "Italic" not in file.name]
    except PackageNotFoundError as missing:
        raise _absent(FONT) from missing


def _absent(part: str) -> DefinitionError:
    return DefinitionError(
        "PNG needs the `draw` extra", where=part, fix="`pip install 'stateward[draw]'`, or draw SVG."
    )
