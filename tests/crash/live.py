"""One case in one process: a session of a chart that is to be killed, taken to its end."""

from __future__ import annotations

import asyncio
from pathlib import Path

import stateward as sw
from stateward.run.session import Outcome
from tests.crash.beside import build as build_beside
from tests.crash.kill import Killer
from tests.crash.toy import Effects, build

WORK = "tests.crash.live:live"
CHARTS = {"toy": build, "beside": build_beside}
"""The charts to be killed."""
ENDS = ("completed", "halted", "failed", "cancelled")
APPROVER = "ann"


def live(*, folder: str, chart: str, case: str, how: str, at: str | None) -> None:
    """Take a case to its end, answering what is asked, and write down what was passed.

    Args:
        folder: Where its files are.
        chart: Which of `CHARTS` it runs.
        case: Its name.
        how: `sync` or `async`.
        at: The point at which the process kills itself, or None.
    """
    killer, place = Killer(at), Path(folder)
    effects = Effects(place / f"{case}.effects")
    with sw.open(f"sqlite:///{place / case}.db") as database:
        graph = CHARTS[chart](effects, killer).attach(database)
        killer.watch(database, graph.checkpointer)
        session = sw.Session("s", graph, database)
        outcome = session.outcome()
        while outcome.status not in ENDS:
            outcome = go_on(session, outcome, how=how)
    (place / f"{case}.points").write_text("\n".join(killer.passed))


def go_on(session: sw.Session, outcome: Outcome, *, how: str) -> Outcome:
    """Take a session one call further, answering what is asked.

    Args:
        session: The session.
        outcome: Where it stands.
        how: `sync` or `async`.

    Returns:
        Where it stands then.
    """
    if outcome.status == "new":
        given = {"log": ["in"]}
        return session.start(given) if how == "sync" else asyncio.run(session.astart(given))
    for ask in outcome.asks:
        found = session.database.asks.get(ask)
        if found.status == "open":
            session.claim(ask, "approve" if found.kind == "approve" else "reject", by=APPROVER)
    event = "release" if outcome.status == "waiting" and "HOLD" in outcome.path else None
    return session.resume(event) if how == "sync" else asyncio.run(session.aresume(event))
