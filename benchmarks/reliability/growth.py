"""Proof 7: how a session grows on disk, 200 turns of 1 kB, ours beside LangGraph's default.

Our checkpoints are counted apart from journal, ledger, audit log and our other tables. On PostgreSQL a table weighs
what `pg_total_relation_size` says, its indexes and its long values included.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from typing import Any

import psycopg
from langgraph.graph import END, START, StateGraph

import stateward as sw
from benchmarks.bare import bare_async_saver, bare_saver
from benchmarks.disk import OURS, TURNS, Chat, answer
from benchmarks.reliability.figure import Figure, Tick, at_most, told
from benchmarks.reliability.place import Place

SMALL_TURNS = 10
STATES: Mapping[str, tuple[str, ...]] = {"one-state": ("ANSWER",), "three-state": ("PLAN", "ANSWER", "CHECK")}
LIMITS_MB = {"one-state": 3.0, "three-state": 5.0}
MEGABYTE = 1e6
CONFIG: Any = {"configurable": {"thread_id": "t"}}


def think(state: Any) -> None:
    """Do the work of a state that says nothing."""


def chart(names: tuple[str, ...]) -> Any:
    """Compile the turn as a chart.

    Args:
        names: Its states; `ANSWER` answers.
    """
    targets = (*names[1:], "DONE")
    states = [sw.State(name, do=work(name), to=to) for name, to in zip(names, targets, strict=True)]
    return sw.Chart("chat", Chat, *states, sw.Final("DONE")).compile()


def bare(names: tuple[str, ...], saver: Any) -> Any:
    """Compile the turn as LangGraph's own nodes.

    Args:
        names: Its nodes; `ANSWER` answers.
        saver: LangGraph's.
    """
    builder = StateGraph(Chat)
    for name in names:
        builder.add_node(name, work(name))
    for source, target in zip((START, *names), (*names, END), strict=True):
        builder.add_edge(source, target)
    return builder.compile(checkpointer=saver)


def work(name: str) -> Any:
    """Return what a state does.

    Args:
        name: The state.
    """
    return answer if name == "ANSWER" else think


def talk(graph: Any, *, turns: int, how: str, runner: asyncio.Runner, tick: Callable[[], None]) -> None:
    """Take the turns.

    Args:
        graph: The compiled graph.
        turns: How many, from 1.
        how: `sync` or `async`.
        runner: Has the loop of the async way.
        tick: Called after each.
    """
    for turn in range(turns):
        given: Any = {"messages": [("user", f"turn {turn}")]}
        if how == "sync":
            graph.invoke(given, CONFIG)
        else:
            runner.run(graph.ainvoke(given, CONFIG))
        tick()


def weigh(url: str) -> Mapping[str, float]:
    """Return what each table of a database weighs, in MB; with SQLite each index, too.

    Args:
        url: The database.
    """
    if url.startswith("sqlite:///"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            found = db.execute("SELECT name, SUM(pgsize) FROM dbstat GROUP BY name").fetchall()
    else:
        with psycopg.connect(url) as raw:
            found = raw.execute(
                "SELECT c.relname, pg_total_relation_size(c.oid) FROM pg_class c"
                " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND n.nspname = current_schema()"
            ).fetchall()
    return {name: size / MEGABYTE for name, size in found}


def prove(place: Place, *, how: str, small: bool, tick: Tick) -> list[Figure]:
    """Let four sessions grow, and weigh them.

    Args:
        place: Where databases go.
        how: `sync` or `async`.
        small: Take few turns.
        tick: Told how far it is.

    Returns:
        The figures.
    """
    turns, done = SMALL_TURNS if small else TURNS, 0
    figures = [told("turns of 1 kB", turns)]

    def one_more() -> None:
        nonlocal done
        done += 1
        tick(done / turns / len(STATES) / 2)

    for kind, names in STATES.items():
        ours, plain = place.url(), place.url()
        with ExitStack() as stack:
            runner = stack.enter_context(asyncio.Runner())
            database = stack.enter_context(sw.open(ours))
            talk(chart(names).attach(database), turns=turns, how=how, runner=runner, tick=one_more)
            saver = bare_saver(plain) if how == "sync" else bare_async_saver(plain, runner=runner)
            talk(bare(names, stack.enter_context(saver)), turns=turns, how=how, runner=runner, tick=one_more)
        weights = weigh(ours)
        apart = sum(size for name, size in weights.items() if OURS in name)
        figures += [
            at_most(f"{kind} turns: checkpoints, MB", round(sum(weights.values()) - apart, 2), limit=LIMITS_MB[kind]),
            told(f"{kind} turns: journal, audit log and the rest, MB", round(apart, 2)),
            told(f"{kind} turns: bare LangGraph, MB", round(sum(weigh(plain).values()), 2)),
        ]
    return figures
