"""Runs one process of the toy chart for every line of standard input; the imports are paid once.

`python -m tests.crash.zygote FOLDER`; each line is JSON with `chart`, `case`, `how` and `at`. A child takes the case as
far as it gets; the answer is its exit status, negative for a signal.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import stateward as sw
from stateward.run.session import Outcome
from tests.crash.beside import build as build_beside
from tests.crash.fork import forked
from tests.crash.kill import Killer
from tests.crash.toy import Effects, build

CHARTS = {"toy": build, "beside": build_beside}
"""The charts to be killed."""
ENDS = ("completed", "halted", "failed", "cancelled")


def live(folder: Path, job: Mapping[str, Any]) -> None:
    """Take a case to its end, answering what is asked, and write down what was passed."""
    killer = Killer(job["at"])
    effects = Effects(folder / f"{job['case']}.effects")
    with sw.open(f"sqlite:///{folder / job['case']}.db") as database:
        graph = CHARTS[job["chart"]](effects, killer).attach(database)
        killer.watch(database, graph.checkpointer)
        session = sw.Session("s", graph, database)
        outcome = session.outcome()
        while outcome.status not in ENDS:
            outcome = _go_on(session, outcome, job["how"])
    (folder / f"{job['case']}.points").write_text("\n".join(killer.passed))


def _go_on(session: sw.Session, outcome: Outcome, how: str) -> Outcome:
    if outcome.status == "new":
        return session.start({"log": ["in"]}) if how == "sync" else asyncio.run(session.astart({"log": ["in"]}))
    for ask in outcome.asks:
        found = session.database.asks.get(ask)
        if found.status == "open":
            session.claim(ask, "approve" if found.kind == "approve" else "reject", by="ann")
    event = "release" if outcome.status == "waiting" and "HOLD" in outcome.path else None
    return session.resume(event) if how == "sync" else asyncio.run(session.aresume(event))


def main() -> None:
    """Serve until standard input ends."""
    folder = Path(sys.argv[1])
    for line in sys.stdin:
        print(forked(partial(live, folder, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
