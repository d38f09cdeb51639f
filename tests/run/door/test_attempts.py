"""Attempts at a model call: what the infrastructure breaks is tried again, a wrong request is raised at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import stateward as sw
from stateward.govern.kinds.models import ModelRule
from stateward.govern.kinds.pace import Pace
from stateward.run.store.database import Database
from stateward.testing import ManualClock, ScriptedModel
from tests.charts.drive import Driven
from tests.charts.spoken import Spoken, hear, hear_sync, listen, listen_sync
from tests.charts.stand_in import Status, attempts, chart, fuses, role, ruled, waits

Drive = Callable[..., Driven]
HEARERS = pytest.mark.parametrize("do", [hear, hear_sync])
LISTENERS = pytest.mark.parametrize("do", [listen, listen_sync])
ALL = pytest.mark.parametrize("do", [hear, hear_sync, listen, listen_sync])
THREE = ruled(ModelRule(tries=3, wait_s=2.0))


@ALL
def test_failed_infrastructure_is_tried_again(drive: Drive, database: Database, clock: ManualClock, do: Any) -> None:
    """Whatever the way: the wait doubles, and it is one turn and one entry."""
    waited, model = waits(database, clock), ScriptedModel.of(ConnectionError("down"), Status(503), "bye")
    driven = drive(chart(do, THREE, m=model))
    assert driven.start({}).values["log"] == ["bye"]
    assert (waited, driven.session.row().turns) == ([2.0, 4.0], 1)
    assert attempts(database) == [("m", "failed"), ("m", "failed"), ("m", "ok")]


@ALL
def test_each_attempt_has_its_turn_in_the_pace(drive: Drive, database: Database, clock: ManualClock, do: Any) -> None:
    """To the provider each is a call: the third of two a minute waits until the first is a minute old."""
    waited, model = waits(database, clock), ScriptedModel.of(ConnectionError("down"), Status(503), "bye")
    driven = drive(chart(do, replace(THREE, pace=Pace(turns_per_minute=2)), m=model))
    assert driven.start({}).values["log"] == ["bye"]
    assert waited == [2.0, 4.0, 54.0]


@ALL
def test_attempts_of_an_earlier_call_of_the_graph_count_in_the_pace(
    drive: Drive, database: Database, clock: ManualClock, do: Any
) -> None:
    """The journal says when they were begun, whatever process made them."""
    waited, model = waits(database, clock), ScriptedModel.of(ConnectionError("down"), Status(503), "bye", "again")
    driven = drive(chart(do, replace(THREE, pace=Pace(turns_per_minute=3)), m=model))
    driven.start({})
    assert (driven.start({}).values["log"][-1], waited) == ("again", [2.0, 4.0, 54.0])


@HEARERS
def test_an_attempt_whose_turn_comes_too_late_is_not_made(
    drive: Drive, database: Database, clock: ManualClock, do: Any
) -> None:
    """The activity would be over by then; the record says when it would have come."""
    waits(database, clock)
    model = ScriptedModel.of(ConnectionError("down"), "never")
    policy = replace(THREE, pace=Pace(turns_per_minute=1), activity_timeout_s=30.0)
    assert drive(chart(do, policy, m=model)).start({}).path == "HELP"
    assert (len(model.calls), attempts(database)) == (1, [("m", "failed"), ("m", "denied")])


@ALL
@pytest.mark.parametrize("error", [Status(400), Status(401), Status(404), ValueError("no such option")])
def test_wrong_request_is_raised_at_once(
    drive: Drive, database: Database, clock: ManualClock, do: Any, error: Exception
) -> None:
    """It would be wrong the next time too."""
    model, waited = ScriptedModel.of(error, "bye"), waits(database, clock)
    driven = drive(chart(do, THREE, m=model))
    assert driven.start({}).path == "HELP"
    assert (len(model.calls), waited) == (1, [])


@HEARERS
def test_last_failure_is_raised(drive: Drive, database: Database, clock: ManualClock, do: Any) -> None:
    """When all tries are used up."""
    waits(database, clock)
    model = ScriptedModel.of(TimeoutError(), ConnectionError("a"), ConnectionError("b"), "never")
    driven = drive(chart(do, THREE, m=model))
    assert driven.start({}).path == "HELP"
    assert driven.control["event"]["data"]["message"] == "b"
    assert len(model.calls) == 3


@HEARERS
def test_provider_says_how_long_to_wait(drive: Drive, database: Database, clock: ManualClock, do: Any) -> None:
    """`Retry-After` counts when it is longer than the wait of the rule."""
    model = ScriptedModel.of(Status(429, headers={"retry-after": "7"}), "bye")
    waited = waits(database, clock)
    assert drive(chart(do, THREE, m=model)).start({}).status == "completed"
    assert waited == [7.0]


@pytest.mark.parametrize(
    "error",
    [Status(429, headers={"retry-after": "3600"}), Status(429, code="insufficient_quota")],
    ids=["late", "broke"],
)
def test_provider_that_will_not_answer_soon_is_not_waited_for(
    drive: Drive, database: Database, clock: ManualClock, error: Exception
) -> None:
    """A wait of an hour, or an account without money."""
    waited = waits(database, clock)
    assert drive(chart(hear, THREE, m=ScriptedModel.of(error, "bye"))).start({}).path == "HELP"
    assert waited == []


@pytest.mark.parametrize(("deadline_s", "log"), [(60.0, ["bye"]), (5.0, [])])
def test_wait_that_is_longer_than_there_is_time_is_none(
    database: Database, clock: ManualClock, deadline_s: float, log: list[str]
) -> None:
    """Then the failure is raised at once, and the activity can still do something about it."""
    waited = waits(database, clock)
    graph = chart(hear_sync, ruled(ModelRule(tries=2, wait_s=20.0)), m=ScriptedModel.of(ConnectionError(), "bye"))
    session = sw.Session("s1", graph.attach(database), database, deadline_s=deadline_s)
    assert session.start({}).values["log"] == log
    assert waited == ([20.0] if log else [])


def test_wait_has_jitter(drive: Drive, database: Database, clock: ManualClock) -> None:
    """Never shorter than the rule says, and less than twice as long."""
    waited = waits(database, clock)
    database.providers.chance = lambda: 0.5
    drive(chart(hear, THREE, m=ScriptedModel.of(ConnectionError(), "bye"))).start({})
    assert waited == [3.0]


def test_without_a_rule_there_is_one_attempt(drive: Drive, database: Database) -> None:
    """And the journal is as it always was."""
    model = ScriptedModel.of(ConnectionError("down"), "bye")
    assert drive(chart(hear, ruled(ModelRule(break_after=9)), m=model)).start({}).path == "HELP"
    assert len(model.calls) == 1


# -- money ------------------------------------------------------------------------------------------------


@HEARERS
def test_attempt_without_usage_is_charged_as_reserved(
    drive: Drive, database: Database, clock: ManualClock, do: Any
) -> None:
    """A failure may have cost; an answer that refuses the request has not."""
    waits(database, clock)
    model = ScriptedModel.of(Status(500), Status(429), "bye")
    driven = drive(chart(do, THREE, m=model))
    driven.start({})
    (entry,) = database.journal.entries("s1")
    failed, refused, done = entry.result["attempts"]
    assert (float(failed["usd"]) > 1e-3, refused["usd"], done["usd"]) == (True, "0.000000000", "0.000150000")
    spent = database.ledger.spent("s1", run=driven.session.row().run)
    assert spent["WORK", "usd"] == pytest.approx(float(failed["usd"]) + 150e-6) == entry.usd
    assert spent["WORK", "tokens"] == failed["tokens"] + 15
    assert entry.overrun == {}


@HEARERS
def test_each_attempt_is_reserved_under_the_fuse(drive: Drive, database: Database, clock: ManualClock, do: Any) -> None:
    """Where the money is enough for one attempt only, the second is not made."""
    waits(database, clock)
    model = ScriptedModel.of(ConnectionError("down"), "bye")
    policy = ruled(ModelRule(tries=3), fuses=fuses(usd=0.002, turns=1))
    driven = drive(chart(do, policy, m=model))
    assert driven.start({}).path == "HELP"
    assert attempts(database) == [("m", "failed"), ("m", "denied")]
    assert driven.control["event"]["data"]["message"] == "down"


def test_all_attempts_are_one_turn(drive: Drive, database: Database, clock: ManualClock) -> None:
    """A fuse of one turn lets a call be tried as often as its rule says."""
    waits(database, clock)
    model = ScriptedModel.of(ConnectionError("down"), "bye")
    assert drive(chart(hear, ruled(ModelRule(tries=2), fuses=fuses(turns=1)), m=model)).start({}).status == "completed"


# -- what was seen ----------------------------------------------------------------------------------------


@LISTENERS
def test_nothing_is_tried_again_once_something_was_seen(
    drive: Drive, database: Database, clock: ManualClock, do: Any
) -> None:
    """A reader cannot take back what was said."""
    waits(database, clock)
    model = Spoken.of("one ", ConnectionError("down"))
    assert drive(chart(do, THREE, m=role("m", model))).start({}).path == "HELP"
    assert len(model.asked) == 1


@LISTENERS
def test_empty_beginning_is_not_yet_something(drive: Drive, database: Database, clock: ManualClock, do: Any) -> None:
    """Providers begin with a chunk that only names the speaker; it is held back, and not heard twice."""
    waits(database, clock)
    left = [ConnectionError("down")]

    def word() -> str:
        if left:
            raise left.pop()
        return "bye"

    model = Spoken.of("", word, usage=False)
    outcome = drive(chart(do, THREE, m=role("m", model))).start({})
    assert "".join(outcome.values["log"]) == "bye"
    assert outcome.values["log"].count("") <= 2
    assert len(model.asked) == 2


# -- crashes and replays ----------------------------------------------------------------------------------


class Crash(BaseException):
    """Stands for the end of the process."""


def test_attempts_before_a_crash_count(drive: Drive, database: Database, clock: ManualClock) -> None:
    """Cut off in the second attempt, a call has two left of three, and what the first cost is not forgotten."""

    def die(messages: Any) -> str:
        raise Crash

    waits(database, clock)
    model = ScriptedModel.of(ConnectionError("a"), die, ConnectionError("b"), ConnectionError("c"), "never")
    driven = drive(chart(hear_sync, THREE, m=model))
    with pytest.raises(Crash):
        driven.start({})
    assert driven.resume().path == "HELP"
    assert len(model.calls) == 4
    assert attempts(database) == [("m", "failed")] * 3
