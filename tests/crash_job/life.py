"""One process in the life of one session of the support desk, which may end at a named point."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import stateward as sw
from graphs.support_desk import CONFIG, POLICY, DeskConfig, chart
from nodes.support_desk.activities import SupportDesk
from nodes.support_desk.encoder import WordLlama
from nodes.support_desk.job import SupportJob
from nodes.support_desk.shop import Shop
from nodes.support_desk.tools import desk_tools
from nodes.support_desk.triage import Triager
from nodes.support_desk.triage_rules import triage_rules
from stateward.config import load
from stateward.run.session import Outcome
from tests.crash.kill import Killer
from tests.crash_job.messages import rows

ENDS = ("completed", "halted", "failed", "cancelled")
EFFECTS = ("create_return", "issue_refund", "send_email")


class Living:
    """The desk with everything that can be loaded before the fork; its shop lies in the working directory."""

    def __init__(self) -> None:
        config = load(DeskConfig, CONFIG, env={}, prefix="config", overrides=())
        triager = Triager.of(triage_rules(config.triage, file=str(CONFIG)), encoder=WordLlama.open())
        self.shop = Shop("shop.db")
        desk = chart(SupportDesk(lambda: triager), policy=sw.load_policy(POLICY, env={}))
        self.graph = desk.compile(tools=desk_tools(self.shop))

    def live(self, line: Mapping[str, Any]) -> int:
        """Take a message's session from where it stands to its end; whoever is asked approves."""
        os.chdir(line["place"])
        killer = Killer(line["at"])
        for name in EFFECTS:
            setattr(self.shop, name, killer.around(f"shop.{name}", getattr(self.shop, name)))
        with self.shop, sw.open("sqlite:///stateward.db") as database:
            graph = self.graph.attach(database)
            saver: Any = graph.checkpointer
            saver.put = killer.around("put", saver.put)
            asyncio.run(_to_its_end(sw.Session("s", graph, database), message=line["message"]))
        Path("points.json").write_text(json.dumps(killer.passed))
        return 0


async def _to_its_end(session: sw.Session, *, message: str) -> None:
    outcome = session.outcome()
    while outcome.status not in ENDS:
        outcome = await _go_on(session, outcome, message=message)


async def _go_on(session: sw.Session, outcome: Outcome, *, message: str) -> Outcome:
    if outcome.status == "new":
        return await session.astart(SupportJob().input(rows(message)[0]))
    for ask in outcome.asks:
        if session.database.asks.get(ask).status == "open":
            session.claim(ask, "approve", by="ann")
    return await session.aresume()
