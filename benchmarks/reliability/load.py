"""Proof 6: a thousand sessions on one graph, with two tools that are processes of their own.

Each session calls both tools and waits for an event; when all wait, the process is weighed; then each gets its event.
Bare LangGraph does the same with two nodes, an interrupt, the same kind of saver and the same durability, and calls the
same two processes. They take turns in blocks, and as many sessions are under way at once. The processor time is what a
session costs when nothing is waited for: in ours each call has its lease, journal, ledger and audit log.

The second ratio is that of a state: the loop of `benchmarks.overhead` over this database.
"""

from __future__ import annotations

import asyncio
import gc
import operator
import os
import statistics
import time
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

import stateward as sw
from benchmarks import overhead
from benchmarks.bare import Saver, bare_async_saver, bare_saver
from benchmarks.reliability.figure import Figure, Tick, at_least, at_most, exactly, told
from benchmarks.reliability.place import Place
from benchmarks.reliability.tool_server import ToolServer

SESSIONS, SMALL_SESSIONS = 1000, 20
BLOCKS, SMALL_BLOCKS = 10, 2
"""Turns the sessions are made in."""
AT_ONCE = 8
TOOL_S, SMALL_TOOL_S = 0.1, 0.01
"""How long a call of a tool takes: what a call over the network takes, and far less than a model needs."""
RATIO = 0.8
ROUNDS, WARM_UP = 20, 2
RECURSION_LIMIT = 1000
INPUT = {"log": ["in"]}
LOOP_LIMITS = {"sqlite": 1.1, "postgresql": 1.3}


class Case(TypedDict, total=False):
    """What a session knows."""

    log: Annotated[list[str], operator.add]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """The two processes."""

    find: ToolServer
    keep: ToolServer


@contextmanager
def tools(*, seconds: float) -> Generator[Tools]:
    """Run both processes as long as the block.

    Args:
        seconds: How long a call takes.

    Yields:
        Their clients.
    """
    with ToolServer(seconds=seconds) as find, ToolServer(seconds=seconds) as keep:
        yield Tools(find=find, keep=keep)


def chart(made: Tools, *, how: str) -> Any:
    """Compile the chart.

    Args:
        made: The two processes.
        how: `sync` or `async`: which form the tools have.
    """

    def tool(name: str, server: ToolServer) -> Any:
        def call(order: str) -> Any:
            """Call the process."""
            return server.call(order=order)

        async def acall(order: str) -> Any:
            """Call the process."""
            return await server.acall(order=order)

        return sw.tool(effect="idempotent", name=name)(call if how == "sync" else acall)

    def calling(name: str) -> Any:
        async def act(state: Case, run: sw.Run[Any]) -> Any:
            return {"log": [(await run.tool(name, order="A")).status]}

        def act_sync(state: Case, run: sw.SyncRun[Any]) -> Any:
            return {"log": [run.tool(name, order="A").status]}

        return act_sync if how == "sync" else act

    return sw.Chart(
        "load",
        Case,
        sw.State("FIND", do=calling("find"), tools=["find"], to="KEEP"),
        sw.State("KEEP", do=calling("keep"), tools=["keep"], to="HOLD"),
        sw.State("HOLD", on=[sw.on("go", "DONE")]),
        sw.Final("DONE"),
    ).compile(tools=[tool("find", made.find), tool("keep", made.keep)])


def bare(made: Tools, saver: Any, *, how: str) -> Any:
    """Compile the same as LangGraph's own nodes.

    Args:
        made: The two processes.
        saver: LangGraph's.
        how: `sync` or `async`.
    """

    def node(server: ToolServer) -> Any:
        def call(state: Case) -> Any:
            server.call(order="A")
            return {"log": ["ok"]}

        async def acall(state: Case) -> Any:
            await server.acall(order="A")
            return {"log": ["ok"]}

        return call if how == "sync" else acall

    def hold(state: Case) -> None:
        interrupt("go")

    builder = StateGraph(Case)
    for name, work in (("FIND", node(made.find)), ("KEEP", node(made.keep)), ("HOLD", hold)):
        builder.add_node(name, work)
    for source, target in ((START, "FIND"), ("FIND", "KEEP"), ("KEEP", "HOLD"), ("HOLD", END)):
        builder.add_edge(source, target)
    return builder.compile(checkpointer=saver)


