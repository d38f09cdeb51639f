"""Another process takes a message's whole way between our look at the session and our sending."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import stateward as sw
from nodes.support_desk.inbox import Row
from nodes.support_desk.job import SupportJob
from stateward.cli.display import progress
from stateward.cli.job_run import Report, Runner, plan_job
from stateward.cli.loading import load
from stateward.cli.stop import Stop
from tests.crash_job.forks import Command, Zygote
from tests.crash_job.messages import INBOX
from tests.crash_job.standing import look
from tests.crash_job.trial import words

pytestmark = pytest.mark.slow


@dataclass
class SlowJob(SupportJob):
    """A job that is so slow to send a message that another process has run the whole job by then."""

    zygote: Zygote
    order: Command
    statuses: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__init__()

    def input(self, item: Row) -> Mapping[str, Any]:
        """Let the other process live."""
        if not self.statuses:
            self.statuses = (self.zygote.run(self.order).status,)
        return super().input(item)


def test_message_that_another_process_delivered_is_not_sent_again(
    tmp_path: Path, zygotes: tuple[Zygote, Zygote]
) -> None:
    """The sending is refused, since the session was held since our look; there is one run and one end."""
    inbox = tmp_path / "inbox.jsonl"
    lines = INBOX.read_text(encoding="utf-8").splitlines()
    inbox.write_text(next(line for line in lines if '"m-011"' in line), encoding="utf-8")
    order = Command(words=words(tmp_path, inbox, resume=True), out=str(tmp_path / "run.json"))
    graph = load("support_desk", overrides=[f"config.shop={tmp_path / 'shop.db'}"]).graph
    with sw.open(f"sqlite:///{tmp_path / 'stateward.db'}") as database:
        job, report = SlowJob(zygotes[0], order), Report()
        plan = plan_job(job, job.read(inbox, columns={}), database=database)

        async def work() -> None:
            with progress(1) as display:
                runner = Runner(
                    graph=graph.attach(database),
                    database=database,
                    job=job,
                    resume=True,
                    drift="refuse",
                    display=display,
                    stop=Stop(),
                    report=report,
                )
                await runner.run(plan, concurrency=1)

        asyncio.run(work())
    (session,) = look(tmp_path).sessions.values()
    assert (job.statuses, session.row, session.ends) == ((0,), ("completed", 1), (("completed", ("DONE",)),))
    assert "went on" in str(report.table[0]["error"])
