"""How soon the result of a parallel tool call can be seen, while the other calls of its batch still run.

A reply calls several tools at once, whose ends lie apart. For each, the time from where the tool ends, in its own code,
to where the reader of the stream holds its result: of our typed events (`Session.aevents` and `Session.events`), of
LangGraph's stream of our graph (`custom`), and of the same by `create_agent` (`updates`). A barrier would show as the
time of the slowest call.

    python -m benchmarks.teams --visible
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]  # a saver of anything
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

import stateward as sw
from benchmarks.team_model import QuickModel, saying
from stateward import teams
from stateward.events import CallEnded

LIMIT_MS = 20.0
"""How much later than its tool's end a result may be seen, in ms."""
CALLS = 8
"""Calls of one batch."""
APART_S = 0.03
"""How far their ends lie apart, in seconds; less would measure how they get in each other's way."""
INPUT = {"messages": [("user", "Look around.")]}


@dataclass
class Ends:
    """When the tools of a batch ended, by their place."""

    at: dict[int, float] = field(default_factory=dict[int, float])

    async def work(self, place: int) -> int:
        """Take a while, and keep when it ended.

        Args:
            place: The call's place in its batch.
        """
        await asyncio.sleep((CALLS - place) * APART_S)  # the first of them ends last
        self.at[place] = time.perf_counter()
        return place

    def seen(self, place: int) -> float:
        """Return how long ago a tool ended, in ms.

        Args:
            place: Which.
        """
        return 1e3 * (time.perf_counter() - self.at[place])


@dataclass(frozen=True, slots=True, kw_only=True)
class Visible:
    """One line: how soon results were seen."""

    stream: str
    saver: str
    p50_ms: float
    p99_ms: float
    max_ms: float
    limit_ms: float = LIMIT_MS

    @classmethod
    def of(cls, took: Sequence[float], *, stream: str, saver: str) -> Visible:
        """Make it of what was measured.

        Args:
            took: The times, in ms; at least one.
            stream: What was read.
            saver: Over which saver.
        """
        ordered = sorted(took)
        shares = [ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.99)]
        return cls(stream=stream, saver=saver, p50_ms=shares[0], p99_ms=shares[1], max_ms=ordered[-1])


def batch(messages: Sequence[BaseMessage]) -> AIMessage:
    """Call all tools at once, and then answer.

    Args:
        messages: The conversation.
    """
    if messages[-1].type != "human":
        return saying("Done.")
    calls: Any = [{"name": "work", "args": {"place": place}, "id": uuid4().hex} for place in range(CALLS)]
    return AIMessage(content="", tool_calls=calls)


def measured(*, rounds: int, saver: str) -> list[Visible]:
    """Measure all streams over one kind of saver.

    Args:
        rounds: Batches that count, ≥ 1.
        saver: `memory` or `sqlite`.

    Returns:
        A line for each stream.
    """
    with tempfile.TemporaryDirectory() as folder, _database(saver, Path(folder)) as database:
        ours: dict[str, Callable[[], list[float]]] = {
            "Session.aevents": lambda: asyncio.run(_aevents(database)),
            "Session.events": lambda: _events(database),
            "our graph, custom": lambda: asyncio.run(_custom(database)),
            "create_agent, updates": lambda: asyncio.run(_theirs()),
        }
        lines: list[Visible] = []
        for stream, read in ours.items():
            read()
            took = [each for _ in range(rounds) for each in read()]
            lines.append(Visible.of(took, stream=stream, saver=saver))
        return lines


def laid_out(lines: Sequence[Visible]) -> str:
    """Lay lines out for reading.

    Args:
        lines: What was measured.
    """
    head = f"{'stream':22} {'saver':6} {'p50 ms':>7} {'p99 ms':>7} {'max ms':>7} {'limit':>6}"
    rows = (
        f"{each.stream:22} {each.saver:6} {each.p50_ms:7.1f} {each.p99_ms:7.1f} {each.max_ms:7.1f} {each.limit_ms:6.1f}"
        for each in lines
    )
    return "\n".join([f"from the end of one of {CALLS} parallel tools to where its result is seen", head, *rows])


@contextmanager
def _database(saver: str, folder: Path) -> Generator[Any]:
    with sw.open("memory:" if saver == "memory" else f"sqlite:///{folder / 'visible.db'}") as database:
        yield database


def _graph(ends: Ends, database: Any) -> Any:
    work = sw.tool(effect="pure", name="work")(ends.work)
    block = teams.react("AGENT", model="m", tools=[work])
    chart = sw.Chart("visible", teams.TeamState, teams.placed(block, to="DONE"), sw.Final("DONE"))
    return chart.compile(models={"m": QuickModel(rule=batch)}, database=database)


def _place(event: object) -> int | None:
    """Return which tool's result an event is, if it is one."""
    return cast(int, event.result) if isinstance(event, CallEnded) and event.of == "tool" else None


async def _aevents(database: Any) -> list[float]:
    ends = Ends()
    session = sw.Session(uuid4().hex, _graph(ends, database), database)
    return [ends.seen(place) async for event in session.aevents(INPUT) if (place := _place(event)) is not None]


def _events(database: Any) -> list[float]:
    ends = Ends()
    session = sw.Session(uuid4().hex, _graph(ends, database), database)
    return [ends.seen(place) for event in session.events(INPUT) if (place := _place(event)) is not None]


async def _custom(database: Any) -> list[float]:
    ends = Ends()
    config: Any = {"configurable": {"thread_id": uuid4().hex}}
    parts: AsyncIterator[Any] = _graph(ends, database).astream(INPUT, config, stream_mode="custom")
    return [ends.seen(part["value"]) async for part in parts if part.get("type") == "tool"]


async def _theirs() -> list[float]:
    ends = Ends()

    @tool
    async def work(place: int) -> int:
        """Take a while."""
        return await ends.work(place)

    agent = cast(Any, create_agent(QuickModel(rule=batch), [work], checkpointer=InMemorySaver()))
    config = {"configurable": {"thread_id": uuid4().hex}}
    parts = agent.astream(INPUT, config, stream_mode="updates")
    return [ends.seen(int(each.text)) async for part in parts for each in part.get("tools", {}).get("messages", ())]
