"""SIGKILL at every boundary of a run, then a new process: nothing done is done again, nothing open is called done."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

import stateward as sw
from stateward.run.session import Outcome
from stateward.run.store.entry import Entry
from tests.crash.kill import Killer
from tests.crash.toy import TOOLS, Effects, build

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
KILLED = -9
TWICE = (
    ("pay:after#1", "pay:after#1"),
    ("mail:after#1", "journal.settle:before#1"),
    ("post:after#1", "asks.create:after#1"),
    ("post:after#1", "asks.answer:after#1"),
    ("saver.put:before#6", "saver.put:before#1"),
    ("asks.answer:after#1", "refund:after#1"),
)
"""A second kill, at a point of the process that took over from the first."""


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


class Zygote:
    """A process that forks one child for every job."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        command = [sys.executable, "-m", "tests.crash.zygote", str(folder)]
        self.process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def live(self, case: str, how: str, at: str | None = None) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"case": case, "how": how, "at": at}) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def look(folder: Path, case: str) -> Moment:
    """Read what a case has left, without changing it."""
    effects = Effects(folder / f"{case}.effects")
    try:
        with sw.open(f"sqlite:///{folder / case}.db") as database:
            session = sw.Session("s", build(effects, Killer(None)).attach(database), database)
            return Moment(
                outcome=session.outcome(),
                ended=bool(database.sessions.terminals("s")),
                journal=database.journal.entries("s"),
                effects={tool: effects.keys(tool) for tool in TOOLS},
            )
    finally:
        effects.close()


@pytest.fixture(scope="module", params=["sync", "async"])
def cases(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Case]]:
    """Kill at every point a whole run passes; two zygotes share the work."""
    folder, how = tmp_path_factory.mktemp("crash"), request.param
    zygotes = [Zygote(folder), Zygote(folder)]
    try:
        assert zygotes[0].live("whole", how) == 0
        points = (folder / "whole.points").read_text().splitlines()
        with ThreadPoolExecutor(2) as pool:
            kills = [*((point,) for point in points), *TWICE]
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
    left = look(zygote.folder, case)
    assert zygote.live(case, how) == 0, at
    return Case(at, left, look(zygote.folder, case))


def test_every_killed_run_reaches_its_end(cases: list[Case]) -> None:
    """Whatever was cut off, the next process brings the case to DONE."""
    assert len(cases) > 60
    assert {
        case.at for case in cases if (case.end.outcome.status, case.end.outcome.path) != ("completed", "DONE")
    } == set()


def test_completed_effect_never_happens_twice(cases: list[Case]) -> None:
    """What the journal calls completed at the kill has happened as often at the end."""
    again = [
        (case.at, tool)
        for case in cases
        for tool in TOOLS
        if case.left.completed(tool) and len(case.end.effects[tool]) != len(case.left.effects[tool])
    ]
    assert again == []


def test_once_effect_never_happens_twice(cases: list[Case]) -> None:
    """Neither with a look-up nor without one."""
    assert [(c.at, t) for c in cases for t in ("mail", "post") if len(c.end.effects[t]) > 1] == []


def test_repeated_effect_has_the_same_key(cases: list[Case]) -> None:
    """What is safe to repeat is repeated at most once a kill, under its idempotency key."""
    wrong = [
        (c.at, t) for c in cases for t, keys in c.end.effects.items() if len(set(keys)) > 1 or len(keys) > 1 + len(c.at)
    ]
    assert wrong == []


def test_every_effect_but_the_unknown_ones_has_happened(cases: list[Case]) -> None:
    """Nothing is lost: only a `once` call nobody could look up, which a person left alone, may be missing."""
    missing = {(c.at, t) for c in cases for t, keys in c.end.effects.items() if not keys}
    assert missing <= {(("journal.begin:after#5",), "post"), (("post:before#1",), "post")}


def test_unfinished_run_is_never_called_finished(cases: list[Case]) -> None:
    """At the moment of the kill, a terminal record stands exactly where the last checkpoint says completed."""
    assert [c.at for c in cases if c.left.ended != (c.left.outcome.status == "completed")] == []


def test_log_tells_each_state_once(cases: list[Case]) -> None:
    """No step is committed twice and none is skipped."""
    done = ["in", "look ok", "pay ok", "mail ok", "refund ok"]
    ends = {tuple(case.end.outcome.values["log"]) for case in cases}
    assert ends <= {(*done, f"post {word}", "closed") for word in ("ok", "unknown")}


def test_ledger_counts_each_call_once(cases: list[Case]) -> None:
    """Repeating a call costs nothing more: five calls of one try or two, none left open."""
    assert {len(case.end.journal) for case in cases} == {5}
    assert {e.status for c in cases for e in c.end.journal} <= {"completed", "unknown"}
