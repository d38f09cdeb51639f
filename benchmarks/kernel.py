"""What an event costs: the kernel beside other libraries, the growth with the chart, and the compiled graph.

Four tables. **Kernel**: a three-level chart with deep history over 1,000 events, in every library of the `bench` extra
that is installed; all take turns, and the ratios are to the fastest peer. "rehydrated" reads the configuration from the
JSON of the control channel before each event and writes it back afterwards. **Growth**: the same events in charts of
10, 100 and 1,000 states at the same depth. **Compiled**: `benchmarks.overhead`. **Hub**: a step of parallel regions
(`benchmarks.regions`).

    python -m benchmarks.kernel
    python -m benchmarks.kernel --only kernel --rounds 30
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import stateward as sw
from benchmarks import overhead, regions
from stateward.chart.compiler import build
from stateward.chart.configuration import Configuration
from stateward.chart.data import PlainData
from stateward.chart.definition import Definition
from stateward.chart.event import Occurrence
from stateward.chart.step import advance, start
from stateward.run.checkpoint import Pins, configuration_delta, decode, merge, start_delta

CIRCLE = ("step", "step", "step", "pause", "resume")
EVENTS = 1_000
"""Events of one round, a multiple of the circle."""
PEER_MODULES = ("transitions", "statemachine", "xstate_statemachine", "sismic", "burr", "pydantic_graph")
Round = Callable[[], float]
"""Lets all events happen; returns microseconds per event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a table."""

    name: str
    us: float
    """Median microseconds per event or step."""
    ratio: float
    limit: float | None
    """What the ratio may be at most; None where nothing is asked."""
    note: str = ""


def may(state: Mapping[str, int]) -> bool:
    """Allow every step; a guard that reads the data."""
    return state["count"] >= 0


def add(state: Mapping[str, int]) -> dict[str, object]:
    """Count a step."""
    return {"count": state["count"] + 1}


def leaf(name: str, target: str) -> sw.State[Any]:
    """Return a state that `step` leaves."""
    return sw.State(name, on=[sw.on("step", target, when=may, do=add)])


def chart() -> Definition:
    """Return the chart that the peers have, too."""
    plan = sw.Superstate("PLAN", leaf("A", "B"), leaf("B", "ACT.C"))
    act = sw.Superstate("ACT", leaf("C", "D"), leaf("D", "PLAN.A"))
    work = sw.Superstate("WORK", plan, act, history="deep", on=[sw.on("pause", "PAUSED")])
    return build("kernel", [work, sw.State("PAUSED", on=[sw.on("resume", sw.History("WORK"))])])


def wide(states: int) -> Definition:
    """Return a chart of so many states at the depth of `chart`, of which four are ever visited.

    Args:
        states: How many, at least 10.
    """
    idle = [sw.State(f"S{number}") for number in range((states - 8) // 2)]
    plan = sw.Superstate("PLAN", leaf("A", "B"), leaf("B", "ACT.C"), *idle)
    act = sw.Superstate("ACT", leaf("C", "D"), leaf("D", "PLAN.A"), *idle)
    work = sw.Superstate("WORK", plan, act, history="deep", on=[sw.on("pause", "PAUSED")])
    return build("wide", [work, sw.State("PAUSED", on=[sw.on("resume", sw.History("WORK"))])])


def kept(definition: Definition) -> Round:
    """Step a configuration that stays in memory."""
    events = [(Occurrence(name=name),) for name in CIRCLE * (EVENTS // len(CIRCLE))]

    def play() -> float:
        data = PlainData({"count": 0})
        configuration = start(definition, data).configuration
        begun = time.perf_counter()
        for event in events:
            configuration = advance(definition, configuration, event, data).configuration
        taken = time.perf_counter() - begun
        _expect(data.state["count"], 3 * EVENTS // len(CIRCLE))
        return taken / EVENTS * 1e6

    return play


def rehydrated(definition: Definition) -> Round:
    """Step a configuration that is read from the control channel's JSON and written back, each time."""
    events = [(Occurrence(name=name),) for name in CIRCLE * (EVENTS // len(CIRCLE))]
    pins = Pins(chart="", policy="", schema="", mode="strict")

    def play() -> float:
        data = PlainData({"count": 0})
        first = start(definition, data)
        raw = merge({}, start_delta(run="run", run_no=1, pins=pins, branch="main"))
        entered = first.microsteps[0].entered
        raw = merge(raw, configuration_delta(Configuration(), first.configuration, definition, entered=entered))
        begun = time.perf_counter()
        for event in events:
            control = decode(raw, definition)
            before = control.configuration if control else Configuration()
            step = advance(definition, before, event, data)
            entered = tuple([state for micro in step.microsteps for state in micro.entered])
            raw = merge(raw, configuration_delta(before, step.configuration, definition, entered=entered))
        taken = time.perf_counter() - begun
        _expect(data.state["count"], 3 * EVENTS // len(CIRCLE))
        return taken / EVENTS * 1e6

    return play


def _expect(found: object, wanted: object) -> None:
    if found != wanted:
        raise RuntimeError(f"the chart came to {found!r}, expected {wanted!r}")


def peer_rounds() -> dict[str, tuple[Round, str]]:
    """Return a round for each installed peer, with what it lacks; empty without the `bench` extra."""
    if not all(importlib.util.find_spec(name) for name in PEER_MODULES):
        print("kernel: the peers are not installed: pip install -e '.[bench]' -c constraints.txt", file=sys.stderr)
        return {}
    peers = importlib.import_module("benchmarks.peers")
    return {peer.name: (_played(peer), peer.lacks) for peer in peers.PEERS}


def _played(peer: Any) -> Round:
    events = CIRCLE * (EVENTS // len(CIRCLE))
    send, at = peer.make()
    walked = [(send(event), at())[1] for event in CIRCLE * 4]
    _expect(walked[: len(CIRCLE)], ["B", "C", "D", "PAUSED", "D"])

    def play() -> float:
        begun = time.perf_counter()
        for event in events:
            send(event)
        return (time.perf_counter() - begun) / EVENTS * 1e6

    return play


def in_turns(rounds_of: Mapping[str, Round], *, rounds: int) -> dict[str, list[float]]:
    """Play every contestant once a round, in an order that turns, and return their times.

    Args:
        rounds_of: The contestants.
        rounds: How many rounds count, at least 1; one more is played first.
    """
    names = list(rounds_of)
    taken: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds + 1):
        shift = turn % len(names)
        for name in names[shift:] + names[:shift]:
            gc.collect()
            taken[name].append(rounds_of[name]())
    return {name: times[1:] for name, times in taken.items()}


def kernel_table(rounds: int) -> list[Row]:
    """Compare the kernel with its peers; ratios are to the fastest of these, or to ours without any.

    Args:
        rounds: As for `in_turns`.
    """
    peers = peer_rounds()
    ours: dict[str, Round] = {"stateward": kept(chart()), "stateward, rehydrated": rehydrated(chart())}
    taken = in_turns({**ours, **{name: play for name, (play, _) in peers.items()}}, rounds=rounds)
    medians = {name: statistics.median(times) for name, times in taken.items()}
    fastest = min(peers, key=lambda name: medians[name]) if peers else "stateward"
    limits = {"stateward": 1.0, "stateward, rehydrated": 1.5} if peers else {}
    return [
        Row(
            name=name,
            us=medians[name],
            ratio=statistics.median(a / b for a, b in zip(taken[name], taken[fastest], strict=True)),
            limit=limits.get(name),
            note=peers[name][1] if name in peers else "",
        )
        for name in sorted(taken, key=lambda name: medians[name])
    ]


def growth_table(rounds: int) -> list[Row]:
    """Compare the same events in charts of 10, 100 and 1,000 states.

    Args:
        rounds: As for `in_turns`.
    """
    sizes = (10, 100, 1_000)
    taken = in_turns({str(size): kept(wide(size)) for size in sizes}, rounds=rounds)
    least = taken[str(sizes[0])]
    return [
        Row(
            name=f"{size} states",
            us=statistics.median(taken[str(size)]),
            ratio=statistics.median(a / b for a, b in zip(taken[str(size)], least, strict=True)),
            limit=None if size == sizes[0] else 1.2,
        )
        for size in sizes
    ]


def compiled_table(rounds: int) -> list[Row]:
    """Compare a state of a compiled chart with a bare LangGraph loop.

    Args:
        rounds: Pairs that count, for each saver.
    """
    found = [overhead.measure(saver, rounds=rounds) for saver in overhead.LIMITS]
    return [
        Row(name=f"{row.saver} ({row.durability})", us=row.ours_us, ratio=row.ratio, limit=row.limit) for row in found
    ]


def hub_table(rounds: int) -> list[Row]:
    """Compare a step of parallel regions with a bare LangGraph superstep of parallel nodes.

    Args:
        rounds: Pairs that count.
    """
    return [Row(name=row.saver, us=row.ours_us, ratio=row.ratio, limit=row.limit) for row in regions.hub(rounds=rounds)]


TABLES: Mapping[str, Callable[[int], list[Row]]] = {
    "kernel": kernel_table,
    "growth": growth_table,
    "compiled": compiled_table,
    "hub": hub_table,
}


def text(title: str, rows: Sequence[Row]) -> str:
    """Lay rows out for reading.

    Args:
        title: What the table shows.
        rows: Its lines.
    """
    lines = [f"{title:28} {'µs':>8} {'ratio':>6} {'limit':>6}"]
    for row in rows:
        limit = "" if row.limit is None else f"{row.limit:.2f}"
        lines.append(f"{row.name:28} {row.us:8.1f} {row.ratio:6.2f} {limit:>6}  {row.note}".rstrip())
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print.

    Args:
        arguments: The command line without the program's name; the process's own by default.
    """
    parser = argparse.ArgumentParser(description="What an event costs, beside other libraries and in a compiled graph.")
    parser.add_argument("--rounds", type=int, default=15, help="rounds that count")
    parser.add_argument("--only", choices=tuple(TABLES), help="only this table")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args(arguments)
    names = [options.only] if options.only else list(TABLES)
    tables: dict[str, list[Row]] = {}
    for name in names:
        tables[name] = TABLES[name](options.rounds)
        if not options.json:
            print(text(name, tables[name]), end="\n\n", flush=True)
    if options.json:
        print(json.dumps({name: [asdict(row) for row in rows] for name, rows in tables.items()}, indent=2))


if __name__ == "__main__":
    main()
