"""The short inbox over PostgreSQL: killed, finished with `--resume`, and answered from other processes."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.crash_job.command import kill_run, stateward
from tests.crash_job.forks import KILLED
from tests.crash_job.messages import SHORT, write_short
from tests.crash_job.standing import Standing, look
from tests.crash_job.trial import words
from tests.postgres import Server

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Job:
    """A job over a server."""

    place: Path
    db: str

    def words(self, *, resume: bool) -> tuple[str, ...]:
        """The command line."""
        return words(self.place, self.place / "inbox.jsonl", resume=resume, db=self.db)

    def ask(self, command: str, *given: str) -> subprocess.CompletedProcess[str]:
        """Run another command on its database."""
        return stateward(command, *given, "--db", self.db)

    def look(self) -> Standing:
        """See where it stands."""
        return look(self.place, db=self.db)


def begin(place: Path, db: str) -> Job:
    write_short(place / "inbox.jsonl")
    return Job(place, db)


@pytest.fixture(scope="module")
def job(postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A job that was killed when a third of its sessions had ended, and finished by another process."""
    job = begin(tmp_path_factory.mktemp("killed"), postgres.url())
    assert kill_run(job.words(resume=False), after=10) == KILLED
    run = stateward(*job.words(resume=True))
    assert run.returncode == 0, run.stderr
    return job


def test_a_run_that_was_killed_is_finished_by_resume(job: Job) -> None:
    """Every message is delivered once, and every session has its end or waits."""
    standing = job.look()
    assert standing.heard == dict.fromkeys(SHORT, 1)
    assert standing.unfinished == []


def test_it_stands_as_one_that_nobody_killed(job: Job, postgres: Server, tmp_path: Path) -> None:
    """Sessions, effects, calls and questions are the same, and no effect happened twice."""
    whole = begin(tmp_path, postgres.url())
    run = stateward(*whole.words(resume=False))
    assert run.returncode == 0, run.stderr
    assert (job.look(), job.look().twice) == (whole.look(), 0)


def test_an_answer_from_another_process_runs_the_effect_once(job: Job) -> None:
    """Of two answers the second is refused."""
    before = sum(job.look().effects.values())
    (ask, *_) = [one for one in json.loads(job.ask("inbox", "--json").stdout) if one["tool"] == "issue_refund"]
    given = (ask["id"], "approve", "--by", "ann", "--set", f"config.shop={job.place / 'shop.db'}")
    first, second = (job.ask("answer", *given) for _ in range(2))
    assert (first.returncode, second.returncode, "`ann`" in second.stderr) == (0, 2, True), first.stderr
    assert (sum(job.look().effects.values()) - before, job.look().twice) == (1, 0)
