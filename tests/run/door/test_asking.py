"""Roles that answer in the place of another: under the same policy, for their own price, and written down."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage

import stateward as sw
from stateward.errors import DefinitionError
from stateward.govern.kinds.data import Data
from stateward.govern.kinds.models import ModelRule
from stateward.run.door.asking import attempts_before
from stateward.run.store.database import Database
from stateward.testing import ManualClock, ScriptedModel, calls
from tests.charts.drive import Driven
from tests.charts.replayed import same
from tests.charts.spoken import Awaited, Spoken, hear, hear_sync, listen, listen_sync
from tests.charts.stand_in import Status, attempts, chart, fuses, role, ruled, waits

Drive = Callable[..., Driven]
ALL = pytest.mark.parametrize("do", [hear, hear_sync, listen, listen_sync])
BACKUP = ruled(ModelRule(fallback=("backup",)))


def down(*then: Any) -> ScriptedModel:
    return ScriptedModel.of(ConnectionError("down"), *then)


@ALL
def test_another_role_answers_in_its_place(drive: Drive, database: Database, do: Any) -> None:
    """Whatever the way; the usage of each attempt is charged under its own price, all in one turn."""
    dear = {"usd_per_million_input": 1000.0, "usd_per_million_output": 1000.0}
    driven = drive(chart(do, BACKUP, m=down(), backup=role("backup", ScriptedModel.of("bye"), **dear)))
    assert driven.start({}).values["log"] == ["bye"]
    (entry,) = database.journal.entries("s1")
    failed, done = entry.result["attempts"]
    assert (entry.result["answered_by"], done["usd"]) == ("backup", "0.015000000")
    assert entry.usd == pytest.approx(float(failed["usd"]) + 0.015)
    assert (driven.session.row().turns, entry.tokens_in, entry.tokens_out) == (1, 10, 5)


@ALL
def test_who_answered_is_in_the_reply(drive: Drive, do: Any) -> None:
    """In `response_metadata`, from the model and from the journal."""
    driven = drive(chart(do, BACKUP, m=down(), backup=ScriptedModel.of("bye")))
    driven.start({})
    (entry,) = driven.session.database.journal.entries("s1")
    assert entry.result["data"]["response_metadata"]["stateward"] == {"role": "backup", "attempt": 2}


def test_audit_says_who_was_asked(drive: Drive, database: Database) -> None:
    """Without what anybody said."""
    drive(chart(hear, BACKUP, m=down(), backup=ScriptedModel.of("bye"))).start({})
    (record,) = [row.record for row in database.audit.rows("s1") if row.record["event"] == "call"]
    assert record["answered_by"] == "backup"
    assert [(each["role"], each["outcome"]) for each in record["attempts"]] == [("m", "failed"), ("backup", "ok")]
    assert "down" not in str(record)


@ALL
def test_wrong_request_is_not_handed_on(drive: Drive, do: Any) -> None:
    """It would be wrong there too."""
    backup = ScriptedModel.of("bye")
    assert drive(chart(do, BACKUP, m=ScriptedModel.of(Status(400)), backup=backup)).start({}).path == "HELP"
    assert backup.calls == ()


@pytest.mark.parametrize("do", [listen, listen_sync])
@pytest.mark.parametrize("kind", [Spoken, Awaited])
def test_nobody_takes_over_after_the_first_visible_token(drive: Drive, do: Any, kind: Any) -> None:
    """Two models would speak in one sentence."""
    backup = ScriptedModel.of("bye")
    model = role("m", kind.of("one ", ConnectionError("down")))
    assert drive(chart(do, BACKUP, m=model, backup=backup)).start({}).path == "HELP"
    assert backup.calls == ()


@pytest.mark.parametrize("do", [listen, listen_sync])
@pytest.mark.parametrize("kind", [Spoken, Awaited])
def test_stream_that_breaks_before_it_is_taken_over(drive: Drive, do: Any, kind: Any) -> None:
    """Token by token."""
    models = {"m": role("m", kind.of(ConnectionError("down"))), "backup": role("backup", kind.of("one ", "two"))}
    log = drive(chart(do, BACKUP, **models)).start({}).values["log"]
    assert [text for text in log if text] == ["one ", "two"]


def test_each_role_is_tried_under_its_own_rule(drive: Drive, database: Database, clock: ManualClock) -> None:
    """Its tries and its waits; whom it would hand on to does not count."""
    waited = waits(database, clock)
    rule = ModelRule(tries=2, wait_s=1.0, fallback=("backup",))
    policy = ruled(rule, backup=ModelRule(tries=2, wait_s=9.0, fallback=("m",)))
    models = {"m": down(ConnectionError()), "backup": down("bye")}
    assert drive(chart(hear, policy, **models)).start({}).status == "completed"
    assert waited == [1.0, 9.0]
    assert attempts(database) == [("m", "failed"), ("m", "failed"), ("backup", "failed"), ("backup", "ok")]


def test_who_is_not_cleared_for_the_data_does_not_take_over(drive: Drive, database: Database) -> None:
    """The decision is made again for each role; the next one is asked."""
    rule = ModelRule(fallback=("leaky", "backup"))
    leaky = ScriptedModel.of("never")
    models = {
        "m": role("m", down(), cleared="personal"),
        "leaky": role("leaky", leaky),
        "backup": role("backup", ScriptedModel.of("bye"), cleared="personal"),
    }
    assert drive(chart(hear, ruled(rule, data=Data(sensitivity="personal")), **models)).start({}).status == "completed"
    assert attempts(database) == [("m", "failed"), ("leaky", "denied"), ("backup", "ok")]
    assert leaky.calls == ()


def test_role_that_is_not_cleared_is_not_asked_at_all(drive: Drive) -> None:
    """A model on classified data needs its clearance."""
    model = ScriptedModel.of("never")
    outcome = drive(chart(hear, ruled(ModelRule(tries=2), data=Data(sensitivity="internal")), m=model)).start({})
    assert (outcome.status, model.calls) == ("halted", ())


def test_who_would_pass_the_fuse_does_not_take_over(drive: Drive, database: Database) -> None:
    """The first failure is what the activity sees."""
    dear = {"usd_per_million_input": 1000.0, "usd_per_million_output": 1000.0}
    backup = ScriptedModel.of("never")
    policy = ruled(ModelRule(fallback=("backup",)), fuses=fuses(usd=0.01))
    driven = drive(chart(hear, policy, m=down(), backup=role("backup", backup, **dear)))
    assert driven.start({}).path == "HELP"
    assert driven.control["event"]["data"]["message"] == "down"
    assert (attempts(database), backup.calls) == ([("m", "failed"), ("backup", "denied")], ())


def test_role_without_a_model_is_a_mistake(drive: Drive) -> None:
    """Found when the model is asked for, not when the first one fails."""
    with pytest.raises(DefinitionError, match=r"`backup`.*`m`"):
        drive(chart(hear, BACKUP, m=ScriptedModel.of("bye"))).start({})


def test_tools_are_bound_as_each_provider_wants_them(drive: Drive) -> None:
    """Who takes over gets them in its own words."""

    class Worded(ScriptedModel):
        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            return self.bind(functions=len(tools), **kwargs)

        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
            seen.append(kwargs)
            return super()._generate(messages, stop, run_manager, **kwargs)

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        await run.model().bind_tools([{"name": "look", "parameters": {}}], seed=7).ainvoke("hi", top_p=0.5)

    seen: list[dict[str, Any]] = []
    drive(chart(act, BACKUP, m=down(), backup=Worded.of("bye"))).start({})
    assert seen == [{"functions": 1, "seed": 7, "top_p": 0.5, "max_tokens": 100}]


async def plan(state: Any, run: sw.Run[Any]) -> Any:
    reply: AIMessage = await run.model().ainvoke("hi")
    return {"log": [call["name"] for call in reply.tool_calls]}


def test_replay_has_the_same_answer_and_asks_nobody(drive: Drive) -> None:
    """A recorded fallback plays again the same."""
    model, backup = down(), ScriptedModel.of(calls(("look", {})))
    driven = drive(chart(plan, BACKUP, m=model, backup=backup))
    assert driven.start({}).values["log"] == ["look"]
    assert same(driven)
    assert (len(model.calls), len(backup.calls)) == (1, 1)


class Crash(BaseException):
    """Stands for the end of the process."""


def test_role_that_a_crash_cut_off_is_asked_again(drive: Drive, database: Database) -> None:
    """Not the one that had its turn before."""

    def die(messages: Any) -> str:
        raise Crash

    model, backup = down("never"), ScriptedModel.of(die, "bye")
    driven = drive(chart(hear_sync, BACKUP, m=model, backup=backup))
    with pytest.raises(Crash):
        driven.start({})
    assert driven.resume().values["log"] == ["bye"]
    assert (len(model.calls), attempts(database)) == (1, [("m", "failed"), ("backup", "ok")])


def test_call_begins_anew_when_other_roles_answer_after_a_crash(drive: Drive, database: Database) -> None:
    """The role it was cut off at is gone from the policy; what was tried before does not count."""

    def die(messages: Any) -> str:
        raise Crash

    model = down("bye")
    driven = drive(chart(hear_sync, BACKUP, m=model, backup=ScriptedModel.of(die)))
    with pytest.raises(Crash):
        driven.start({})
    (entry,) = database.journal.entries("s1")
    assert (entry.status, entry.result["asking"]) == ("started", "backup")
    assert attempts_before(entry, {"m": None}) == {}
    assert attempts_before(entry, {"m": None, "backup": None})["asking"] == "backup"


@pytest.mark.parametrize("calls_at_once", [2, 20])
def test_attempts_at_once_never_pass_the_ceiling(drive: Drive, database: Database, calls_at_once: int) -> None:
    """Each reserves before it is made, the second ones and those of the other role too."""

    async def all_at_once(state: Any, run: sw.Run[Any]) -> Any:
        asked = [run.model().ainvoke("hi") for _ in range(calls_at_once)]
        came = await asyncio.gather(*asked, return_exceptions=True)
        return {"log": [each for each in came if isinstance(each, str)]}

    def fail(messages: Any) -> str:
        raise ConnectionError("down")

    rule = ModelRule(tries=2, wait_s=0.001, fallback=("backup",))
    models = {name: ScriptedModel.of(*[fail] * 100) for name in ("m", "backup")}
    driven = drive(chart(all_at_once, ruled(rule, fuses=fuses(usd=0.01)), **models))
    driven.start({})
    spent = database.ledger.spent("s1", run=driven.session.row().run)["WORK", "usd"]
    asked = sum(len(model.calls) for model in models.values())
    assert 0.01 >= spent == pytest.approx(sum(entry.usd for entry in database.journal.entries("s1")))
    assert spent >= asked * 0.001
