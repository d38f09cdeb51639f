"""What a child that was forked off makes anew."""

from __future__ import annotations

import os
import threading
import weakref

from stateward.run.store.per_process import PerProcess
from tests.run.store.forking import in_child


class _Thing:
    """Can be watched."""


def test_process_has_one() -> None:
    """However often it asks."""
    own = PerProcess(threading.Lock)
    assert own.get() is own.get()
    assert not own.is_inherited


def test_child_makes_its_own_when_it_first_asks() -> None:
    """And its parent keeps what it has."""
    own = PerProcess(os.getpid)
    child = in_child(lambda: f"{own.is_inherited} {own.get() == os.getpid()} {own.is_inherited}")
    assert (child, own.get()) == ("True True False", os.getpid())


def test_child_keeps_what_its_parent_had() -> None:
    """To drop a connection is to close it, which the parent would feel."""
    own, dropped = PerProcess(_Thing), list[int]()
    weakref.finalize(own.get(), dropped.append, 1)
    assert in_child(lambda: f"{own.get() is not None} {dropped}") == "True []"


def test_child_that_could_not_make_one_tries_again() -> None:
    """A server may be away for a moment."""
    parent, tries = os.getpid(), list[int]()

    def make() -> int:
        tries.append(1)
        if os.getpid() != parent and len(tries) == 2:
            raise OSError("away")
        return len(tries)

    own = PerProcess(make)

    def twice() -> str:
        try:
            return str(own.get())
        except OSError as away:
            return f"{away}, then {own.get()}"

    assert in_child(twice) == "away, then 3"