class Side:
    """One of two graphs, driven the same way.

    Args:
        graph: The compiled graph.
        how: `sync` or `async`.
        runner: Has the loop of the async way.
    """

    def __init__(self, graph: Any, *, how: str, runner: asyncio.Runner) -> None:
        self.graph = graph
        self.cpu_s = 0.0
        """Processor time of this process that its sessions took."""
        self._how = how
        self._runner = runner

    def send(self, given: Any, names: Sequence[str]) -> float:
        """Send each session the same, many at once.

        Args:
            given: An input or a `Command`.
            names: The sessions' ids.

        Returns:
            How long that took, in seconds.
        """
        gc.collect()
        begun, cpu = time.perf_counter(), time.process_time()
        if self._how == "async":
            self._runner.run(self._all(given, names))
        else:
            with ThreadPoolExecutor(AT_ONCE) as pool:
                list(pool.map(partial(self._one, given), names))
        self.cpu_s += time.process_time() - cpu
        return time.perf_counter() - begun

    def _one(self, given: Any, name: str) -> None:
        self.graph.invoke(given, _config(name), durability="sync")

    async def _all(self, given: Any, names: Sequence[str]) -> None:
        turn = asyncio.Semaphore(AT_ONCE)

        async def one(name: str) -> None:
            async with turn:
                await self.graph.ainvoke(given, _config(name), durability="sync")

        await asyncio.gather(*map(one, names))


def _ms(side: Side, names: Sequence[str]) -> float:
    return round(side.cpu_s / len(names) * 1e3, 1)


def _config(name: str) -> Any:
    return {"configurable": {"thread_id": name}, "recursion_limit": RECURSION_LIMIT}


def resident_kb() -> float:
    """Return how much memory this process has, in kB; 0 where the system does not tell."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((float(line.split()[1]) for line in lines if line.startswith("VmRSS:")), 0.0)


def children() -> frozenset[int]:
    """Return the ids of this process's children; empty where the system does not tell."""
    tasks = Path(f"/proc/{os.getpid()}/task")
    found = (path.read_text().split() for path in tasks.glob("*/children")) if tasks.exists() else ()
    return frozenset(int(pid) for pids in found for pid in pids)


