"""The whole job through the command line: undisturbed, and killed at random moments and resumed until it ends."""

from __future__ import annotations

import json
import random
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from tests.crash_job.forks import KILLED, Command, Zygote
from tests.crash_job.standing import Standing, look

Table = Sequence[Mapping[str, object]]
KILLS = 3
"""How often one job is killed at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A job that nobody disturbed."""

    inbox: Path
    table: Table
    standing: Standing
    first_s: float
    """When its first session began, in seconds after the start of the process."""
    last_s: float
    """When its process ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A job that was killed and resumed until it ended."""

    seed: int
    kills: int
    """How many kills came before the job's end."""
    status: int
    """The exit code of the process that ended it."""
    table: Table
    standing: Standing


def words(place: Path, inbox: Path, *, resume: bool, db: str | None = None) -> tuple[str, ...]:
    """Return the command line of a job.

    Args:
        place: The folder of its files.
        inbox: Its messages.
        resume: Whether it was begun before.
        db: The URL of the database, when it is not in the folder.
    """
    files = (f"config.shop={place / 'shop.db'}", "--db", db or f"sqlite:///{place / 'stateward.db'}")
    return ("run", "support_desk", str(inbox), *files, "--json", *(["--resume"] if resume else []))


def table(out: Path) -> Table:
    """Read the table that a job printed as JSON.

    Args:
        out: Its standard output.
    """
    return json.loads(out.read_text(encoding="utf-8"))["rows"]


def undisturbed(zygote: Zygote, place: Path, *, inbox: Path) -> Whole:
    """Run a job from start to end.

    Args:
        zygote: Forks its process.
        place: The folder of its files, which is made.
        inbox: Its messages.
    """
    place.mkdir()
    out = place / "run.json"
    died = zygote.run(Command(words=words(place, inbox, resume=False), out=str(out)))
    last_s = time.time() - died.began
    assert died.status == 0, out.with_suffix(".err").read_text()
    with closing(sqlite3.connect(place / "stateward.db")) as db:
        ((first,),) = db.execute("SELECT min(created_at) FROM stateward_sessions")
    return Whole(inbox=inbox, table=table(out), standing=look(place), first_s=first - died.began, last_s=last_s)


def killed(zygote: Zygote, place: Path, *, whole: Whole, seed: int) -> Trial:
    """Run a job, kill it at up to three random moments, and resume it after each.

    Args:
        zygote: Forks its processes.
        place: The folder of its files, which is made.
        whole: The undisturbed job; the moments lie in its span.
        seed: Chooses the moments.

    Returns:
        The job, killed at least once: one that was over before its first moment, because it had the machine to itself
        and the undisturbed one had not, is run again with earlier moments.
    """
    trial = _killed(zygote, place, whole=whole, seed=seed)
    if trial.kills:
        return trial
    sooner = replace(whole, first_s=whole.first_s / 2, last_s=whole.last_s / 2)
    return killed(zygote, place / "again", whole=sooner, seed=seed)


def _killed(zygote: Zygote, place: Path, *, whole: Whole, seed: int) -> Trial:
    place.mkdir()
    choose = random.Random(seed)
    kills = 0
    while True:
        moment = choose.uniform(whole.first_s, whole.last_s) if kills < KILLS else None
        out = place / f"run{kills}.json"
        order = words(place, whole.inbox, resume=kills > 0)
        died = zygote.run(Command(words=order, out=str(out), kill_after_s=moment))
        if died.status != KILLED:
            break
        kills += 1
    rows = table(out) if died.status in (0, 1) else ()
    return Trial(seed=seed, kills=kills, status=died.status, table=rows, standing=look(place))
