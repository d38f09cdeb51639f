"""One case: processes that are killed, what the last one left, and where the next one brought it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import stateward as sw
from stateward.run.session import Outcome
from stateward.run.store.entry import Entry
from tests.crash.kill import Killer
from tests.crash.live import CHARTS, WORK
from tests.crash.toy import TOOLS, Effects
from tests.crash.zygote import KILLED, Zygote


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


@dataclass(frozen=True)
class Bench:
    """One worker's zygote, and what its cases have in common."""

    zygote: Zygote
    folder: Path
    """Where they keep their files."""
    chart: str
    """Which of the charts of `tests.crash.live` they run."""
    how: str

    def live(self, case: str, at: str | None = None) -> int:
        """Take a case on in a process of its own; return its exit status."""
        return self.zygote.live(WORK, folder=str(self.folder), chart=self.chart, case=case, how=self.how, at=at)


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
    with Zygote() as one, Zygote() as other:
        benches = [Bench(zygote, folder, chart, how) for zygote in (one, other)]
        assert benches[0].live("whole") == 0
        points = (folder / "whole.points").read_text().splitlines()
        with ThreadPoolExecutor(2) as pool:
            kills = [*((point,) for point in points), *also]
            halves = pool.map(_kills, benches, (kills[::2], kills[1::2]))
            yield [case for half in halves for case in half]


def _kills(bench: Bench, kills: list[tuple[str, ...]]) -> list[Case]:
    return [_kill(bench, at) for at in kills]


def _kill(bench: Bench, at: tuple[str, ...]) -> Case:
    case = "-then-".join(at).replace(":", "-").replace("#", "-")
    for point in at:
        assert bench.live(case, point) == KILLED, at
    left = look(bench.folder, case, chart=bench.chart)
    assert bench.live(case) == 0, at
    return Case(at, left, look(bench.folder, case, chart=bench.chart))
