"""The three ways to run a test, and a fourth for a sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

import stateward as sw
from stateward.testing import ManualClock
from tests.conformance.engine import KernelEngine
from tests.conformance.graph_engine import GraphEngine, How, RestoredEngine
from tests.conformance.processor import Make


@dataclass(frozen=True, slots=True)
class Way:
    """One way to run documents."""

    name: str
    world: Callable[[ManualClock], AbstractContextManager[Make]]
    """Opens what the sessions of one test share."""


@contextmanager
def _kernel(clock: ManualClock) -> Iterator[Make]:
    yield lambda document, session: KernelEngine(document.chart, clock=clock)


@contextmanager
def _compiled(clock: ManualClock, *, how: How) -> Iterator[Make]:
    with sw.open("memory:", clock=clock) as database:
        yield lambda document, session: GraphEngine(document, session=session, database=database, how=how)


@contextmanager
def _restored(clock: ManualClock) -> Iterator[Make]:
    with sw.open("memory:", clock=clock) as database:
        yield lambda document, session: RestoredEngine(document, session=session, database=database, clock=clock)


KERNEL = Way("kernel", _kernel)
"""The bare kernel."""
COMPILED = Way("compiled", lambda clock: _compiled(clock, how="sync"))
"""The compiled graph; events are resumed interrupts over a saver."""
RESTORED = Way("restored", _restored)
"""The same, but after every single event all but the checkpoint is thrown away and made anew."""
ASYNC = Way("async", lambda clock: _compiled(clock, how="async"))
"""The compiled graph through `ainvoke`."""
WAYS = (KERNEL, COMPILED, RESTORED, ASYNC)
