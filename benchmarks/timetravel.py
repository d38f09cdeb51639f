"""What a look at the past costs by the length of a session, in seconds of CPU: all steps, one of them, and a fork.

`python -m benchmarks.timetravel --turns 100 200 400` runs one session to each length, in memory, one message a turn.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import process_time

from langchain_core.messages import HumanMessage
from typing_extensions import TypedDict

import stateward as sw
from stateward.run.travel import Timeline


class Talk(TypedDict, total=False):
    """The state."""

    messages: sw.Messages


def answer(state: Talk) -> Talk:
    """Say as much as a short mail."""
    return {"messages": [HumanMessage("hm " * 70)]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of the table."""

    turns: int
    rows_s: float
    """All steps."""
    at_s: float
    """One step, by its number."""
    fork_s: float
    """A fork at a step, by its number."""


def measure(turns: Sequence[int]) -> list[Row]:
    """Run one session to each length, and look back.

    Args:
        turns: The lengths, each from 1, rising.

    Returns:
        A line for each.
    """
    chart = sw.Chart("talk", Talk, sw.State("SAY", do=answer, to="WAIT"), sw.State("WAIT", on=[sw.on("more", "SAY")]))
    found: list[Row] = []
    with sw.open("memory:") as database:
        session = sw.Session("s1", chart.compile(database=database), database)
        session.start({})
        done = 1
        for wanted in turns:
            for _ in range(wanted - done):
                session.resume("more")
            done = wanted
            past = Timeline(session.graph, database=database, session="s1")
            found.append(_looked_back(past, turns=wanted))
            past.switch("main")
    return found


def _looked_back(past: Timeline, *, turns: int) -> Row:
    return Row(
        turns=turns,
        rows_s=_timed(lambda: past.rows),
        at_s=_timed(lambda: past.at(2)),
        fork_s=_timed(lambda: past.fork(2)),
    )


def _timed(work: Callable[[], object]) -> float:
    began = process_time()
    work()
    return process_time() - began


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, nargs="+", default=[100, 200, 400])
    print(f"{'turns':>6} {'all steps':>10} {'one step':>10} {'fork':>10}   seconds of CPU")
    for row in measure(parser.parse_args().turns):
        print(f"{row.turns:>6} {row.rows_s:>10.2f} {row.at_s:>10.2f} {row.fork_s:>10.2f}")


if __name__ == "__main__":
    main()
