"""A session that sleeps until a timer is due, and gets an event while somebody runs it; to be killed anywhere.

`python -m tests.crash.sleeper FOLDER HOW`: lives the whole life once, then once for each point it passed: killed
there, and lived on by another process. One line of JSON for each tells where it was killed and what came of it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import stateward as sw
from stateward.run.graph import ChartGraph
from stateward.run.store.database import Database
from stateward.testing import ManualClock
from tests.charts.one import One
from tests.crash.fork import forked
from tests.crash.kill import Killer
from tests.crash.toy import Effects

NAP_S = 10.0


def build(effects: Effects, killer: Killer) -> ChartGraph:
    """NAP takes notes and ends after its time; RING leaves an effect."""

    @sw.tool(effect="idempotent")
    def ring(*, ctx: sw.ToolContext) -> str:
        """Leave an effect."""
        killer.pass_by("ring:before")
        effects.happen("ring", ctx.idempotency_key)
        killer.pass_by("ring:after")
        return "rung"

    async def bell(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [(await run.tool("ring")).status]}

    chart = sw.Chart(
        "sleeper",
        One,
        sw.State(
            "NAP",
            on=[
                sw.after(NAP_S, "RING", do=lambda state: {"log": ["woke"]}),
                sw.on("note", do=lambda state: {"log": ["note"]}),
            ],
        ),
        sw.State("RING", do=bell, tools=["ring"], to="REST"),
        sw.State("REST", on=[sw.after(NAP_S, "DONE", do=lambda state: {"log": ["rested"]})]),
        sw.Final("DONE"),
    )
    return chart.compile(tools=[ring])


def live(folder: Path, case: str, how: str, at: str | None) -> None:
    """Take the case to its end: sleep, get a note, wake twice."""
    killer, effects, clock = Killer(at), Effects(folder / f"{case}.effects"), ManualClock()
    with sw.open(f"sqlite:///{folder / case}.db", clock=clock) as database:
        graph = build(effects, killer).attach(database)
        killer.watch(database, graph.checkpointer)
        database.mailbox.post = killer.around("post", database.mailbox.post)
        session = sw.Session("s", graph, database)
        if session.outcome().status == "new":
            _call(how, lambda: session.start({"log": ["in"]}), lambda: session.astart({"log": ["in"]}))
        _go_on(session, how)
        if not database.mailbox.list("s"):
            _posted(database)
        for _ in range(2):
            _go_on(session, how)
            clock.advance(NAP_S)
        _go_on(session, how)
    (folder / f"{case}.points").write_text("\n".join(killer.passed))


def _posted(database: Database) -> None:
    """Post as somebody does who finds the session taken."""
    lease = database.leases.acquire("s")
    database.mailbox.post("s", "note")
    database.leases.release(lease)


def _go_on(session: sw.Session, how: str) -> None:
    _call(how, session.resume, session.aresume)


def _call(how: str, sync: Callable[[], Any], also: Callable[[], Any]) -> None:
    if how == "sync":
        sync()
    else:
        asyncio.run(also())


def tell(folder: Path, case: str) -> dict[str, Any]:
    """Read what a case came to."""
    effects = Effects(folder / f"{case}.effects")
    try:
        with sw.open(f"sqlite:///{folder / case}.db", clock=ManualClock()) as database:
            session = sw.Session("s", build(effects, Killer(None)).attach(database), database)
            letters = [letter.status for letter in database.mailbox.list("s")]
            log = session.outcome().values["log"]
            return {"status": session.outcome().status, "log": log, "letters": letters, "keys": effects.keys("ring")}
    finally:
        effects.close()


def main() -> None:
    """Live every case."""
    folder, how = Path(sys.argv[1]), sys.argv[2]
    assert forked(partial(live, folder, "whole", how, None)) == 0
    for place, point in enumerate((folder / "whole.points").read_text().splitlines()):
        case = f"case{place}"
        killed = forked(partial(live, folder, case, how, point))
        ended = forked(partial(live, folder, case, how, None))
        print(json.dumps({"at": point, "killed": killed, "ended": ended, **tell(folder, case)}), flush=True)


if __name__ == "__main__":
    main()
