"""SIGKILL at random moments of the whole job, then `run --resume`, up to three times over."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.crash_job.forks import Zygote
from tests.crash_job.messages import SHORT, write_short
from tests.crash_job.trial import Trial, Whole, killed, undisturbed

pytestmark = pytest.mark.slow
JOBS = 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Where the jobs lie."""
    return tmp_path_factory.mktemp("moments")


@pytest.fixture(scope="module")
def whole(zygotes: tuple[Zygote, Zygote], folder: Path) -> Whole:
    """The job that nobody disturbs."""
    return undisturbed(zygotes[0], folder / "whole", inbox=write_short(folder / "inbox.jsonl"))


@pytest.fixture(scope="module")
def trials(zygotes: tuple[Zygote, Zygote], folder: Path, whole: Whole) -> list[Trial]:
    """The jobs that are killed."""

    def some(which: int) -> list[Trial]:
        seeds = range(which, JOBS, 2)
        return [killed(zygotes[which], folder / f"job{seed}", whole=whole, seed=seed) for seed in seeds]

    with ThreadPoolExecutor(2) as pool:
        return [trial for half in pool.map(some, (0, 1)) for trial in half]


def test_undisturbed_job_takes_every_way(whole: Whole) -> None:
    """Its messages end, ask and escalate, and it leaves effects: there is something to lose."""
    assert len(whole.table) == len(SHORT)
    assert {row["status"] for row in whole.table} == {"completed", "waiting"}
    assert {row["state"] for row in whole.table} == {"DONE", "ESCALATED", "WORKING.ACT.ask"}
    assert sum(whole.standing.effects.values()) >= 4
    assert (whole.standing.twice, whole.standing.unfinished) == (0, [])


def test_kills_come_in_the_middle(trials: list[Trial]) -> None:
    """At least twenty moments lay before the end of a job."""
    assert sum(trial.kills for trial in trials) >= JOBS


def test_every_job_ends_well(trials: list[Trial]) -> None:
    """The last `run --resume` says that all is done."""
    assert {trial.seed: trial.status for trial in trials if trial.status} == {}


def test_every_message_is_delivered_once(trials: list[Trial]) -> None:
    """None is lost, and none is heard twice."""
    once = dict.fromkeys(SHORT, 1)
    assert [trial.seed for trial in trials if trial.standing.heard != once] == []


def test_every_message_ends_in_one_record(trials: list[Trial]) -> None:
    """Each run has exactly one terminal record, or its session waits."""
    assert {trial.seed: trial.standing.unfinished for trial in trials if trial.standing.unfinished} == {}


def test_no_effect_happens_twice(trials: list[Trial], whole: Whole) -> None:
    """The shop has the effects of the undisturbed job, each once."""
    assert [trial.seed for trial in trials if trial.standing.twice] == []
    assert [trial.seed for trial in trials if trial.standing.effects != whole.standing.effects] == []


def test_every_session_ends_as_in_the_undisturbed_job(trials: list[Trial], whole: Whole) -> None:
    """State, records, journal and questions are the same."""
    assert [trial.seed for trial in trials if trial.standing != whole.standing] == []


def test_table_is_that_of_the_undisturbed_job(trials: list[Trial], whole: Whole) -> None:
    """Who resumes gets the same table, row by row."""
    assert [trial.seed for trial in trials if trial.table != whole.table] == []
