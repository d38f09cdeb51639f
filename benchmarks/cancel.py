"""Cancelling at a random await: does anything dangle, does anything go on, and how long does it take?

Each time a run is begun whose activity awaits models and tools, several at once and in regions, and is cancelled from
another task: after a random part of the time that runs take, and some turns of the event loop. Then it is looked at
what is left: tool calls of the history without an answer, calls of the journal without an end, tasks, leases, entries
of the registry, open questions.

    python -m benchmarks.cancel --times 1000 --url sqlite:///cancel.db
"""

from __future__ import annotations

import argparse
import asyncio
import json
import operator
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from langchain_core.messages import AIMessage
from typing_extensions import TypedDict

import stateward as sw
from stateward.errors import NotExpected, UnknownSession
from stateward.run.repair import dangling
from stateward.run.store.database import Database

WAIT_S = 10.0
"""How long a cancellation may take before it counts as one that never ended, in seconds."""


class Work(TypedDict, total=False):
    """What the runs leave behind."""

    messages: sw.Messages
    log: Annotated[list[str], operator.add]


@dataclass
class Found:
    """What was found after the cancellations."""

    took_ms: list[float] = field(default_factory=list[float])
    dangling: int = 0
    open_calls: int = 0
    leaks: int = 0
    too_late: int = 0
    """Runs that had ended, or had not begun, when they were to be cancelled."""


@sw.tool(effect="idempotent")
async def look(place: int) -> int:
    """Look somewhere, for some turns of the event loop."""
    for _ in range(place):
        await asyncio.sleep(0)
    await asyncio.sleep(0.001)
    return place


@sw.tool(effect="once")
async def pay(place: int) -> int:
    """Pay, and take a moment for it."""
    await asyncio.sleep(0.002)
    return place


def plan(state: Work) -> dict[str, Any]:
    calls = [{"name": "look", "args": {"place": place}, "id": f"c{place}"} for place in range(3)]
    return {"messages": [AIMessage("", tool_calls=calls)]}


async def act(state: Work, run: sw.Run[Any]) -> dict[str, Any]:
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.sleep(0.001))
        found = await run.tools([{"name": "look", "args": {"place": place}} for place in range(3)])
    await run.tool("pay", place=1)
    return {"log": [result.name for result in found]}


def chart() -> sw.Chart[Work]:
    """Build the chart: calls are announced, then made, one after the other and side by side."""
    work: dict[str, Any] = {"do": act, "tools": ["look", "pay"]}
    regions = [sw.Superstate(name, sw.State("DO", **work, to="END"), sw.Final("END")) for name in "AB"]
    return sw.Chart(
        "cancelled",
        Work,
        sw.State("PLAN", do=plan, to="ACT"),
        sw.State("ACT", **work, to="BOTH"),
        sw.Parallel("BOTH", *regions, to="DONE"),
        sw.Final("DONE"),
    )


def measure(times: int, url: str) -> dict[str, float | None]:
    """Cancel runs at random awaits.

    Args:
        times: How many, at least 1.
        url: The database.

    Returns:
        `times`, `cancelled`, `too_late`, `dangling` tool calls, `open_calls` of the journal, `leaks` (tasks, leases,
        entries and questions), and the milliseconds a cancellation took: `p50_ms`, `p99_ms`, `worst_ms`.
    """
    with sw.open(url) as database:
        found = asyncio.run(_measured(times, database))
    took = sorted(found.took_ms)
    return {
        "times": times,
        "cancelled": len(took),
        "too_late": found.too_late,
        "dangling": found.dangling,
        "open_calls": found.open_calls,
        "leaks": found.leaks,
        "p50_ms": _share(took, 0.5),
        "p99_ms": _share(took, 0.99),
        "worst_ms": _share(took, 1.0),
    }


async def _measured(times: int, database: Database) -> Found:
    graph, found, random_ = chart().compile(tools=[look, pay]).attach(database), Found(), random.Random(7)
    start = time.time_ns()
    whole_s = min([await _whole(sw.Session(f"whole-{start}-{number}", graph, database)) for number in range(3)])
    for number in range(times):
        session = sw.Session(f"cancel-{start}-{number}", graph, database)
        delay_s, turns = random_.uniform(0, whole_s), random_.randrange(20)
        await _cancelled_once(session, delay_s=delay_s, turns=turns, found=found)
        _look(session, found, tasks=len(asyncio.all_tasks()) - 1)
    return found


async def _whole(session: sw.Session) -> float:
    """Return how long a run takes that nobody cancels."""
    began = time.perf_counter()
    await session.astart({})
    return time.perf_counter() - began


async def _cancelled_once(session: sw.Session, *, delay_s: float, turns: int, found: Found) -> None:
    task = asyncio.create_task(session.astart({}))
    await asyncio.wait([task], timeout=delay_s)
    for _ in range(turns):
        await asyncio.sleep(0)
        if task.done():
            break
    began = time.perf_counter()
    try:
        await session.acancel(by="benchmark", wait_s=WAIT_S)
        found.took_ms.append((time.perf_counter() - began) * 1000)
    except (NotExpected, UnknownSession):
        found.too_late += 1
    await asyncio.wait([task])


def _look(session: sw.Session, found: Found, *, tasks: int) -> None:
    database, outcome = session.database, session.outcome()
    found.dangling += len(dangling(outcome.values.get("messages") or [])) if outcome.status == "cancelled" else 0
    found.open_calls += sum(entry.status == "started" for entry in database.journal.entries(session.id))
    left = (database.leases.held(session.id), database.registry.find(session.id), *database.asks.open(session.id))
    found.leaks += tasks + sum(each is not None for each in left)


def _share(took: Sequence[float], share: float) -> float | None:
    return round(took[min(len(took) - 1, int(len(took) * share))], 1) if took else None


def main() -> None:
    """Measure, and print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=1000)
    parser.add_argument("--url", default="memory:")
    given = parser.parse_args()
    print(json.dumps(measure(given.times, given.url), indent=2))


if __name__ == "__main__":
    main()
