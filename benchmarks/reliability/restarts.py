"""Proof 4: PostgreSQL is stopped at once and started again, every few seconds, while runs are at work.

`pg_ctl restart -m immediate` is what a crash of the server looks like: nothing is written back, every connection
breaks, and the server recovers from its log. A call that fails with a typed error is made again; nothing else is done.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from random import Random

import stateward as sw
from benchmarks.reliability.figure import Figure, Tick, at_least, exactly, told
from benchmarks.reliability.place import Place
from benchmarks.reliability.verdict import is_misreported, is_wrong, lost, twice
from benchmarks.reliability.victim import Moment, World, look, session_of
from stateward.errors import StatewardError
from stateward.run.store.database import Database
from tests.crash.live import ENDS, go_on

RUNS, SMALL_RUNS = 500, 8
WORKERS = 8
EVERY_S, SMALL_EVERY_S = (2.0, 5.0), (0.2, 0.4)
SMALL_RESTARTS = 2
PATIENCE_S = 120.0
"""How long one run may take, in seconds."""
PAUSE_S = 0.1


class Restarts:
    """Restarts the server again and again.

    Args:
        place: Has the server.
        every_s: Seconds between two restarts, from and to.
        most: After how many it is enough; None for never.
    """

    def __init__(self, place: Place, *, every_s: tuple[float, float], most: int | None = None) -> None:
        assert place.server is not None, "only PostgreSQL has a server"
        self.done = 0
        self.first = threading.Event()
        """Set after the first one."""
        self._server = place.server
        self._every_s = every_s
        self._most = most
        self._stop = threading.Event()

    @contextmanager
    def going_on(self) -> Generator[Restarts]:
        """Restart the server as long as the block; it runs afterwards.

        Yields:
            The restarts themselves.
        """
        thread = threading.Thread(target=self._work, name="restarts")
        thread.start()
        try:
            yield self
        finally:
            self._stop.set()
            thread.join()

    def _work(self) -> None:
        random = Random(0)
        while self.done != self._most and not self._stop.wait(random.uniform(*self._every_s)):
            self._server.restart()
            self.done += 1
            self.first.set()


class Runs:
    """Takes sessions to their ends.

    Args:
        database: Where they are kept.
        folder: Where their worlds lie.
        how: `sync` or `async`.
    """

    def __init__(self, database: Database, *, folder: Path, how: str) -> None:
        self.errors: Counter[str] = Counter()
        """How often a call raised, by the error's type."""
        self.untyped = 0
        self._database = database
        self._folder = folder
        self._how = how
        self._guard = threading.Lock()

    def run(self, case: str) -> None:
        """Take one session to its end.

        Args:
            case: Its id.
        """
        session = session_of(self._database, case=case, world=World(self._folder / f"{case}.world"))
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            try:
                outcome = session.outcome()
                while outcome.status not in ENDS:
                    outcome = go_on(session, outcome, how=self._how)
                return
            except Exception as error:  # noqa: BLE001  # it is counted, and the call is made again
                with self._guard:
                    self.errors[type(error).__name__] += 1
                    self.untyped += not isinstance(error, StatewardError)
            time.sleep(PAUSE_S)


def prove(place: Place, *, how: str, small: bool, tick: Tick) -> list[Figure]:
    """Restart the server under runs.

    Args:
        place: Has the server.
        how: `sync` or `async`.
        small: Make few runs.
        tick: Told how far it is.

    Returns:
        The figures.
    """
    folder = place.room()
    cases = [f"r{number}" for number in range(SMALL_RUNS if small else RUNS)]
    with sw.open(place.url()) as database:
        runs = Runs(database, folder=folder, how=how)
        few = Restarts(place, every_s=SMALL_EVERY_S, most=SMALL_RESTARTS)
        restarts = few if small else Restarts(place, every_s=EVERY_S)
        with restarts.going_on(), ThreadPoolExecutor(WORKERS) as pool:
            for number, _ in enumerate(pool.map(runs.run, cases), start=1):
                tick(number / len(cases))
            restarts.first.wait(PATIENCE_S)
        ends = [look(database, case=case, folder=folder) for case in cases]
    return judge(ends, runs=runs, restarts=restarts.done)


def judge(ends: Sequence[Moment], *, runs: Runs, restarts: int) -> list[Figure]:
    """Count what went wrong.

    Args:
        ends: What is told of each session at its end.
        runs: What their calls raised.
        restarts: How often the server was restarted.

    Returns:
        The figures.
    """
    return [
        told("runs", len(ends)),
        at_least("restarts of the server", restarts, limit=1),
        exactly("runs without an end", sum(end.status not in ENDS for end in ends)),
        exactly("wrong final states", sum(map(is_wrong, ends))),
        exactly("ends without a terminal record", sum(map(is_misreported, ends))),
        exactly("`once` effects that happened twice", sum(map(twice, ends))),
        exactly("effects lost without a word", sum(map(lost, ends))),
        exactly("errors without a type of ours", runs.untyped),
        told("calls made again after a typed error", sum(runs.errors.values()) - runs.untyped),
    ]
