"""Faults of a provider over real HTTP: what is tried again, what is raised, who answers instead."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stateward.govern.policy import ModelRule, Policy, RoleRule
from stateward.run.store.database import Database
from stateward.testing import ManualClock
from tests.charts.drive import Driven
from tests.charts.stand_in import waits
from tests.llm.asking import ask, ask_sync, asking, listen, listen_sync, outcomes, role, tokens, told
from tests.llm.llama import Llama
from tests.llm.shim import Fault, Shim

pytestmark = pytest.mark.slow
Drive = Callable[..., Driven]
WAYS = pytest.mark.parametrize("do", [ask, listen_sync])
ALL = pytest.mark.parametrize("do", [ask, ask_sync, listen, listen_sync])


def ruled(call_timeout_s: float | None = None, **rule: Any) -> Policy:
    """A policy with a rule for the role `voice`."""
    rules = (RoleRule(role="voice", rule=ModelRule(**rule)),)
    return Policy(name="ruled", models=rules, call_timeout_s=call_timeout_s)


def turns(driven: Driven) -> int:
    """Model calls of the run."""
    row = driven.session.row()
    assert row is not None
    return row.turns


@WAYS
@pytest.mark.parametrize("status", [500, 429])
def test_failed_infrastructure_is_tried_again(
    shim: Shim, drive: Drive, database: Database, clock: ManualClock, do: Any, status: int
) -> None:
    """One turn, one entry, two requests; only the answered one took tokens that the server knows of."""
    waited = waits(database, clock)
    shim.fail(Fault(kind="status", status=status))
    driven = drive(asking(do, role(shim), policy=ruled(tries=2, wait_s=3.0)))
    assert driven.start({}).status == "completed"
    assert (outcomes(database), waited) == ([("voice", "failed"), ("voice", "ok")], [3.0])
    assert (turns(driven), len(shim.asked), tokens(database)) == (1, 2, told(shim))


def test_provider_says_how_long_to_wait(shim: Shim, drive: Drive, database: Database, clock: ManualClock) -> None:
    """The header of a 429 counts, when it is longer than the rule's wait."""
    waited = waits(database, clock)
    shim.fail(Fault(kind="status", status=429, headers={"Retry-After": "7"}))
    assert drive(asking(ask, role(shim), policy=ruled(tries=2, wait_s=3.0))).start({}).status == "completed"
    assert waited == [7.0]


@WAYS
@pytest.mark.parametrize("status", [400, 401])
def test_wrong_request_is_raised_at_once(shim: Shim, drive: Drive, database: Database, do: Any, status: int) -> None:
    """It is not made again, and took nothing."""
    shim.fail(Fault(kind="status", status=status))
    assert drive(asking(do, role(shim), policy=ruled(tries=3))).start({}).path == "HELP"
    assert (len(shim.asked), tokens(database)) == (1, (0, 0))


@WAYS
def test_lost_connection_is_tried_again(
    shim: Shim, drive: Drive, database: Database, clock: ManualClock, do: Any
) -> None:
    """The provider hung up before it answered."""
    waits(database, clock)
    shim.fail(Fault(kind="drop"))
    assert drive(asking(do, role(shim), policy=ruled(tries=2))).start({}).status == "completed"
    assert outcomes(database) == [("voice", "failed"), ("voice", "ok")]


@WAYS
def test_silence_is_cut_off(shim: Shim, drive: Drive, database: Database, do: Any) -> None:
    """By the policy's time for a call; the model's own would be a minute."""
    shim.fail(Fault(kind="silence"))
    driven = drive(asking(do, role(shim), policy=ruled(call_timeout_s=0.3, tries=1)))
    assert driven.start({}).path == "HELP"
    assert (outcomes(database), len(shim.asked)) == ([("voice", "failed")], 1)


def test_stream_that_stops_is_cut_off_and_not_begun_again(shim: Shim, drive: Drive, database: Database) -> None:
    """A word was heard: no other attempt and no other model goes on with its sentence."""
    shim.fail(Fault(kind="stall"))
    backup = role(shim, name="backup")
    policy = ruled(call_timeout_s=2.0, tries=3, fallback=("backup",))
    driven = drive(asking(listen, role(shim), backup, policy=policy))
    assert driven.start({}).path == "HELP"
    assert (outcomes(database), len(shim.asked)) == ([("voice", "failed")], 1)


@ALL
def test_other_role_answers_before_the_first_word(shim: Shim, drive: Drive, database: Database, do: Any) -> None:
    """What both took is in the journal, each under its own price."""
    shim.fail(Fault(kind="status", status=500))
    backup = role(shim, name="backup", usd_per_million_input=5.0, usd_per_million_output=5.0)
    assert drive(asking(do, role(shim), backup, policy=ruled(tries=1, fallback=("backup",)))).start({}).values["text"]
    assert outcomes(database) == [("voice", "failed"), ("backup", "ok")]


@pytest.fixture
def doomed(tmp_path: Path) -> Any:
    """A server of the test's own, to be killed."""
    server = Llama(tmp_path / "doomed.log")
    yield server
    server.kill()


def test_killed_server_opens_the_breaker_and_another_answers(
    doomed: Llama, shim: Shim, drive: Drive, database: Database, clock: ManualClock
) -> None:
    """Two failures and it is not asked any more; when its time is over, one call probes it."""
    front = Shim(doomed.address)
    policy = ruled(tries=1, break_after=2, break_s=60.0, fallback=("backup",))
    graph = asking(ask, role(front), role(shim, name="backup"), policy=policy)

    def asked(session: str) -> tuple[str, int]:
        return drive(graph, session=session).start({}).status, len(front.asked)

    assert asked("alive") == ("completed", 1)
    doomed.kill()
    assert [asked(f"dead {n}") for n in range(4)] == [("completed", 2), *[("completed", 3)] * 3]
    clock.advance(60.0)
    assert [asked(f"later {n}") for n in range(2)] == [("completed", 4)] * 2
    front.close()
    assert len(shim.used) == 6


def test_killed_server_without_another_says_when_it_may_be_asked(
    doomed: Llama, drive: Drive, database: Database, clock: ManualClock
) -> None:
    """The second run is told that the breaker is open; nothing is sent."""
    front = Shim(doomed.address)
    doomed.kill()
    graph = asking(ask, role(front), policy=ruled(tries=1, break_after=1, break_s=60.0))
    assert drive(graph, session="one").start({}).path == "HELP"
    second = drive(graph, session="two")
    assert (second.start({}).path, len(front.asked)) == ("HELP", 1)
    assert "60" in str(second.control["event"]["data"])
    front.close()
