"""Interrupt a block where Ctrl-C can: when a call into C has returned."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def interrupted(at: int, *, module: str | tuple[str, ...]) -> Generator[None]:
    """Raise `KeyboardInterrupt` once in the block.

    Args:
        at: After how many calls into C, from 0; fewer are not interrupted.
        module: The end of the path of the file whose calls count, or several.
    """
    left = [at]

    def look(frame: FrameType, event: str, called: Any) -> None:
        if event == "c_return" and frame.f_code.co_filename.endswith(module):
            left[0] -= 1
            if left[0] == -1:
                raise KeyboardInterrupt

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(before)
