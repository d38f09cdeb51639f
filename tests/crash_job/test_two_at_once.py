"""Two processes run the same job over the same database at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.crash_job.forks import Command, Zygote
from tests.crash_job.messages import write_short
from tests.crash_job.standing import Standing, look
from tests.crash_job.trial import Table, Whole, table, undisturbed, words

pytestmark = pytest.mark.slow
RACES = 4
HELD = ("is held by process", "went on in another process")


@dataclass(frozen=True)
class Race:
    """Two processes, and one that looks after them."""

    statuses: tuple[int, ...]
    tables: tuple[Table, ...]
    between: Standing
    """When both have ended."""
    status: int
    after: Table
    end: Standing


@pytest.fixture(scope="module")
def whole(zygotes: tuple[Zygote, Zygote], tmp_path_factory) -> Whole:
    """The job that one process runs alone."""
    folder = tmp_path_factory.mktemp("alone")
    return undisturbed(zygotes[0], folder / "whole", inbox=write_short(folder / "inbox.jsonl"))


@pytest.fixture(scope="module")
def races(zygotes: tuple[Zygote, Zygote], whole: Whole, tmp_path_factory) -> list[Race]:
    """Some races, since no two go alike."""
    return [_race(zygotes, tmp_path_factory.mktemp("race"), inbox=whole.inbox) for _ in range(RACES)]


def _race(zygotes: tuple[Zygote, Zygote], place: Path, *, inbox: Path) -> Race:
    order = words(place, inbox, resume=True)
    outs = [place / f"run{number}.json" for number in range(3)]
    with ThreadPoolExecutor(2) as pool:
        died = list(pool.map(lambda n: zygotes[n].run(Command(words=order, out=str(outs[n]))), (0, 1)))
    between = look(place)
    last = zygotes[0].run(Command(words=order, out=str(outs[2])))
    return Race(
        statuses=tuple(one.status for one in died),
        tables=tuple(table(out) for out in outs[:2]),
        between=between,
        status=last.status,
        after=table(outs[2]),
        end=look(place),
    )


def test_both_end_and_complain_only_of_each_other(races: list[Race]) -> None:
    """What one process cannot have because the other holds it is told in its row."""
    assert [race.statuses for race in races if not set(race.statuses) <= {0, 1}] == []
    errors = [str(row["error"]) for race in races for rows in race.tables for row in rows if "error" in row]
    assert [error for error in errors if not any(held in error for held in HELD)] == []


def test_no_message_is_lost_or_heard_twice(races: list[Race], whole: Whole) -> None:
    """When both have ended, every message was delivered once and its run has ended or waits."""
    assert [race.between.heard for race in races if race.between.heard != whole.standing.heard] == []
    assert [race.between.unfinished for race in races if race.between.unfinished] == []


def test_no_effect_happens_twice(races: list[Race], whole: Whole) -> None:
    """The shop has the effects of the job that ran alone."""
    assert [race.between.effects for race in races if race.between.effects != whole.standing.effects] == []
    assert [race.between.twice for race in races if race.between.twice] == []


def test_whoever_comes_after_finds_the_job_done(races: list[Race], whole: Whole) -> None:
    """A third process has nothing left to do and shows the table of the job that ran alone."""
    assert [race.status for race in races] == [0] * RACES
    assert [race.end for race in races if race.end != whole.standing] == []
    assert [race.after for race in races if race.after != whole.table] == []
