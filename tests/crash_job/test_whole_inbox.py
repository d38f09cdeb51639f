"""The sample inbox through `stateward run`, killed three times; then its asks are answered from other processes."""

from __future__ import annotations

import json
import random
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from nodes.support_desk.shop import Shop
from tests.crash_job.command import kill_run, stateward
from tests.crash_job.forks import KILLED
from tests.crash_job.messages import INBOX, rows
from tests.crash_job.standing import Standing, look
from tests.crash_job.trial import table, words

pytestmark = pytest.mark.slow
SEED = 2
ASKED = {"m-017": "issue_refund", "m-013": "send_email"}
"""The tool that each session asks about and nothing after it: `m-023`, say, wants its refund and then a letter."""


@dataclass(frozen=True)
class Answered:
    """An ask that one process answered, and what others said of it."""

    tool: str
    first: subprocess.CompletedProcess[str]
    second: subprocess.CompletedProcess[str]
    effects: list[str]
    """Tools of the effects that came with the answers."""


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """The folder of a job that was killed three times, further on each time, and then resumed to its end."""
    folder, choose = tmp_path_factory.mktemp("inbox"), random.Random(SEED)
    moments = sorted(choose.sample(range(3, 75), 3))
    killed = [kill_run(words(folder, INBOX, resume=number > 0), after=moment) for number, moment in enumerate(moments)]
    assert killed == [KILLED] * 3
    run = stateward(*words(folder, INBOX, resume=True))
    assert run.returncode == 0, run.stderr
    (folder / "killed.json").write_text(run.stdout)
    return folder


@pytest.fixture(scope="module")
def standing(place: Path) -> Standing:
    """Where the job stands before anything is answered."""
    return look(place)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """The folder of the job that nobody disturbed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    run = stateward(*words(folder, INBOX, resume=False))
    assert run.returncode == 0, run.stderr
    (folder / "run.json").write_text(run.stdout)
    return folder


@pytest.fixture(scope="module")
def answered(place: Path, standing: Standing) -> list[Answered]:
    """A refund and a letter, each approved from a process of its own, and then again."""
    asks = json.loads(stateward("inbox", *_db(place), "--json").stdout)
    # By session, not the oldest of a tool: sessions run side by side, so which one asked first is chance.
    wanted = [next(ask for ask in asks if (ask["session"], ask["tool"]) == one) for one in ASKED.items()]
    return [_answer(place, ask) for ask in wanted]


def _answer(place: Path, ask: dict[str, object]) -> Answered:
    shop = Shop(place / "shop.db")
    before = len(shop.effects())
    given = ("answer", str(ask["id"]), "approve", "--by", "ann", "--json", *_db(place))
    first, second = (stateward(*given, "--set", f"config.shop={place / 'shop.db'}") for _ in range(2))
    with shop:
        effects = [effect.tool for effect in shop.effects()[before:]]
    return Answered(str(ask["tool"]), first, second, effects)


def _db(place: Path) -> tuple[str, str]:
    return ("--db", f"sqlite:///{place / 'stateward.db'}")


def test_every_message_ends_in_one_record(standing: Standing) -> None:
    """All are delivered once, and each run has exactly one terminal record or its session waits."""
    assert standing.heard == dict.fromkeys((row.id for row in rows()), 1)
    assert standing.unfinished == []


def test_job_stands_as_the_undisturbed_one(place: Path, standing: Standing, whole: Path) -> None:
    """Sessions, effects, journal, questions and the table are the same."""
    assert standing == look(whole)
    assert table(place / "killed.json") == table(whole / "run.json")


def test_no_effect_happens_twice(standing: Standing) -> None:
    """The shop counts none twice, and there are some to count."""
    assert standing.twice == 0
    assert sum(standing.effects.values()) >= 8


def test_answer_runs_the_effect_once_and_finishes_the_session(answered: list[Answered], place: Path) -> None:
    """One effect for one answer, from a process that had no part in the job."""
    assert [(one.first.returncode, one.effects) for one in answered] == [(0, [one.tool]) for one in answered]
    assert [json.loads(one.first.stdout)["status"] for one in answered] == ["completed", "completed"]
    assert (look(place).twice, look(place).unfinished) == (0, [])


def test_second_answer_is_refused(answered: list[Answered]) -> None:
    """It is told who answered first."""
    assert [(one.second.returncode, "`ann`" in one.second.stderr) for one in answered] == [(2, True)] * 2
