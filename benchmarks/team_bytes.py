"""How many bytes of checkpoints a saver holds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from langgraph.checkpoint.memory import InMemorySaver

from benchmarks.disk import apart, sizes

Held = Callable[[], tuple[int, int]]
"""Returns the bytes of the checkpoints, and those of all that was written."""


def held_in_memory(saver: InMemorySaver) -> Held:
    """Return how to measure a saver in memory: what it serialized, which is checkpoints and nothing else.

    Args:
        saver: The saver.
    """

    def held() -> tuple[int, int]:
        spaces = [space for thread in saver.storage.values() for space in thread.values()]
        checkpoints = [len(part[1]) for space in spaces for kept in space.values() for part in kept[:2]]
        blobs = [len(blob[1]) for blob in saver.blobs.values()]
        writes = [len(write[2][1]) for several in saver.writes.values() for write in several.values()]
        whole = sum(checkpoints) + sum(blobs) + sum(writes)
        return whole, whole

    return held


def held_in_file(path: Path) -> Held:
    """Return how to measure an SQLite file: its pages, with and without those of our own tables.

    Args:
        path: The file.
    """

    def held() -> tuple[int, int]:
        measured = sizes(path)
        return apart(measured), measured["(file)"]

    return held
