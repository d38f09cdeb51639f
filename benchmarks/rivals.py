"""One measurement of a chart beside a bare LangGraph graph that does the same, over each kind of saver.

The two take turns, and which of them goes first changes from round to round, so that a busy machine slows both alike.
Both run with the same recursion limit and the same durability. With SQLite each writes a file of its own through the
same settings (`benchmarks.bare`), with PostgreSQL a schema of its own on one server.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver

import stateward as sw
from benchmarks.bare import bare_saver
from tests.postgres import Server

RECURSION_LIMIT = 1000

Graph = Any
"""A compiled graph; LangGraph's is generic over four types that do not matter here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table."""

    saver: str
    durability: str
    ours_us: float
    """Median time of a step of ours, in microseconds."""
    bare_us: float
    """Median time of a superstep of the bare graph, in microseconds."""
    ratio: float
    """Median of the rounds' ratios."""
    limit: float
    """What the ratio may be at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rivals:
    """A chart and a bare graph, and what they are to do."""

    chart: Callable[[], sw.Chart[Any]]
    bare: Callable[[BaseCheckpointSaver[Any] | None], Graph]
    given: Mapping[str, Any]
    """The input of both."""
    is_right: Callable[[Mapping[str, Any]], bool]
    """Tells whether the values at the end are what they should be."""
    steps: tuple[int, int]
    """How many steps a run of ours takes, and one of the bare graph."""
    limits: Mapping[str, float]
    """What the ratio may be at most, by saver: `none`, `memory`, `sqlite` or `postgresql`."""
    warm_up: int
    """Rounds that are run and not counted."""

    def compare(self, saver: str, *, rounds: int, folder: Path, server: Server | None = None) -> Row:
        """Measure both graphs in turns.

        Args:
            saver: `none`, `memory`, `sqlite` or `postgresql`.
            rounds: How many pairs are counted, at least 1.
            folder: Where database files go.
            server: Where PostgreSQL's schemas go; None for the other savers.

        Returns:
            A line of the table.

        Raises:
            RuntimeError: One of them did not do what it should.
        """
        durability = None if saver == "none" else "sync"
        taken: tuple[list[float], list[float]] = ([], [])
        with self._pair(saver, folder=folder, server=server) as graphs:
            for turn in range(self.warm_up + rounds):
                for which in (0, 1) if turn % 2 else (1, 0):
                    us = self._measure(graphs[which], thread=f"{saver}-{turn}", durability=durability)
                    taken[which].append(us / self.steps[which])
        ours, plain = (times[self.warm_up :] for times in taken)
        return Row(
            saver=saver,
            durability=durability or "-",
            ours_us=statistics.median(ours),
            bare_us=statistics.median(plain),
            ratio=statistics.median(a / b for a, b in zip(ours, plain, strict=True)),
            limit=self.limits[saver],
        )

    @contextmanager
    def _pair(self, saver: str, *, folder: Path, server: Server | None) -> Generator[tuple[Graph, Graph]]:
        """Lend both graphs over the same kind of saver."""
        with ExitStack() as stack:
            if saver == "none":
                yield self.chart().compile(), self.bare(None)
            elif saver == "memory":
                yield self.chart().compile(checkpointer=InMemorySaver()), self.bare(InMemorySaver())
            else:
                assert (saver == "postgresql") == (server is not None)  # else the row would tell of another database
                ours, theirs = (
                    server.url() if server else f"sqlite:///{folder / name}.db" for name in ("ours", "bare")
                )
                database = stack.enter_context(sw.open(ours))
                plain = stack.enter_context(bare_saver(theirs))
                yield self.chart().compile(database=database), self.bare(plain)

    def _measure(self, graph: Graph, *, thread: str, durability: str | None) -> float:
        """Run one graph once in a session of its own; return microseconds."""
        config = {"recursion_limit": RECURSION_LIMIT, "configurable": {"thread_id": thread}}
        options = {"durability": durability} if durability else {}
        gc.collect()
        begun = time.perf_counter()
        values = graph.invoke(dict(self.given), config, **options)
        taken = time.perf_counter() - begun
        if not self.is_right(values):
            raise RuntimeError(f"it ended with {values!r}")
        return taken * 1e6


def table(title: str, rows: Sequence[Row]) -> str:
    """Lay the rows out for reading.

    Args:
        title: What a row tells.
        rows: Lines of the table.
    """
    head = f"{'saver':10} {'durability':10} {'ours µs':>9} {'bare µs':>9} {'ratio':>6} {'limit':>6}"
    lines = (
        f"{row.saver:10} {row.durability:10} {row.ours_us:9.1f} {row.bare_us:9.1f} {row.ratio:6.2f} {row.limit:6.2f}"
        for row in rows
    )
    return "\n".join([title, head, *lines])
