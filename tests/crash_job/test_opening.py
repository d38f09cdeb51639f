"""A fresh database, opened by two processes at once, or by one that is killed while it makes the tables."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.crash_job.forks import Command, Zygote
from tests.crash_job.trial import words

pytestmark = pytest.mark.slow
TIMES = 8


def order(place: Path, *, name: str = "run", kill_after_s: float | None = None) -> Command:
    """Return a job whose only row is bad: it opens everything, and ends with 1."""
    place.mkdir(exist_ok=True)
    inbox = place / "inbox.jsonl"
    inbox.write_text("{}\n", encoding="utf-8")
    return Command(words=words(place, inbox, resume=True), out=str(place / f"{name}.json"), kill_after_s=kill_after_s)


def test_two_processes_make_the_tables_at_once(tmp_path: Path, zygotes: tuple[Zygote, Zygote]) -> None:
    """Neither stumbles over what the other has made."""
    with ThreadPoolExecutor(2) as pool:
        for number in range(TIMES):
            orders = [order(tmp_path / f"{number}", name=name) for name in ("one", "other")]
            died = pool.map(lambda pair: pair[0].run(pair[1]).status, zip(zygotes, orders, strict=True))
            assert list(died) == [1, 1], number


def test_database_can_be_opened_after_a_kill_at_its_making(tmp_path: Path, zygotes: tuple[Zygote, Zygote]) -> None:
    """Whatever was made by then, the next process makes the rest."""
    choose = random.Random(0)
    for number in range(TIMES):
        place = tmp_path / f"{number}"
        zygotes[0].run(order(place, kill_after_s=choose.uniform(0.1, 0.4)))
        assert zygotes[0].run(order(place)).status == 1, number
