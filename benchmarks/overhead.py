"""What a state of a chart costs against a bare LangGraph loop that does the same.

Two states hand a counter and a growing list back and forth for 60 steps, and a guard on the counter ends the loop. The
bare graph has the same state schema, the same function in its two nodes, and conditional edges with the same guard.
They take turns as `benchmarks.rivals` says; the table shows medians. Over a database ours also leases the session, and
checks the lease and keeps the session's row in each transaction. The PostgreSQL server is the tests' own.

    python -m benchmarks.overhead --rounds 40
"""

from __future__ import annotations

import argparse
import json
import operator
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

import stateward as sw
from benchmarks.rivals import Graph, Rivals, Row, table
from tests.postgres import serving

STEPS = 60
"""States entered in one run."""
LIMITS = {"none": 1.0, "memory": 1.1, "sqlite": 1.1, "postgresql": 1.3}
"""What the ratio may be at most, by saver."""

TITLE = f"per state, median of runs of {STEPS} states"


class Loop(TypedDict):
    """The state of both graphs: a counter, and a list with a reducer."""

    n: int
    log: Annotated[list[int], operator.add]


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


RIVALS = Rivals(
    chart=chart,
    bare=bare,
    given={"n": 0, "log": []},
    is_right=lambda values: values == {"n": STEPS, "log": list(range(STEPS))},
    steps=(STEPS, STEPS),
    limits=LIMITS,
    warm_up=3,
)


def measure(saver: str, *, rounds: int) -> Row:
    """Measure over one kind of saver.

    Args:
        saver: One of `LIMITS`.
        rounds: How many pairs are counted, at least 1.

    Returns:
        A line of the table.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(serving()) if saver == "postgresql" else None
        return RIVALS.compare(saver, rounds=rounds, folder=folder, server=server)


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
    rows = [measure(saver, rounds=options.rounds) for saver in ([options.saver] if options.saver else LIMITS)]
    print(json.dumps([asdict(row) for row in rows], indent=2) if options.json else table(TITLE, rows))


if __name__ == "__main__":
    main()
