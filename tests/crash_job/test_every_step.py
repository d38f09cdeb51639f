"""SIGKILL before and after every checkpoint and every effect of one session of the support desk."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.crash_job.forks import KILLED, Life, Zygote
from tests.crash_job.standing import Standing, look

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Case:
    """One kill: what it left, and where the next process brought it."""

    at: str
    left: Standing
    end: Standing


@dataclass(frozen=True)
class Cases:
    """All kills of one message's session, and the run that nobody disturbed."""

    whole: Standing
    points: tuple[str, ...]
    killed: tuple[Case, ...]


@dataclass(frozen=True)
class Kills:
    """Kills the processes of one message's session."""

    folder: Path
    message: str

    def kill(self, zygote: Zygote, at: str) -> Case:
        """Kill a process at a point, and let another one go on."""
        name = at.translate(str.maketrans(":#.", "---"))
        left = self.live(zygote, name, at=at)
        return Case(at, left, self.live(zygote, name))

    def live(self, zygote: Zygote, name: str, *, at: str | None = None) -> Standing:
        """Let a process live, and look at what it leaves."""
        place = self.folder / name
        place.mkdir(exist_ok=True)
        status = zygote.run(Life(place=str(place), message=self.message, at=at)).status
        assert status == (KILLED if at else 0), at
        return look(place)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("m-017", id="refund that asks"),
        pytest.param("m-013", id="return and a letter that asks"),
        pytest.param("m-011", id="return that ends by itself"),
    ],
)
def cases(request: pytest.FixtureRequest, zygotes: tuple[Zygote, Zygote], tmp_path_factory) -> Cases:
    """Kill at every point a whole life passes."""
    kills = Kills(tmp_path_factory.mktemp("steps"), request.param)
    whole = kills.live(zygotes[0], "whole")
    points = json.loads((kills.folder / "whole" / "points.json").read_text())
    with ThreadPoolExecutor(2) as pool:
        halves = pool.map(lambda z: [kills.kill(zygotes[z], at) for at in points[z::2]], (0, 1))
        killed = tuple(case for half in halves for case in half)
    return Cases(whole, tuple(points), killed)


def test_undisturbed_session_passes_many_points(cases: Cases) -> None:
    """There is something to kill: each step commits, and each session has an effect."""
    assert sum(point.startswith("put:after") for point in cases.points) >= 10
    assert sum(cases.whole.effects.values()) >= 1
    assert len(cases.killed) == len(cases.points)


def test_every_kill_ends_as_the_undisturbed_run(cases: Cases) -> None:
    """State, terminal record, journal, questions and effects are the same wherever the process was killed."""
    assert [case.at for case in cases.killed if case.end != cases.whole] == []


def test_every_kill_ends_in_one_record(cases: Cases) -> None:
    """One run, one terminal record, one delivery of the message."""
    assert [case.at for case in cases.killed if case.end.unfinished or set(case.end.heard.values()) != {1}] == []


def test_no_kill_makes_an_effect_happen_twice(cases: Cases) -> None:
    """Neither under one idempotency key nor under two."""
    assert [case.at for case in cases.killed if case.end.twice] == []


def test_no_kill_leaves_a_session_that_looks_finished(cases: Cases) -> None:
    """What is left says completed exactly when its terminal record is there."""
    sessions = [(case.at, session) for case in cases.killed for session in case.left.sessions.values()]
    assert [at for at, session in sessions if (session.status == "completed") != bool(session.ends)] == []
    assert [at for at, session in sessions if session.status != session.row[0]] == []
