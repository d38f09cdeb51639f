"""What belongs to one process: threads, sockets, file handles and locks, which a fork copies but does not share out.

A child that was forked off has none of its parent's threads, and would read its parent's answers from sockets that both
hold. So it makes each of these things anew when it first asks for it, and leaves its parent's alone: to close them
would be felt by the parent.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class PerProcess(Generic[T]):
    """One thing for each process.

    Args:
        make: Makes it: at once for this process, and for a child when the child first asks for it.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = Lock()
        self._inherited: list[T] = []
        """The parents', kept because to drop them is to close them."""
        self._value = make()
        self._process = os.getpid()

    @property
    def is_inherited(self) -> bool:
        """Whether this process was forked off, and has not asked for a thing of its own yet."""
        return self._process != os.getpid()

    def get(self) -> T:
        """Return this process's.

        Raises:
            Exception: What making it raised, in a child; the next call tries again.
        """
        if self.is_inherited:
            self._begin_anew()
        return self._value

    def _begin_anew(self) -> None:
        with self._lock:
            if self.is_inherited:
                value = self._make()
                self._inherited.append(self._value)
                self._value = value
                self._process = os.getpid()
