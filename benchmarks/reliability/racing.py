"""Proof 2: eight workers in two processes send a thousand inputs to ten sessions.

Each input is either committed or refused with a typed error, and the caller knows which. A session's log then holds
exactly what was accepted, once each, and in order: what was accepted before another call began stands before it.
"""

from __future__ import annotations

import asyncio
import json
import operator
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Annotated

from typing_extensions import TypedDict

import stateward as sw
from benchmarks.reliability.figure import Figure, Tick, exactly, told
from benchmarks.reliability.place import Place
from stateward.errors import StatewardError
from stateward.run.graph import ChartGraph
from stateward.run.store.database import Database

SESSIONS, INPUTS, SMALL_INPUTS = 10, 1000, 80
WORKERS = 4
"""In each process; there are as many processes as the place has zygotes."""
WORK = "benchmarks.reliability.racing:send"
ACCEPTED = "accepted"


class Log(TypedDict, total=False):
    """What a session was sent."""

    log: Annotated[list[str], operator.add]


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """One input."""

    session: str
    name: str
    begun: float
    """By a clock that all processes share, in seconds."""
    ended: float
    verdict: str
    """`accepted`, or the type of the error."""
    typed: bool
    """Whether an error is one of ours."""


def build() -> ChartGraph:
    """Compile a chart whose one state takes a moment."""

    async def think(state: Log) -> None:
        await asyncio.sleep(0.001)

    return sw.Chart("racing", Log, sw.State("THINK", do=think, to="DONE"), sw.Final("DONE")).compile()


def send(*, url: str, path: str, how: str, seed: int, inputs: int) -> None:
    """Let the workers of one process send their inputs, and write down what became of each.

    Args:
        url: The database.
        path: Where that goes.
        how: `sync` or `async`.
        seed: Of the process.
        inputs: How many each worker sends.
    """
    with sw.open(url) as database:
        graph = build().attach(database)

        async def work(worker: int) -> list[Try]:
            random = Random(f"{seed} {worker}")
            return [
                await _try(
                    sw.Session(f"s{random.randrange(SESSIONS)}", graph, database), name=f"{seed}-{worker}-{n}", how=how
                )
                for n in range(inputs)
            ]

        async def all_of_them() -> list[list[Try]]:
            return list(await asyncio.gather(*map(work, range(WORKERS))))

        tries = [one for some in asyncio.run(all_of_them()) for one in some]
    Path(path).write_text(json.dumps([asdict(one) for one in tries]))


async def _try(session: sw.Session, *, name: str, how: str) -> Try:
    begun, verdict, typed = time.monotonic(), ACCEPTED, True
    try:
        if how == "sync":
            await asyncio.to_thread(session.start, {"log": [name]})
        else:
            await session.astart({"log": [name]})
    except Exception as error:  # noqa: BLE001  # it is told
        verdict, typed = type(error).__name__, isinstance(error, StatewardError)
    return Try(session=session.id, name=name, begun=begun, ended=time.monotonic(), verdict=verdict, typed=typed)


def prove(place: Place, *, how: str, small: bool, tick: Tick) -> list[Figure]:
    """Send the inputs.

    Args:
        place: Where databases and files go.
        how: `sync` or `async`.
        small: Send few.
        tick: Told how far it is.

    Returns:
        The figures.
    """
    room, url = place.room(), place.url()
    each = (SMALL_INPUTS if small else INPUTS) // (WORKERS * len(place.zygotes))
    with sw.open(url) as database:

        def process(number: int) -> list[Try]:
            path = room / f"{number}.json"
            status = place.zygotes[number].live(WORK, url=url, path=str(path), how=how, seed=number, inputs=each)
            assert status == 0, "the workers' process ends well"
            return [Try(**one) for one in json.loads(path.read_text())]

        with ThreadPoolExecutor(len(place.zygotes)) as pool:
            tries = [one for some in pool.map(process, range(len(place.zygotes))) for one in some]
        tick(1)
        return judge(tries, logs=_logs(database))


def _logs(database: Database) -> dict[str, list[str]]:
    graph = build().attach(database)
    ids = [f"s{number}" for number in range(SESSIONS)]
    return {id: list(sw.Session(id, graph, database).outcome().values.get("log", ())) for id in ids}


def judge(tries: Sequence[Try], *, logs: Mapping[str, Sequence[str]]) -> list[Figure]:
    """Compare what the callers were told with what the sessions hold.

    Args:
        tries: What became of each input.
        logs: What each session holds.

    Returns:
        The figures.
    """
    accepted = [one for one in tries if one.verdict == ACCEPTED]
    held = [name for log in logs.values() for name in log]
    known = {one.name for one in accepted}
    return [
        told("inputs", len(tries)),
        told("committed", len(accepted)),
        told("refused with a typed error", sum(one.typed for one in tries) - len(accepted)),
        exactly("refused without one", sum(not one.typed for one in tries)),
        exactly("accepted and lost", len(known - set(held))),
        exactly("committed twice", len(held) - len(set(held))),
        exactly("refused, and committed all the same", len(set(held) - known)),
        exactly("out of order", sum(_out_of_order(log, {one.name: one for one in accepted}) for log in logs.values())),
    ]


def _out_of_order(log: Sequence[str], accepted: Mapping[str, Try]) -> int:
    """Count the inputs that stand behind one that was sent after they had been accepted."""
    tries = [accepted[name] for name in log if name in accepted]
    latest, wrong = 0.0, 0
    for one in tries:
        wrong += one.ended < latest
        latest = max(latest, one.begun)
    return wrong
