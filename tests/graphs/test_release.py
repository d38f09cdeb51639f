"""`release`: checks beside a person, a reminder, `hold` and deep history; nothing ships without an agreement."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import stateward as sw
from graphs.release import DAY_S, HOUR_S, chart, graph
from nodes.release import Release
from stateward.exchange.registry import Registry
from stateward.run.store.database import Database
from stateward.testing import ManualClock
from stateward.waking import wake

REVIEWED = "WORK.REVIEW.SCAN.CLEAN, WORK.REVIEW.TESTS.GREEN, WORK.REVIEW.PERSON.ASKED"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def database(tmp_path: Path, clock: ManualClock) -> Iterator[Database]:
    with sw.open(f"sqlite:///{tmp_path}/r.db", clock=clock) as opened:
        yield opened


def session(database: Database) -> sw.Session:
    return sw.Session("r-1", graph.attach(database), database)


def test_it_is_clean_and_what_it_states_is_proven() -> None:
    """No finding at all, and both properties hold."""
    report = chart().analyse()
    assert (report.findings, [proof.holds for proof in report.proofs]) == ((), [True, True])


def test_silence_that_ships_is_found_with_the_way_there() -> None:
    """Where a day of silence leads to SHIP, the check says how a release gets out that nobody agreed to."""
    (finding,) = chart(silence="WORK.SHIP").check()
    assert (finding.rule, finding.severity) == ("property", "error")
    assert finding.witness[-1].took == "after.WORK.REVIEW.PERSON.REMINDED.0"


def test_it_ships_when_checks_and_reviewer_are_done(database: Database) -> None:
    """The checks end by themselves, the join waits for the person."""
    it = session(database)
    assert it.start({"version": "1.4"}).path == REVIEWED
    done = it.resume("approve")
    assert (done.path, done.values["checks"], done.values["shipped"]) == ("DONE", 3, True)


def test_it_does_the_same_when_awaited(database: Database) -> None:
    """The async calls come to the same end."""
    it = session(database)
    assert asyncio.run(it.astart({"version": "1.4"})).path == REVIEWED
    assert asyncio.run(it.aresume("approve")).path == "DONE"


def test_hold_keeps_what_each_region_has_reached(database: Database) -> None:
    """Deep history brings the regions back; checks that have passed are not run again."""
    it = session(database)
    it.start({"version": "1.4"})
    assert it.resume("hold").path == "HELD"
    back = it.resume("resume")
    assert (back.path, back.values["checks"]) == (REVIEWED, 3)


def test_an_hour_reminds_and_a_day_holds(database: Database, clock: ManualClock) -> None:
    """Nobody's process is alive meanwhile; whoever calls `wake` takes the session on."""
    it = session(database)
    it.start({"version": "1.4"})
    clock.advance(HOUR_S)
    (woken,) = wake(it.graph, database)
    assert woken.outcome is not None
    assert woken.outcome.values["reminded"] is True
    clock.advance(DAY_S)
    wake(it.graph, database)
    assert it.outcome().path == "HELD"


def test_it_comes_back_from_other_formats_as_it_was() -> None:
    """SCXML and XState v5 have room for all of it."""
    mine = chart()
    known = Registry.of_chart(mine.definition)
    for back in (
        sw.Chart.from_scxml(mine.to_scxml(), schema=Release, registry=known),
        sw.Chart.from_xstate(mine.to_xstate(), schema=Release, registry=known),
    ):
        assert back.definition.to_json() == mine.definition.to_json()
