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
import json
import operator
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

import stateward as sw
from benchmarks.rivals import Graph, Rivals, Row, table

SHORT_S, LONG_S = 0.1, 1.0
STEPS = 20
"""Activities of each region, and supersteps of the bare loop."""
LIMITS = {"none": 1.3, "memory": 1.3, "sqlite": 1.3}
"""What the ratio may be at most, by saver."""
TITLE = f"per superstep, median of runs of {STEPS} activities a side"


class Loop(TypedDict, total=False):
    """A counter for each side, and a list with a reducer."""

    left: int
    right: int
    log: Annotated[list[str], operator.add]


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


def waits() -> dict[str, dict[str, float]]:
    """Measure who waits for whom: when each of the two had ended, in seconds, and what an event takes to stop one."""
    told: dict[str, dict[str, float]] = {}
    for name, make in (("regions", beside), ("bare LangGraph", barred)):
        watch = Stopwatch()
        asyncio.run(make(watch).ainvoke({}))
        told[name] = {"short_s": watch.ends["S3"], "long_s": watch.ends["L"]}
    return {**told, "stopping": {"seconds": stopping()}}


def waits_table(told: dict[str, dict[str, float]]) -> str:
    """Lay out how long who waits for whom.

    Args:
        told: From `waits`.
    """
    lines = [f"a region of 3 x {SHORT_S:g} s beside one of {LONG_S:g} s: when each had ended, in seconds"]
    lines += [
        f"{name:16} short {ends['short_s']:5.2f}   long {ends['long_s']:5.2f}"
        for name, ends in told.items()
        if name != "stopping"
    ]
    return "\n".join(
        [*lines, f"an event had stopped a running activity after {told['stopping']['seconds'] * 1e3:.0f} ms"]
    )


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


RIVALS = Rivals(
    chart=chart,
    bare=bare,
    given={"left": 0, "right": 0, "log": []},
    is_right=lambda values: len(values["log"]) == 2 * STEPS,
    steps=(2 * STEPS + 1, STEPS),
    limits=LIMITS,
    warm_up=2,
)


def hub(*, rounds: int) -> list[Row]:
    """Measure the hub's step over each saver.

    Args:
        rounds: How many pairs are counted for each, at least 1.

    Returns:
        The lines of the table.
    """
    with tempfile.TemporaryDirectory() as folder:
        return [RIVALS.compare(saver, rounds=rounds, folder=Path(folder)) for saver in LIMITS]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print.

    Args:
        arguments: The command line without the program's name; the process's own by default.
    """
    parser = argparse.ArgumentParser(description="What regions gain, and what a step of their hub costs.")
    parser.add_argument("--rounds", type=int, default=20, help="pairs of runs that count, for each saver")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args(arguments)
    told, rows = waits(), hub(rounds=options.rounds)
    if options.json:
        print(json.dumps({"waits": told, "steps": [asdict(row) for row in rows]}, indent=2))
    else:
        print(waits_table(told), table(TITLE, rows), sep="\n\n")


if __name__ == "__main__":
    main()
