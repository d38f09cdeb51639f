"""What a state of a chart costs against a bare LangGraph loop that does the same.

Two states hand a counter and a growing list back and forth for 60 steps, and a guard on the counter ends the loop. The
bare graph has the same state schema, the same function in its two nodes, and conditional edges with the same guard.
Both run with the same recursion limit and the same durability. The two take turns, and which of them goes first
changes from round to round, so that a busy machine slows both alike; the table shows medians.

With SQLite each writes a file of its own through the same settings: WAL and `synchronous=NORMAL`. Ours also leases the
session, and checks the lease and keeps the session's row in each transaction.

    python -m benchmarks.overhead --rounds 40
"""

from __future__ import annotations

import argparse
import gc
import json
import operator
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

import stateward as sw

STEPS = 60
"""States entered in one run."""
RECURSION_LIMIT = 1000
WARM_UP = 3
"""Rounds that are run and not counted."""
LIMITS = {"none": 1.0, "memory": 1.1, "sqlite": 1.1}
"""What the ratio may be at most, by saver."""

Graph = Any
"""A compiled graph; LangGraph's is generic over four types that do not matter here."""


class Loop(TypedDict):
    """The state of both graphs: a counter, and a list with a reducer."""

    n: int
    log: Annotated[list[int], operator.add]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table."""

    saver: str
    durability: str
    ours_us: float
    """Median time of a state of the chart, in microseconds."""
    bare_us: float
    """Median time of a node of the bare loop, in microseconds."""
    ratio: float
    """Median of the rounds' ratios."""
    limit: float
    """What the ratio may be at most."""


def step(state: Loop) -> dict[str, object]:
    """Do the work of a state."""
    return {"n": state["n"] + 1, "log": [state["n"]]}


def more(state: Loop) -> bool:
    """Tell whether the loop goes on."""
    return state["n"] < STEPS


def chart() -> sw.Chart[Loop]:
    """Return the loop as a chart."""
    return sw.Chart(
        "loop",
        Loop,
        sw.State("A", do=step, to=[sw.when(more, "B"), "DONE"]),
        sw.State("B", do=step, to=[sw.when(more, "A"), "DONE"]),
        sw.Final("DONE"),
    )


def bare(checkpointer: BaseCheckpointSaver[Any] | None = None) -> Graph:
    """Return the loop as LangGraph's own nodes and conditional edges.

    Args:
        checkpointer: Its saver, or None.
    """
    builder = StateGraph(Loop)
    builder.add_node("A", step)
    builder.add_node("B", step)
    builder.add_edge(START, "A")
    builder.add_conditional_edges("A", more, {True: "B", False: END})
    builder.add_conditional_edges("B", more, {True: "A", False: END})
    return builder.compile(checkpointer=checkpointer)


@contextmanager
def pair(saver: str, *, folder: Path) -> Generator[tuple[Graph, Graph]]:
    """Lend both graphs over the same kind of saver.

    Args:
        saver: `none`, `memory` or `sqlite`.
        folder: Where database files go.

    Returns:
        A context manager of ours and the bare one.
    """
    with ExitStack() as stack:
        if saver == "none":
            yield chart().compile(), bare()
        elif saver == "memory":
            yield chart().compile(checkpointer=InMemorySaver()), bare(InMemorySaver())
        else:
            database = stack.enter_context(sw.open(f"sqlite:///{folder / 'ours.db'}"))
            raw = stack.enter_context(closing(sqlite3.connect(folder / "bare.db", check_same_thread=False)))
            raw.execute("PRAGMA journal_mode=WAL")
            raw.execute("PRAGMA synchronous=NORMAL")
            yield chart().compile(database=database), bare(SqliteSaver(raw))


def measure(graph: Graph, *, thread: str, durability: str | None) -> float:
    """Run the loop once in a session of its own.

    Args:
        graph: Either graph.
        thread: The session's id.
        durability: LangGraph's word for when a checkpoint is written; None without a saver.

    Returns:
        Microseconds per state.

    Raises:
        RuntimeError: The loop did not do what it should.
    """
    config = {"recursion_limit": RECURSION_LIMIT, "configurable": {"thread_id": thread}}
    options = {"durability": durability} if durability else {}
    gc.collect()
    begun = time.perf_counter()
    values = graph.invoke({"n": 0, "log": []}, config, **options)
    taken = time.perf_counter() - begun
    if values != {"n": STEPS, "log": list(range(STEPS))}:
        raise RuntimeError(f"the loop ended with {values!r}")
    return taken / STEPS * 1e6


def compare(saver: str, *, rounds: int, folder: Path) -> Row:
    """Measure both graphs in turns.

    Args:
        saver: `none`, `memory` or `sqlite`.
        rounds: How many pairs are counted, at least 1.
        folder: Where database files go.

    Returns:
        A line of the table.
    """
    durability = None if saver == "none" else "sync"
    taken: tuple[list[float], list[float]] = ([], [])
    with pair(saver, folder=folder) as graphs:
        for turn in range(WARM_UP + rounds):
            for which in (0, 1) if turn % 2 else (1, 0):
                taken[which].append(measure(graphs[which], thread=f"{saver}-{turn}", durability=durability))
    ours, plain = (times[WARM_UP:] for times in taken)
    return Row(
        saver=saver,
        durability=durability or "-",
        ours_us=statistics.median(ours),
        bare_us=statistics.median(plain),
        ratio=statistics.median(a / b for a, b in zip(ours, plain, strict=True)),
        limit=LIMITS[saver],
    )


def table(rows: Sequence[Row]) -> str:
    """Lay the rows out for reading.

    Args:
        rows: Lines of the table.
    """
    head = f"{'saver':8} {'durability':10} {'ours µs':>9} {'bare µs':>9} {'ratio':>6} {'limit':>6}"
    lines = (
        f"{row.saver:8} {row.durability:10} {row.ours_us:9.1f} {row.bare_us:9.1f} {row.ratio:6.2f} {row.limit:6.2f}"
        for row in rows
    )
    return "\n".join([f"per state, median of runs of {STEPS} states", head, *lines])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print.

    Args:
        arguments: The command line without the program's name; the process's own by default.
    """
    parser = argparse.ArgumentParser(description="What a state costs against a bare LangGraph loop.")
    parser.add_argument("--rounds", type=int, default=40, help="pairs of runs that count, for each saver")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--saver", choices=tuple(LIMITS), help="only this one")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        savers = [options.saver] if options.saver else list(LIMITS)
        rows = [compare(saver, rounds=options.rounds, folder=Path(folder)) for saver in savers]
    print(json.dumps([asdict(row) for row in rows], indent=2) if options.json else table(rows))


if __name__ == "__main__":
    main()
