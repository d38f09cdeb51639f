"""One case: processes that are killed, what the last one left, and where the next one brought it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import stateward as sw
from stateward.run.session import Outcome
from stateward.run.store.entry import Entry
from tests.crash.kill import Killer
from tests.crash.toy import TOOLS, Effects
from tests.crash.zygote import CHARTS

ROOT = Path(__file__).parents[2]
KILLED = -9


@dataclass(frozen=True)
class Moment:
    """What the files say at one moment."""

    outcome: Outcome
    ended: bool
    journal: tuple[Entry, ...]
    effects: dict[str, list[str]]

    def completed(self, tool: str) -> bool:
        return any(entry.name == tool and entry.status == "completed" for entry in self.journal)


@dataclass(frozen=True)
class Case:
    """Some kills: what the last one left, and where the next process brought it."""

    at: tuple[str, ...]
    left: Moment
    end: Moment


def repeated(cases: Sequence[Case]) -> list[tuple[tuple[str, ...], str]]:
    """Return the cases, and the tool, in which an effect the journal calls completed at the kill happened again."""
    return [
        (case.at, tool)
        for case in cases
        for tool in TOOLS
        if case.left.completed(tool) and len(case.end.effects[tool]) != len(case.left.effects[tool])
    ]


class Zygote:
    """A process that forks one child for every job.

    Args:
        folder: Where cases keep their files.
        chart: Which of the charts of `tests.crash.zygote` they run.
    """

    def __init__(self, folder: Path, *, chart: str) -> None:
        self.folder = folder
        self.chart = chart
        command = [sys.executable, "-m", "tests.crash.zygote", str(folder)]
        self.process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def live(self, case: str, how: str, at: str | None = None) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"chart": self.chart, "case": case, "how": how, "at": at}) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def look(folder: Path, case: str, *, chart: str) -> Moment:
    """Read what a case has left, without changing it."""
    effects = Effects(folder / f"{case}.effects")
    try:
        with sw.open(f"sqlite:///{folder / case}.db") as database:
            session = sw.Session("s", CHARTS[chart](effects, Killer(None)).attach(database), database)
            return Moment(
                outcome=session.outcome(),
                ended=bool(database.sessions.terminals("s")),
                journal=database.journal.entries("s"),
                effects={tool: effects.keys(tool) for tool in TOOLS},
            )
    finally:
        effects.close()


def killed(folder: Path, *, chart: str, how: str, also: Sequence[tuple[str, ...]] = ()) -> Iterator[list[Case]]:
    """Kill at every point a whole run passes; two zygotes share the work.

    Args:
        folder: Where the cases keep their files.
        chart: Which chart.
        how: Sync or async.
        also: Kills in one after the other process.
    """
    zygotes = [Zygote(folder, chart=chart), Zygote(folder, chart=chart)]
    try:
        assert zygotes[0].live("whole", how) == 0
        points = (folder / "whole.points").read_text().splitlines()
        with ThreadPoolExecutor(2) as pool:
            kills = [*((point,) for point in points), *also]
            halves = pool.map(lambda z: _kills(zygotes[z], kills[z::2], how), (0, 1))
            yield [case for half in halves for case in half]
    finally:
        for zygote in zygotes:
            zygote.close()


def _kills(zygote: Zygote, kills: list[tuple[str, ...]], how: str) -> list[Case]:
    return [_kill(zygote, at, how) for at in kills]


def _kill(zygote: Zygote, at: tuple[str, ...], how: str) -> Case:
    case = "-then-".join(at).replace(":", "-").replace("#", "-")
    for point in at:
        assert zygote.live(case, how, point) == KILLED, at
    left = look(zygote.folder, case, chart=zygote.chart)
    assert zygote.live(case, how) == 0, at
    return Case(at, left, look(zygote.folder, case, chart=zygote.chart))
