"""What runs inside a call: agents that a tool calls are counted, so that their own calls have names that stay the same.

A nested agent draws on the run around it. Its calls are journaled under the path of the state with its name behind it,
and under an activation of their own: a number made of the call it runs in and of the how-many-th agent of that name it
is there. So an activity that is entered again finds what its agents did, whoever asked a person meanwhile.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

WAITED = {"waited": True}
"""In the place of the result of a call that is started: something inside it waits, and the call is entered again."""
_BITS = 44
"""Of the hash in an activation's number; the rest counts turns."""
TURNS = 1 << 16
"""The most turns of one agent whose calls have names of their own."""


class Paused(BaseException):  # a signal, like CancelledError: no tool may take it for an error of its own
    """A graph inside a tool waits for somebody, in LangGraph's way.

    Args:
        cause: What LangGraph raised.
    """

    def __init__(self, cause: Exception) -> None:
        self.cause = cause
        super().__init__("a graph inside a tool waits")


@dataclass(slots=True, kw_only=True)
class Calling:
    """A call of a tool, or an activity, while it is made: agents may run in it."""

    door: Any  # the Door, which imports this module
    """The door around."""
    call: int
    """The call's number in its activation; 0 for the activity itself."""
    around: Calling | None = field(default_factory=lambda: around())
    """The call, or activity, that this one is made in."""
    signal: Any = None  # a Signal, which imports the store
    """Why what calls here must end, although it may have swallowed what it was told."""
    _begun: dict[str, int] = field(default_factory=dict[str, int])
    _lock: Lock = field(default_factory=Lock)

    def base(self, path: str) -> int:
        """Return the first activation's number of the next agent that begins here.

        Args:
            path: The agent's path.

        Returns:
            A multiple of `TURNS`, at least that; the same whenever the call is entered again.
        """
        with self._lock:
            number = self._begun[path] = self._begun.get(path, 0) + 1
        at = self.door.activation
        place = f"{at.path}\n{at.number}\n{self.call}\n{path}\n{number}"
        return (int.from_bytes(hashlib.sha256(place.encode()).digest()[:8]) >> (64 - _BITS) | 1) * TURNS


_CALLING: ContextVar[Callable[[], Calling] | None] = ContextVar("stateward_calling", default=None)
"""What makes or returns the innermost call of a tool, or activity, that the code runs in."""


def around() -> Calling | None:
    """Return the innermost call of a tool, or activity, that this code runs in; None outside."""
    calling = _CALLING.get()
    return None if calling is None else calling()


def enter(calling: Callable[[], Calling]) -> Token[Callable[[], Calling] | None]:
    """Begin what `inside` marks, where a block would cost an activity more than its whole rest.

    Args:
        calling: Makes or returns it.

    Returns:
        What `leave` takes.
    """
    return _CALLING.set(calling)


def leave(token: Token[Callable[[], Calling] | None]) -> None:
    """End what `enter` began.

    Args:
        token: From `enter`.
    """
    _CALLING.reset(token)


class inside:  # noqa: N801  # read as `with inside(…)`; a generator would cost each activity more than its whole rest here
    """Mark what runs in the block, in tasks and threads too, as the inside of a call or of an activity.

    Args:
        calling: Makes or returns it.
    """

    __slots__ = ("_calling", "_token")

    def __init__(self, calling: Callable[[], Calling]) -> None:
        self._calling = calling

    def __enter__(self) -> None:
        self._token = _CALLING.set(self._calling)

    def __exit__(self, *raised: object) -> None:
        _CALLING.reset(self._token)