def prove(place: Place, *, how: str, small: bool, tick: Tick) -> list[Figure]:
    """Load both graphs.

    Args:
        place: Where databases go.
        how: `sync` or `async`.
        small: Make few sessions.
        tick: Told how far it is.

    Returns:
        The figures.
    """
    before, names = children(), [f"s{number}" for number in range(SMALL_SESSIONS if small else SESSIONS)]
    with ExitStack() as stack:
        made = stack.enter_context(tools(seconds=SMALL_TOOL_S if small else TOOL_S))
        started = len(children() - before)
        database = stack.enter_context(sw.open(place.url()))
        saver, runner = _bare(place, how=how, stack=stack)
        ours = Side(chart(made, how=how).attach(database), how=how, runner=runner)
        plain = Side(bare(made, saver, how=how), how=how, runner=runner)
        taken = _serve(ours, plain, _blocks(names, count=SMALL_BLOCKS if small else BLOCKS), tick=tick)
        ends = [sw.Session(name, ours.graph, database).outcome().values for name in names]
    return [
        told("sessions on one graph", len(names)),
        exactly("sessions that ended right", sum(end["log"] == ["in", "ok", "ok"] for end in ends), is_=len(names)),
        exactly("tool processes of all sessions", started, is_=2),
        told("memory of an idle session, kB", round(taken.kb, 1), timed=True),
        told("sessions per second", round(len(names) / sum(taken.ours_s), 1), timed=True),
        told("sessions per second, bare LangGraph", round(len(names) / sum(taken.bare_s), 1), timed=True),
        told("processor time of a session, ms", _ms(ours, names), timed=True),
        told("processor time of a session, bare LangGraph, ms", _ms(plain, names), timed=True),
        at_least("throughput against bare LangGraph", round(taken.ratio, 2), limit=RATIO, timed=True),
        loop(place, how=how, rounds=1 if small else ROUNDS, warm_up=0 if small else WARM_UP),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What serving the sessions took."""

    ours_s: Sequence[float]
    """Seconds of each block, of its start and then of its event: first all starts, then all events."""
    bare_s: Sequence[float]
    kb: float
    """Memory of an idle session of ours."""

    @property
    def ratio(self) -> float:
        """Throughput of ours against the bare graph's, the median of the blocks; a session is start and event together.

        Each half alone is no session: one calls two tools, the other none, and the median of both lies between them.
        """
        return statistics.median(
            theirs / ours for ours, theirs in zip(_whole(self.ours_s), _whole(self.bare_s), strict=True)
        )


def _whole(seconds: Sequence[float]) -> list[float]:
    """Return how long each block took in both halves."""
    half = len(seconds) // 2
    return [start + event for start, event in zip(seconds[:half], seconds[half:], strict=True)]


def _blocks(names: Sequence[str], *, count: int) -> list[Sequence[str]]:
    size = max(len(names) // count, 1)
    return [names[at : at + size] for at in range(0, len(names), size)]


def _serve(ours: Side, plain: Side, blocks: Sequence[Sequence[str]], *, tick: Tick) -> Taken:
    """Start all sessions, block by block in turns with the bare graph, then send each its event."""
    ours_s, bare_s, kb, done = list[float](), list[float](), 0.0, 0
    for given, bare_given in ((INPUT, INPUT), (Command(resume={"event": "go"}), Command(resume="go"))):
        for block in blocks:
            before = resident_kb()
            ours_s.append(ours.send(given, block))
            gc.collect()
            # The first block pays for what all share.
            kb += resident_kb() - before if 0 < done < len(blocks) else 0
            bare_s.append(plain.send(bare_given, block))
            done += 1
            tick(done / len(blocks) / 2)
    return Taken(ours_s=ours_s, bare_s=bare_s, kb=kb / max(sum(map(len, blocks[1:])), 1))


def loop(place: Place, *, how: str, rounds: int, warm_up: int) -> Figure:
    """Measure what a state costs against the bare loop of `benchmarks.overhead`.

    Args:
        place: Where databases go.
        how: `sync` or `async`.
        rounds: Pairs of runs that count, from 1.
        warm_up: Pairs before them that do not.

    Returns:
        The median of their ratios.
    """
    ratios: list[float] = []
    with ExitStack() as stack:
        database = stack.enter_context(sw.open(place.url()))
        saver, runner = _bare(place, how=how, stack=stack)
        ours = Side(overhead.chart().compile().attach(database), how=how, runner=runner)
        plain = Side(overhead.bare(saver), how=how, runner=runner)
        for number in range(rounds + warm_up):
            first, second = (ours, plain) if number % 2 else (plain, ours)
            taken = {side: side.send({"n": 0, "log": []}, [f"loop{number}"]) for side in (first, second)}
            ratios.append(taken[ours] / taken[plain])
    ratio = round(statistics.median(ratios[warm_up:]), 2)
    return at_most("a state, against the bare loop's", ratio, limit=LOOP_LIMITS[place.kind], timed=True)


def _bare(place: Place, *, how: str, stack: ExitStack) -> tuple[Saver, asyncio.Runner]:
    runner = stack.enter_context(asyncio.Runner())
    opened = bare_saver(place.url()) if how == "sync" else bare_async_saver(place.url(), runner=runner)
    return stack.enter_context(opened), runner
