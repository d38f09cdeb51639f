"""What a handoff, a delegation and a ReAct turn cost as our blocks, and as other libraries' agents over LangGraph.

Handoff: the active agent hands the conversation over, and the other one answers. Delegation: a supervisor has a worker
do something, and tells the user what came of it. ReAct: an agent calls one tool, and answers. All are said by the same
chat model, which takes no time, and over the same kind of saver. Ours and another take turns, each in a session of its
own; the table shows medians, and ratios ours to theirs. Ours are made of `states`, each of which is a checkpoint, or
the agent is `detached`, with one checkpoint for its answer and the journal for its calls. Of the bytes, `checkpoints`
leaves out our own tables, which are journal, ledger, audit log and the session's row; `all` is all that was written.

    python -m benchmarks.teams --rounds 20

Below stands how soon the result of one of several parallel calls is seen; see `benchmarks.team_visible`.

`create_agent` comes with our dependencies; the others are the bench extra.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import importlib.util
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from langgraph.checkpoint.memory import InMemorySaver

import stateward as sw
from benchmarks.bare import bare_saver
from benchmarks.team_agents import AGENTS
from benchmarks.team_bytes import Held, held_in_file, held_in_memory
from benchmarks.team_ours import OURS
from benchmarks.team_side import Side, TurnOf
from benchmarks.team_visible import laid_out, measured

Saver = Literal["memory", "sqlite"]
LIMIT = 1.0
"""What each ratio may be at most."""
WARM_UP = 3
"""Rounds that are run and not counted."""
RECURSION_LIMIT = 1000
PEER_MODULES = ("deepagents", "langgraph_supervisor", "langgraph_swarm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table."""

    turn: TurnOf
    ours: str
    """Which of ours."""
    rival: str
    saver: Saver
    ours_ms: float
    """Median time of a turn of ours."""
    theirs_ms: float
    """Median time of a turn of theirs."""
    time: float
    """Median of the rounds' ratios."""
    cpu: float
    """The same of the processor's time, which a busy machine disturbs less."""
    ours_kb: float
    """Bytes of checkpoints of a turn of ours, in kB."""
    theirs_kb: float
    """Bytes of checkpoints of a turn of theirs, in kB."""
    checkpoints: float
    """Their ratio."""
    all: float
    """The same of all that is written."""
    limit: float = LIMIT
    """What `time` and `checkpoints` may be at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A side over its saver, ready to be run."""

    side: Side
    graph: Any
    held: Held

    def play(self, thread: str, *, turns: int) -> tuple[float, float]:
        """Run turns in a session of its own.

        Args:
            thread: The session.
            turns: How many, ≥ 1.

        Returns:
            Time and processor's time of a turn, in ms.

        Raises:
            RuntimeError: A turn did not come out right.
        """
        config = {"recursion_limit": RECURSION_LIMIT, "configurable": {"thread_id": thread}}
        taken, worked = 0.0, 0.0
        gc.collect()
        for _ in range(turns):
            begun, at = time.perf_counter(), time.process_time()
            values = self.graph.invoke({"messages": [("user", "Please.")]}, config, durability="sync")
            taken, worked = taken + time.perf_counter() - begun, worked + time.process_time() - at
            if not self.side.is_right(values):
                raise RuntimeError(f"the {self.side.turn} of {self.side.name} ended with {values!r}")
        return 1e3 * taken / turns, 1e3 * worked / turns


@contextmanager
def staged(side: Side, saver: Saver, *, folder: Path) -> Generator[Stage]:
    """Lend a side over a fresh saver.

    Args:
        side: The side.
        saver: Of which kind.
        folder: Where a database file goes.

    Yields:
        The side, ready.
    """
    is_ours = side in OURS
    with ExitStack() as stack:
        if saver == "memory":
            memory = InMemorySaver()
            graph = side.make(checkpointer=memory) if is_ours else side.make(memory)
            yield Stage(side=side, graph=graph, held=held_in_memory(memory))
            return
        path = folder / f"{side.name}-{side.turn}.db"
        url = f"sqlite:///{path}"
        if is_ours:
            graph = side.make(database=stack.enter_context(sw.open(url)))
        else:
            graph = side.make(stack.enter_context(bare_saver(url)))
        yield Stage(side=side, graph=graph, held=held_in_file(path))


