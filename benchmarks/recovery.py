"""What is left after kills: the support desk's job, killed with SIGKILL at random moments and resumed until it ends.

`python -m benchmarks.recovery --kills 100` runs a short copy of the sample inbox again and again, each time killed up
to three times, and compares every database and shop with those of a job that nobody disturbed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from threading import Lock

from tests.crash_job.forks import Zygote
from tests.crash_job.messages import SHORT, write_short
from tests.crash_job.trial import Trial, Whole, killed, undisturbed

WORKERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The line of the table."""

    jobs: int
    kills: int
    """Kills that came before the end of their job."""
    messages: int
    """Messages of all jobs."""
    duplicates: int
    """Effects that happened more than once, and messages that were delivered more than once."""
    lost: int
    """Messages that were not delivered, and sessions without exactly one end."""
    wrong: int
    """Sessions, effects and rows that differ from the undisturbed job's."""
    recovered: int
    """Jobs that ended exactly as the undisturbed one."""


class Trials:
    """Runs jobs in several threads until enough kills have come.

    Args:
        folder: Where the jobs lie.
        whole: The undisturbed job.
        kills: How many are wanted, from 1.
        seed: Of the first job; each has its own.
    """

    def __init__(self, folder: Path, *, whole: Whole, kills: int, seed: int) -> None:
        self.done: list[Trial] = []
        self._folder = folder
        self._whole = whole
        self._wanted = kills
        self._seeds = count(seed)
        self._lock = Lock()

    def work(self, zygote: Zygote) -> None:
        """Run jobs until all have enough kills.

        Args:
            zygote: Forks the processes.
        """
        while sum(trial.kills for trial in self.done) < self._wanted:
            with self._lock:
                seed = next(self._seeds)
            trial = killed(zygote, self._folder / f"job{seed}", whole=self._whole, seed=seed)
            with self._lock:
                self.done.append(trial)


def judge(trials: Sequence[Trial], *, whole: Whole) -> Result:
    """Count what went wrong.

    Args:
        trials: The jobs.
        whole: The undisturbed job.

    Returns:
        The counts.
    """
    return Result(
        jobs=len(trials),
        kills=sum(trial.kills for trial in trials),
        messages=len(trials) * len(SHORT),
        duplicates=sum(_duplicates(trial) for trial in trials),
        lost=sum(_lost(trial) for trial in trials),
        wrong=sum(_wrong(trial, whole) for trial in trials),
        recovered=sum(trial.standing == whole.standing and trial.table == whole.table for trial in trials),
    )


def _duplicates(trial: Trial) -> int:
    return trial.standing.twice + sum(times - 1 for times in trial.standing.heard.values())


def _lost(trial: Trial) -> int:
    return len(set(SHORT) - set(trial.standing.heard)) + len(trial.standing.unfinished)


def _wrong(trial: Trial, whole: Whole) -> int:
    ours, theirs = trial.standing, whole.standing
    names = {*ours.sessions, *theirs.sessions}
    effects = {*ours.effects, *theirs.effects}
    rows = max(len(trial.table), len(whole.table))
    return (
        sum(ours.sessions.get(name) != theirs.sessions.get(name) for name in names)
        + sum(ours.effects.get(effect) != theirs.effects.get(effect) for effect in effects)
        + rows
        - sum(mine == other for mine, other in zip(trial.table, whole.table, strict=False))
    )


def run(*, kills: int, seed: int) -> Result:
    """Run an undisturbed job, then killed ones.

    Args:
        kills: How many kills are wanted, from 1.
        seed: Of the first job.

    Returns:
        The counts.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        zygotes = [stack.enter_context(Zygote()) for _ in range(WORKERS)]
        whole = undisturbed(zygotes[0], folder / "whole", inbox=write_short(folder / "inbox.jsonl"))
        trials = Trials(folder, whole=whole, kills=kills, seed=seed)
        with ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(trials.work, zygotes))
        return judge(trials.done, whole=whole)


def table(result: Result) -> str:
    """Lay the counts out for reading.

    Args:
        result: The counts.
    """
    facts = asdict(result)
    widths = {name: max(len(name), len(str(value))) for name, value in facts.items()}
    head = "  ".join(f"{name:>{widths[name]}}" for name in facts)
    return f"{head}\n" + "  ".join(f"{value:>{widths[name]}}" for name, value in facts.items())


def main(arguments: Sequence[str] | None = None) -> None:
    """Kill, resume, compare and print.

    Args:
        arguments: The command line without the program's name; the process's own by default.

    Raises:
        SystemExit: A job did not end as the undisturbed one.
    """
    parser = argparse.ArgumentParser(description="What is left after SIGKILL and --resume.")
    parser.add_argument("--kills", type=int, default=20, help="how many kills at least")
    parser.add_argument("--seed", type=int, default=0, help="chooses the moments")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(arguments)
    result = run(kills=options.kills, seed=options.seed)
    print(json.dumps(asdict(result), indent=2) if options.json else table(result))
    if result.recovered < result.jobs:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
