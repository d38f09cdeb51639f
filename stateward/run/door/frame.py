"""What goes through the pipes between this process and one that runs a tool: frames, each with its length before it."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass

from stateward.run.door.address import Address

BEGUN = b""
"""Says that the tool is called now: from here on it may have acted."""
_LENGTH = struct.Struct("!Q")
_MOST = 1 << 20
"""How much is read at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call that another process is to make."""

    name: str
    """The tool's name, for messages."""
    address: Address
    load: bytes
    """Its arguments by name, pickled; read only when the module of the tool is there."""


def write_frame(pipe: int, frame: bytes) -> None:
    """Write a frame.

    Args:
        pipe: The file descriptor.
        frame: Any bytes.

    Raises:
        OSError: Nobody reads any more.
    """
    rest = memoryview(_LENGTH.pack(len(frame)) + frame)
    while rest:
        rest = rest[os.write(pipe, rest) :]


def read_frame(pipe: int) -> bytes | None:
    """Read a frame.

    Args:
        pipe: The file descriptor.

    Returns:
        The bytes; None when the other side has gone, also in the middle of a frame.
    """
    head = _read(pipe, _LENGTH.size)
    return None if head is None else _read(pipe, _LENGTH.unpack(head)[0])


def _read(pipe: int, length: int) -> bytes | None:
    parts, left = list[bytes](), length
    while left:
        part = os.read(pipe, min(left, _MOST))
        if not part:
            return None
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
