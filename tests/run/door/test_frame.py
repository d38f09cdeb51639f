"""Frames in a pipe."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from stateward.run.door.frame import BEGUN, read_frame, write_frame


@pytest.mark.parametrize("frame", [BEGUN, b"x", b"y" * 3_000_000])
def test_frame_is_read_as_it_was_written(frame: bytes) -> None:
    """Also an empty one, and one that no pipe holds at once."""
    out, into = os.pipe()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(write_frame, into, frame)
        assert read_frame(out) == frame
    os.close(out)
    os.close(into)


@pytest.mark.parametrize("cut", [0, 3, 10])
def test_end_of_the_other_side_is_no_frame(cut: int) -> None:
    """Also in the middle of one."""
    out, into = os.pipe()
    write_frame(into, b"0123456789")
    whole = os.read(out, 100)
    os.write(into, whole[:cut])
    os.close(into)
    assert read_frame(out) is None
    os.close(out)
