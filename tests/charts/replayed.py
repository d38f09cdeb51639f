"""Playing the record of a driven session again, its own way, with its own graph or another one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import stateward as sw
from stateward.replay import Replayed, areplay, replay
from stateward.run.graph import ChartGraph
from tests.charts.drive import Driven
from tests.charts.working import working


def two_runs(drive: Callable[..., Driven]) -> Driven:
    """Run `working` twice, the second time with a wait."""
    driven = drive(working().compile())
    driven.start({"messages": [("user", "hi")]})
    driven.start({"messages": [("user", "stop")]})
    driven.resume("resume", data={"note": "on"})
    return driven


def replayed(driven: Driven, graph: ChartGraph | None = None, *, run: int | None = None) -> Replayed:
    """Play the runs of a session; return the last one that was played."""
    session = driven.session
    if graph is not None:
        session = sw.Session(session.id, graph.attach(session.database), session.database)
    return (replay(session, run=run) if driven.how == "sync" else asyncio.run(areplay(session, run=run)))[-1]


def same(driven: Driven, graph: ChartGraph | None = None) -> bool:
    """Whether all runs of a session come to the same; a difference is raised, to be read."""
    played = replayed(driven, graph)
    assert played.same, str(played.divergence)
    return True


def difference(driven: Driven, graph: ChartGraph) -> tuple[int, str]:
    """The step at which another graph differs from the record, and what is told first."""
    divergence = replayed(driven, graph).divergence
    assert divergence is not None
    return divergence.step, str(divergence.differences[0])