def compare(ours: Side, theirs: Side, *, saver: Saver, rounds: int, turns: int = 1) -> Row:
    """Measure ours beside theirs.

    Args:
        ours: One of ours.
        theirs: A rival in the same turn.
        saver: The kind of saver.
        rounds: How many pairs of sessions are counted, ≥ 1.
        turns: How many turns a session has, ≥ 1.

    Returns:
        A line of the table.

    Raises:
        RuntimeError: A turn did not come out right.
    """
    with ExitStack() as stack:
        folders = [Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(2)]
        pair = [
            stack.enter_context(staged(side, saver, folder=folder))
            for side, folder in zip((ours, theirs), folders, strict=True)
        ]
        for turn in range(WARM_UP):
            for stage in pair:
                stage.play(f"warm-{turn}", turns=turns)
        before = [stage.held() for stage in pair]
        taken: tuple[list[tuple[float, float]], ...] = ([], [])
        for turn in range(rounds):
            for which in (0, 1) if turn % 2 else (1, 0):
                taken[which].append(pair[which].play(f"t-{turn}", turns=turns))
        grown = [
            [(now - was) / (rounds * turns * 1e3) for now, was in zip(stage.held(), then, strict=True)]
            for stage, then in zip(pair, before, strict=True)
        ]
    return Row(
        turn=ours.turn,
        ours=ours.name,
        rival=theirs.name,
        saver=saver,
        ours_ms=statistics.median(wall for wall, _ in taken[0]),
        theirs_ms=statistics.median(wall for wall, _ in taken[1]),
        time=statistics.median(a / b for (a, _), (b, _) in zip(*taken, strict=True)),
        cpu=statistics.median(a / b for (_, a), (_, b) in zip(*taken, strict=True)),
        ours_kb=grown[0][0],
        theirs_kb=grown[1][0],
        checkpoints=grown[0][0] / grown[1][0],
        all=grown[0][1] / grown[1][1],
    )


def rivals() -> tuple[Side, ...]:
    """Return those that are installed."""
    if not all(importlib.util.find_spec(name) for name in PEER_MODULES):
        print("teams: the peers are not installed: pip install -e '.[bench]' -c constraints.txt", file=sys.stderr)
        return AGENTS
    return (*importlib.import_module("benchmarks.team_peers").PEERS, *AGENTS)


def table(rows: Sequence[Row], *, turns: int) -> str:
    """Lay the rows out for reading.

    Args:
        rows: Lines of the table.
        turns: How many turns a session had.
    """
    head = f"{'turn':10} {'ours':8} {'rival':20} {'saver':6} {'ours ms':>8} {'theirs':>7} {'time':>5} {'cpu':>5}"
    head += f" {'ours kB':>8} {'theirs':>7} {'checkpoints':>11} {'all':>5} {'limit':>6}"
    lines = (
        f"{row.turn:10} {row.ours:8} {row.rival:20} {row.saver:6} {row.ours_ms:8.1f} {row.theirs_ms:7.1f}"
        f" {row.time:5.2f} {row.cpu:5.2f} {row.ours_kb:8.1f} {row.theirs_kb:7.1f} {row.checkpoints:11.2f}"
        f" {row.all:5.2f} {row.limit:6.2f}"
        for row in rows
    )
    return "\n".join([f"a turn of sessions of {turns}, ratios ours to theirs", head, *lines])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print.

    Args:
        arguments: The command line without the program's name; the process's own by default.
    """
    parser = argparse.ArgumentParser(description="Teams of agents, ours and others', over the same kind of saver.")
    parser.add_argument("--rounds", type=int, default=20, help="pairs of sessions that count, for each line")
    parser.add_argument("--turns", type=int, default=1, help="turns of a session; with one there is no history yet")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--saver", choices=get_args(Saver), help="only this one")
    parser.add_argument("--visible", action="store_true", help="only how soon results of parallel calls are seen")
    options = parser.parse_args(arguments)
    savers: Sequence[Saver] = [options.saver] if options.saver else get_args(Saver)
    if not options.visible:
        _print_rows(savers, options)
    if options.visible or not options.json:
        lines = [line for saver in savers for line in measured(rounds=options.rounds, saver=saver)]
        print(json.dumps([asdict(line) for line in lines], indent=2) if options.json else laid_out(lines))


def _print_rows(savers: Sequence[Saver], options: argparse.Namespace) -> None:
    others = rivals()
    pairs = [(ours, theirs) for ours in OURS for theirs in others if theirs.turn == ours.turn]
    rows = [
        compare(ours, theirs, saver=saver, rounds=options.rounds, turns=options.turns)
        for saver in savers
        for ours, theirs in pairs
    ]
    print(json.dumps([asdict(row) for row in rows], indent=2) if options.json else table(rows, turns=options.turns))


if __name__ == "__main__":
    main()
