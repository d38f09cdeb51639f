"""The runner of jobs: stopping."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from stateward.cli.job_run import Report, Runner, plan_job
from stateward.cli.loading import load
from stateward.cli.stop import Stop

LINES = tuple({"id": f"m{number}", "text": "hello"} for number in range(4))


@dataclass
class Stopper:
    """A display that asks for a stop at a moment."""

    stop: Stop
    moment: str

    def begin(self, session: str) -> None:
        """Do nothing."""

    def move(self, session: str, *, state: str) -> None:
        """Stop when a state is entered."""
        if state == self.moment and not self.stop.requested:
            self.stop.request()

    def end(self, session: str, *, status: str, state: str) -> None:
        """Stop when a session is done."""
        self.move(session, state="end")


def run_stopped(shell, database, *, moment: str) -> Report:
    loaded = load("toy_desk")
    job, report = loaded.job(), Report()
    plan = plan_job(job, job.read(Path(shell.inbox(*LINES)), columns={}), database=database)

    async def work() -> None:
        stop = Stop()
        runner = Runner(
            graph=loaded.graph.attach(database),
            database=database,
            job=job,
            resume=False,
            drift="refuse",
            display=Stopper(stop, moment),
            stop=stop,
            report=report,
        )
        await runner.run(plan, concurrency=1)

    asyncio.run(work())
    return report


def test_a_stop_between_sessions_begins_no_other(shell, database):
    """What is done stays done, the rest is not touched."""
    report = run_stopped(shell, database, moment="end")
    assert (report.stopped, report.done, report.begun) == (True, 1, 1)
    assert [row.status for row in database.sessions.list()] == ["completed"]


def test_a_stop_in_a_state_ends_the_run_at_its_next_checkpoint(shell, database):
    """The step is committed, the lease is free, and --resume finishes the session."""
    report = run_stopped(shell, database, moment="WORKING.ACT")
    row = database.sessions.get("case-m0")
    assert (report.stopped, report.done, report.begun) == (True, 0, 1)
    assert (row.status, row.path, row.stalled) == ("running", ("WORKING.CLOSE",), True)
    rows = shell.json("run", "toy_desk", str(shell.folder / "inbox.jsonl"), "--resume")["rows"]
    assert {row["status"] for row in rows} == {"completed"}


def test_a_call_that_takes_longer_than_the_grace_is_cancelled(shell, database, monkeypatch):
    """The lease is free at once, and the session is finished later."""
    monkeypatch.setattr("stateward.cli.stop.GRACE_S", 0.05)
    monkeypatch.setenv("TOY_PAUSE_S", "60")
    report = run_stopped(shell, database, moment="WORKING.ACT")
    assert (report.stopped, report.done, database.leases.held("case-m0")) == (True, 0, None)
    monkeypatch.setenv("TOY_PAUSE_S", "0")
    rows = shell.json("run", "toy_desk", str(shell.folder / "inbox.jsonl"), "--resume")["rows"]
    assert {row["status"] for row in rows} == {"completed"}
