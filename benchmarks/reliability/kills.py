"""Proof 1: SIGKILL at every boundary a run passes, then another process goes on.

A whole run says which boundaries there are: before and after each effect, each `put` and `put_writes` of the saver,
each entry of the journal, each ask and answer, each lease. Then a process is killed at each of them. The first seed
kills once; each further seed kills the process that took over, too, at a boundary it chooses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from random import Random

import stateward as sw
from benchmarks.reliability.figure import Figure, Tick, exactly, told
from benchmarks.reliability.place import Place
from benchmarks.reliability.verdict import is_misreported, is_surfaced, is_wrong, lost, rekeyed, twice
from benchmarks.reliability.victim import WORK, Moment, look
from stateward.run.store.database import Database
from tests.crash.live import ENDS
from tests.crash.zygote import KILLED, Zygote

SEEDS, SMALL_EVERY = 5, 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One session: what its kills left, and where the last process brought it."""

    left: tuple[Moment, ...]
    """After each kill."""
    end: Moment


class Bench:
    """One worker's zygote, database and folder.

    Args:
        zygote: Forks the processes.
        place: Where it may make the others.
        how: `sync` or `async`.
        stack: Closes the database.
    """

    def __init__(self, zygote: Zygote, *, place: Place, how: str, stack: ExitStack) -> None:
        self.folder = place.room()
        self._how = how
        self._url = place.url()
        self._zygote = zygote
        self._database: Database = stack.enter_context(sw.open(self._url))

    def live(self, case: str, *, at: str | None = None) -> int:
        """Take a case on in a process of its own.

        Args:
            case: The session's id.
            at: Where the process is killed.

        Returns:
            Its exit status.
        """
        return self._zygote.live(WORK, url=self._url, folder=str(self.folder), case=case, how=self._how, at=at)

    def kill(self, name: str, *, at: Sequence[str]) -> Case:
        """Kill a case once or more, and let another process bring it to its end.

        Args:
            name: The session's id.
            at: The boundary of each kill.

        Returns:
            The case.
        """
        left: list[Moment] = []
        for point in at:
            if self.live(name, at=point) == KILLED:
                left.append(look(self._database, case=name, folder=self.folder))
        status = self.live(name)
        assert status == 0, f"{name} {at}: the last process ended with {status}"
        end = look(self._database, case=name, folder=self.folder)
        return Case(left=tuple(left), end=end)


def plan(points: Sequence[str], *, seeds: int, every: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Say which sessions are killed where.

    Args:
        points: The boundaries of a whole run.
        seeds: How many passes over them, from 1.
        every: Take each n-th boundary.

    Yields:
        A session's id, and its boundaries.
    """
    for seed in range(seeds):
        random = Random(seed)
        for number, point in enumerate(points[seed % every :: every]):
            second = (random.choice(points).partition("#")[0] + f"#{random.randint(1, 3)}",) if seed else ()
            yield f"s{seed}-{number}", (point, *second)


def prove(place: Place, *, how: str, small: bool, tick: Tick) -> list[Figure]:
    """Kill at every boundary.

    Args:
        place: Where databases and files go.
        how: `sync` or `async`.
        small: Take few of them.
        tick: Told how far it is.

    Returns:
        The figures.
    """
    with ExitStack() as stack:
        benches = [Bench(zygote, place=place, how=how, stack=stack) for zygote in place.zygotes]
        assert benches[0].live("whole") == 0, "a run that nobody disturbs ends well"
        points = (benches[0].folder / "whole.points").read_text().splitlines()
        planned = list(plan(points, seeds=2 if small else SEEDS, every=SMALL_EVERY if small else 1))

        def half(which: int) -> list[Case]:
            mine = planned[which :: len(benches)]
            done: list[Case] = []
            for name, at in mine:
                done.append(benches[which].kill(name, at=at))
                tick(len(done) / len(mine))
            return done

        with ThreadPoolExecutor(len(benches)) as pool:
            cases = list(chain.from_iterable(pool.map(half, range(len(benches)))))
    return judge(cases, boundaries=len(points))


def judge(cases: Sequence[Case], *, boundaries: int) -> list[Figure]:
    """Count what went wrong.

    Args:
        cases: The sessions.
        boundaries: How many a whole run passes.

    Returns:
        The figures.
    """
    ends = [case.end for case in cases]
    left = [moment for case in cases for moment in case.left]
    return [
        told("boundaries of a run", boundaries),
        told("sessions", len(cases)),
        told("kills", len(left)),
        exactly("`once` effects that happened twice", sum(map(twice, ends))),
        exactly("effects repeated under another key", sum(map(rekeyed, ends))),
        exactly("effects lost without a word", sum(map(lost, ends))),
        exactly("wrong final states", sum(map(is_wrong, ends))),
        exactly("unfinished runs called finished", sum(map(is_misreported, [*left, *ends]))),
        exactly("neither recovered nor surfaced", sum(end.status not in ENDS for end in ends)),
        told("calls of unknown end put to a person", sum(map(is_surfaced, ends))),
    ]
