"""What regions that run beside each other gain, and what a step of their hub costs.

**Waiting**: a region of 3 × 0.1 s beside one of 1 s. In LangGraph a superstep is a barrier: the short branch's second
node begins when the long one has ended. Told is when each had ended, and how long an event takes to stop a running
activity.

**The hub's step**: two regions whose activities do next to nothing, against a bare LangGraph loop of two parallel
nodes. A step of the hub takes one activity's end and begins the next activity; a bare superstep runs both nodes. Both
take turns in the same process, with the same durability; the table shows medians per superstep.

    python -m benchmarks.regions --rounds 20
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import operator
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

import stateward as sw

SHORT_S, LONG_S = 0.1, 1.0
STEPS = 20
"""Activities of each region, and supersteps of the bare loop."""
RECURSION_LIMIT = 1000
WARM_UP = 2
"""Rounds that are run and not counted."""
LIMIT = 1.3
"""What the ratio may be at most."""
SAVERS = ("none", "memory", "sqlite")

Graph = Any
"""A compiled graph; LangGraph's is generic over four types that do not matter here."""


class Loop(TypedDict, total=False):
    """A counter for each side, and a list with a reducer."""

    left: int
    right: int
    log: Annotated[list[str], operator.add]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table of steps."""

    saver: str
    ours_us: float
    """Median time of a step of the hub, in microseconds."""
    bare_us: float
    """Median time of a bare superstep of two nodes, in microseconds."""
    ratio: float
    """Median of the rounds' ratios."""
    limit: float
    """What the ratio may be at most."""


# -- waiting --------------------------------------------------------------------------------------------


class Stopwatch:
    """When what ended, in seconds since the start."""

    def __init__(self) -> None:
        self._begun = time.perf_counter()
        self.ends: dict[str, float] = {}

    def end(self, name: str) -> dict[str, list[str]]:
        """Note an end, and return the update that logs it.

        Args:
            name: What ended.
        """
        self.ends[name] = time.perf_counter() - self._begun
        return {"log": [name]}


def sleeper(name: str, seconds: float, watch: Stopwatch) -> Any:
    """Make a node that takes its time.

    Args:
        name: What it is called.
        seconds: How long it takes.
        watch: Where its end is noted.
    """

    async def sleep(state: Loop) -> dict[str, Any]:
        await asyncio.sleep(seconds)
        return watch.end(name)

    return sleep


def beside(watch: Stopwatch) -> Graph:
    """Return the chart of a short and a long region.

    Args:
        watch: Where the ends are noted.
    """
    steps = pairwise(("S1", "S2", "S3", "END"))
    short = [sw.State(name, do=sleeper(name, SHORT_S, watch), to=to) for name, to in steps]
    return sw.Chart(
        "beside",
        Loop,
        sw.Parallel(
            "P",
            sw.Superstate("SHORT", *short, sw.Final("END")),
            sw.Superstate("LONG", sw.State("L", do=sleeper("L", LONG_S, watch), to="END"), sw.Final("END")),
            to="DONE",
        ),
        sw.Final("DONE"),
    ).compile()


def barred(watch: Stopwatch) -> Graph:
    """Return the same as LangGraph's own nodes and edges.

    Args:
        watch: Where the ends are noted.
    """
    builder = StateGraph(Loop)
    for name, seconds in (("S1", SHORT_S), ("S2", SHORT_S), ("S3", SHORT_S), ("L", LONG_S)):
        builder.add_node(name, sleeper(name, seconds, watch))
    for source, target in ((START, "S1"), (START, "L"), ("S1", "S2"), ("S2", "S3")):
        builder.add_edge(source, target)
    return builder.compile()


def stopping() -> float:
    """Return how long it takes from posting an event until the activity of another region has stopped, in seconds."""
    stopped: list[float] = []

    async def forever(state: Loop) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append(time.perf_counter())

    async def post(state: Loop) -> None:
        await asyncio.sleep(2 * SHORT_S)
        database.mailbox.post("s", "stop")
        posted.append(time.perf_counter())

    posted: list[float] = []
    chart = sw.Chart(
        "stopping",
        Loop,
        sw.Parallel(
            "P",
            sw.Superstate("A", sw.State("S", do=forever, on=sw.on("stop", "END")), sw.Final("END")),
            sw.Superstate("B", sw.State("S", do=post, to="END"), sw.Final("END")),
            to="DONE",
        ),
        sw.Final("DONE"),
    )
    with sw.open("memory:") as database:
        graph = chart.compile(database=database)
        asyncio.run(graph.ainvoke({}, {"configurable": {"thread_id": "s"}}))
    return stopped[0] - posted[0]


