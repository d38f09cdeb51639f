"""What governance costs, and that a budget holds however many calls want it at once.

Three tables. The door: one call of a tool that does nothing, through the door and without it, in the same activity,
taking turns; over no saver, SQLite in memory and a SQLite file. The race: a hundred calls at once under a cap. The
policies: the effective policy of each state of a chart with a thousand states, with a policy on each superstate.

    python -m benchmarks.governor
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypedDict

import stateward as sw
from stateward.govern.effective import effectives
from stateward.govern.policy import Fuses, Policy, Rule, ToolPolicy

LIMIT_US = 150.0
"""What the door may add to a call without a saver, in microseconds."""
CALLS = 100
"""Calls of one round, and of one race."""
STATES = 1000
GROUP = 10
"""States in one superstate."""


class Work(TypedDict, total=False):
    """The state: what was measured."""

    through_us: list[float]
    bare_us: list[float]
    done: int


@sw.tool(effect="pure")
async def nothing(n: int) -> int:
    """Give a number back."""
    return n


@sw.tool(effect="pure")
def nothing_sync(n: int) -> int:
    """Give a number back, in a thread."""
    return n


TOOLS = {"async": nothing, "sync": nothing_sync}


def policy(*, calls: int) -> Policy:
    """Return a policy that lets a number of calls pass.

    Args:
        calls: How many.
    """
    rules = (Rule(match="nothing.*", level="allowed", max_calls=1_000_000),)
    return Policy(name="bench", fuses=Fuses(calls=calls, usd=1.0), tools=ToolPolicy(rules=rules), call_timeout_s=20.0)


def chart(tool: str, *, calls: int, rounds: int = 0) -> sw.Chart[Work]:
    """Return a chart of one state, which measures calls or makes them all at once.

    Args:
        tool: The tool's name.
        calls: How many calls the policy lets pass.
        rounds: How many rounds are measured; 0 makes one batch.
    """

    async def measure(state: Work, run: sw.Run) -> sw.Update[Work]:
        fn = next(each.fn for each in TOOLS.values() if each.name == tool)
        through, bare = [0.0] * rounds, [0.0] * rounds
        for number in range(rounds):
            begun = time.perf_counter()
            for n in range(CALLS):
                await run.tool(tool, n=n)
            between = time.perf_counter()
            for n in range(CALLS):
                made = fn(n=n)
                await made if asyncio.iscoroutine(made) else made
            ended = time.perf_counter()
            through[number], bare[number] = (between - begun) / CALLS * 1e6, (ended - between) / CALLS * 1e6
        return {"through_us": through, "bare_us": bare}

    async def burst(state: Work, run: sw.Run) -> sw.Update[Work]:
        results = await run.tools([{"name": tool, "args": {"n": n}} for n in range(CALLS)])
        return {"done": sum(one.ok for one in results)}

    do = measure if rounds else burst
    return sw.Chart(
        "bench",
        Work,
        sw.State("A", do=do, tools=[tool], to="DONE", on=[sw.on("fuse.calls", "DONE")]),
        sw.Final("DONE"),
        policy=policy(calls=calls),
    )


def door(tool: str, saver: str, *, rounds: int) -> Mapping[str, object]:
    """Measure the door.

    Args:
        tool: `async` or `sync`.
        saver: `none`, `memory` or `sqlite`.
        rounds: How many rounds of calls; the median counts.
    """
    graph = chart(TOOLS[tool].name, calls=1_000_000, rounds=rounds).compile(tools=list(TOOLS.values()))
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        if saver == "none":
            values = asyncio.run(graph.ainvoke({}))
        else:
            url = "memory:" if saver == "memory" else f"sqlite:///{Path(folder) / 'bench.db'}"
            database = stack.enter_context(sw.open(url))
            session = sw.Session("bench", graph.attach(database), database)
            values = asyncio.run(session.astart({})).values
    through, bare = (statistics.median(values[key]) for key in ("through_us", "bare_us"))
    limit = LIMIT_US if saver == "none" else None
    return {
        "tool": tool,
        "saver": saver,
        "door_us": through,
        "bare_us": bare,
        "adds_us": through - bare,
        "limit": limit,
    }


def race(cap: int) -> Mapping[str, object]:
    """Let a hundred calls run for a budget.

    Args:
        cap: How many the policy lets pass.
    """
    graph = chart("nothing", calls=cap).compile(tools=list(TOOLS.values()))
    with sw.open("memory:") as database:
        session = sw.Session("race", graph.attach(database), database)
        asyncio.run(session.astart({}))
        row = session.row()
        assert row is not None
        made = sum(entry.status == "completed" for entry in database.journal.entries("race"))
        spent = database.ledger.spent("race", row.run).get(("", "calls"), 0.0)
    return {"asked": CALLS, "cap": cap, "executed": made, "spent": spent, "holds": made <= cap and spent <= cap}


def policies() -> Mapping[str, object]:
    """Measure the folding of policies over a chart of many states, as `compile` does it."""
    tools = [f"tool_{number}" for number in range(20)]
    outer = policy(calls=20)
    groups = {f"G{n}": Policy(name=f"G{n}", fuses=Fuses(calls=10), call_timeout_s=10.0) for n in range(STATES // GROUP)}
    states = [(name, policy, n) for name, policy in groups.items() for n in range(GROUP)]
    chains = {i: (f"{name}.S{n}", [("", outer), (name, inner)]) for i, (name, inner, n) in enumerate(states)}
    begun = time.perf_counter()
    effectives(chains, tools=tools)
    each_us = (time.perf_counter() - begun) / STATES * 1e6
    return {
        "states": STATES,
        "layers": 2,
        "tools": len(tools),
        "us per state": each_us,
        "ms in all": each_us * STATES / 1e3,
    }


def _table(rows: Sequence[Mapping[str, object]]) -> str:
    names = list(rows[0])
    cells = [[_said(row[name]) for name in names] for row in rows]
    widths = [max(len(name), *(len(line[place]) for line in cells)) for place, name in enumerate(names)]
    lines = [names, *cells]
    return "\n".join("  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)) for line in lines)


def _said(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print.

    Args:
        arguments: The command line without the program's name; the process's own by default.

    Raises:
        SystemExit: A budget did not hold.
    """
    parser = argparse.ArgumentParser(description="What governance costs, and whether a budget holds.")
    parser.add_argument("--rounds", type=int, default=20, help=f"rounds of {CALLS} calls; the median counts")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args(arguments)
    pairs = [(tool, saver) for tool in TOOLS for saver in ("none", "memory", "sqlite")]
    found = {
        "door": [door(tool, saver, rounds=options.rounds) for tool, saver in pairs],
        "race": [race(cap) for cap in (1, 10, 50, 100)],
        "policies": [policies()],
    }
    print(json.dumps(found, indent=2) if options.json else "\n\n".join(f"{k}\n{_table(v)}" for k, v in found.items()))
    if not all(row["holds"] for row in found["race"]):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
