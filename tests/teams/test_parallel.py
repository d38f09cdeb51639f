"""What runs at the same time: the order in which it ends changes nothing of what is committed.

Proofs of the issue: parallel handoffs in 200 runs, parallel tools in 1,000 shuffles. The quick tests show the same in
short, both ways.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

import stateward as sw
from stateward import teams
from stateward.govern.fingerprint import digest
from stateward.testing import How, ScriptedModel, run_graph
from tests.teams.agents import alone, ask, is_whole
from tests.teams.latencies import Latencies
from tests.teams.peers import handing, see, swarm_of, to

LOOKED = ("u", "v", "w", "x", "y", "z")
SEEN = tuple(f"saw {what}" for what in LOOKED)


def handover(runs: int) -> tuple[sw.ChartGraph, Latencies]:
    """A swarm in which two handoffs stand between six calls of one reply, with replies for so many runs."""
    latencies = Latencies(LOOKED)
    u, v, w, x, y, z = map(see, LOOKED)
    reply = handing(u, v, to("C"), w, x, to("B"), y, z)
    replies = {"A": [reply], "B": ["b"], "C": ["c"]}
    models = {name: ScriptedModel.of(*given * runs) for name, given in replies.items()}
    return swarm_of(models, tools=[latencies.tool]), latencies


def looker(runs: int) -> tuple[sw.ChartGraph, Latencies]:
    """An agent whose model looks six things up at once."""
    latencies = Latencies(LOOKED)
    model = ScriptedModel.of(*[handing(*map(see, LOOKED)), "done"] * runs)
    return alone(teams.agent("LOOKER", model="m", tools=[latencies.tool]), model), latencies


def all_runs(graph: sw.ChartGraph, runs: int, *, how: How = "async") -> list[Any]:
    """Run a graph so often, each time with another seed."""

    async def one_by_one() -> list[Any]:
        return [await graph.ainvoke(ask("go"), config(seed)) for seed in range(runs)]

    if how == "sync":
        return [run_graph(graph, ask("go"), how=how, config=config(seed)) for seed in range(runs)]
    return asyncio.run(one_by_one())


def config(seed: int) -> Any:
    """The config of a session whose name is its seed."""
    return {"configurable": {"thread_id": str(seed)}}


def outcome(values: Any) -> tuple[str, tuple[str, ...], bool]:
    """Who is active, the results in the conversation, and whether every call has one answer right behind it."""
    messages: Sequence[Any] = values["messages"]
    results = tuple(each.text for each in messages if each.text.startswith("saw "))
    return values["team"]["SWARM"]["active"], results, is_whole(messages)


def committed(values: Any) -> str:
    """A hash of the conversation, without the random ids of messages."""
    return digest([[each.type, each.text, getattr(each, "tool_call_id", "")] for each in values["messages"]])


@pytest.mark.slow
def test_parallel_handoffs_have_one_winner_and_lose_nothing() -> None:
    """Two hundred runs under random latencies: one winner, no result lost, every history whole."""
    outcomes = Counter(map(outcome, all_runs(handover(200)[0], 200)))
    assert outcomes == {("C", SEEN, True): 200}


def test_a_handoff_wins_by_its_place_in_the_reply(how: How) -> None:
    """Whatever ends first, and both ways."""
    assert Counter(map(outcome, all_runs(handover(8)[0], 8, how=how))) == {("C", SEEN, True): 8}


@pytest.mark.slow
def test_any_order_of_completion_commits_one_history() -> None:
    """A thousand shuffles, one hash."""
    graph, latencies = looker(1000)
    assert len(set(map(committed, all_runs(graph, 1000)))) == 1
    assert len({tuple(turns.ended) for turns in latencies.sessions.values()}) > 500


def test_the_order_of_completion_does_not_show_in_the_history(how: How) -> None:
    """The same in short, both ways; the calls do end in the orders that were drawn."""
    graph, latencies = looker(8)
    assert len(set(map(committed, all_runs(graph, 8, how=how)))) == 1
    assert len({tuple(turns.ended) for turns in latencies.sessions.values()}) == 8


def test_the_stream_shows_results_as_they_come() -> None:
    """Live, results stand in the order of completion."""
    graph, latencies = looker(1)

    async def streamed() -> list[str]:
        parts = graph.astream(ask("go"), config(7), stream_mode="custom")
        return [part["value"] async for part in parts if part["type"] == "tool"]

    assert asyncio.run(streamed()) == [f"saw {what}" for what in latencies.of("7").order]


def test_the_first_result_is_seen_while_the_others_hang() -> None:
    """Nobody waits for the slowest call to see the quickest."""
    ended: list[str] = []

    async def first() -> tuple[str, list[str]]:
        released = asyncio.Event()

        @sw.tool(effect="pure", name="look")
        async def look(what: str) -> str:
            """Look something up; all but `z` hang."""
            if what != "z":
                await released.wait()
            ended.append(what)
            return f"saw {what}"

        model = ScriptedModel.of(handing(*map(see, LOOKED)), "done")
        parts = alone(teams.agent("LOOKER", model="m", tools=[look]), model).astream(ask("go"), stream_mode="custom")
        seen = await anext(part["value"] async for part in parts if part["type"] == "tool")
        before = list(ended)
        released.set()
        async for _ in parts:
            pass
        return seen, before

    assert asyncio.run(first()) == ("saw z", ["z"])