def waits() -> str:
    """Measure and lay out how long who waits for whom."""
    lines = [f"a region of 3 x {SHORT_S:g} s beside one of {LONG_S:g} s: when each had ended, in seconds"]
    for name, make in (("regions", beside), ("bare LangGraph", barred)):
        watch = Stopwatch()
        graph = make(watch)
        asyncio.run(graph.ainvoke({}))
        lines.append(f"{name:16} short {watch.ends['S3']:5.2f}   long {watch.ends['L']:5.2f}")
    lines.append(f"an event had stopped a running activity after {stopping() * 1e3:.0f} ms")
    return "\n".join(lines)


# -- the hub's step -------------------------------------------------------------------------------------


def side(key: str) -> Any:
    """Make the work of one side: count.

    Args:
        key: The counter.
    """

    def step(state: Loop) -> dict[str, Any]:
        return {key: state[key] + 1, "log": [key]}

    return step


def more(key: str) -> Any:
    """Make the guard that goes on until the counter is full.

    Args:
        key: The counter.
    """

    def goes_on(state: Loop) -> bool:
        return state[key] < STEPS

    return goes_on


def chart() -> sw.Chart[Loop]:
    """Return two regions that count."""
    regions = [
        sw.Superstate(key.upper(), sw.State("S", do=side(key), to=[sw.when(more(key), "S"), "END"]), sw.Final("END"))
        for key in ("left", "right")
    ]
    return sw.Chart("count", Loop, sw.Parallel("P", *regions, to="DONE"), sw.Final("DONE"))


def bare(checkpointer: BaseCheckpointSaver[Any] | None = None) -> Graph:
    """Return two nodes that count in the same supersteps.

    Args:
        checkpointer: Its saver, or None.
    """
    builder = StateGraph(Loop)
    for key in ("left", "right"):
        builder.add_node(key.upper(), side(key))
        builder.add_edge(START, key.upper())
        builder.add_conditional_edges(key.upper(), more(key), {True: key.upper(), False: END})
    return builder.compile(checkpointer=checkpointer)


@contextmanager
def pair(saver: str, *, folder: Path) -> Iterator[tuple[Graph, Graph]]:
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


def measure(graph: Graph, *, thread: str, durability: str | None, steps: int) -> float:
    """Run both sides once in a session of their own.

    Args:
        graph: Either graph.
        thread: The session's id.
        durability: LangGraph's word for when a checkpoint is written; None without a saver.
        steps: How many supersteps it takes.

    Returns:
        Microseconds per superstep.

    Raises:
        RuntimeError: It did not do what it should.
    """
    config = {"recursion_limit": RECURSION_LIMIT, "configurable": {"thread_id": thread}}
    options = {"durability": durability} if durability else {}
    gc.collect()
    begun = time.perf_counter()
    values = graph.invoke({"left": 0, "right": 0, "log": []}, config, **options)
    taken = time.perf_counter() - begun
    if len(values["log"]) != 2 * STEPS:
        raise RuntimeError(f"it ended with {values!r}")
    return taken / steps * 1e6


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
    steps = (2 * STEPS + 1, STEPS)
    taken: tuple[list[float], list[float]] = ([], [])
    with pair(saver, folder=folder) as graphs:
        for turn in range(WARM_UP + rounds):
            for which in (0, 1) if turn % 2 else (1, 0):
                thread = f"{saver}-{turn}"
                taken[which].append(measure(graphs[which], thread=thread, durability=durability, steps=steps[which]))
    ours, plain = (times[WARM_UP:] for times in taken)
    return Row(
        saver=saver,
        ours_us=statistics.median(ours),
        bare_us=statistics.median(plain),
        ratio=statistics.median(map(operator.truediv, ours, plain)),
        limit=LIMIT,
    )


def hub(*, rounds: int) -> list[Row]:
    """Measure the hub's step over each saver.

    Args:
        rounds: How many pairs are counted for each, at least 1.

    Returns:
        The lines of the table.
    """
    with tempfile.TemporaryDirectory() as folder:
        return [compare(saver, rounds=rounds, folder=Path(folder)) for saver in SAVERS]


def table(rows: Sequence[Row]) -> str:
    """Lay the rows out for reading.

    Args:
        rows: Lines of the table.
    """
    head = f"{'saver':8} {'ours µs':>9} {'bare µs':>9} {'ratio':>6} {'limit':>6}"
    lines = (f"{row.saver:8} {row.ours_us:9.1f} {row.bare_us:9.1f} {row.ratio:6.2f} {row.limit:6.2f}" for row in rows)
    return "\n".join([f"per superstep, median of runs of {STEPS} activities a side", head, *lines])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print.

    Args:
        arguments: The command line without the program's name; the process's own by default.
    """
    parser = argparse.ArgumentParser(description="What regions gain, and what a step of their hub costs.")
    parser.add_argument("--rounds", type=int, default=20, help="pairs of runs that count, for each saver")
    options = parser.parse_args(arguments)
    print(waits(), table(hub(rounds=options.rounds)), sep="\n\n")


if __name__ == "__main__":
    main()
