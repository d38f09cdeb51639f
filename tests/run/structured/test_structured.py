"""Structured output from an activity: three tiers in order, every call through the door, the tier recorded (C4, C5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import instructor
import pytest
from langchain_core.messages import AIMessage

from stateward.errors import DefinitionError
from stateward.govern.policy import Fuses
from stateward.testing import ScriptedModel, calls
from tests.charts.drive import Driven, policy
from tests.charts.replayed import same
from tests.charts.tiered import GOOD, NONE, VAGUE, tiered, writing, writing_sync

Drive = Callable[..., Driven]
Write = Callable[..., Any]
BOTH = pytest.mark.parametrize("write", [writing, writing_sync])


def tiers_of(came: dict[str, Any]) -> list[str]:
    """The tier of each attempt."""
    return [attempt["tier"] for attempt in came["attempts"]]


def audit(driven: Driven) -> list[dict[str, Any]]:
    """The records of structured outputs."""
    rows = driven.session.database.audit.rows("s1")
    return [dict(row.record) for row in rows if row.record["event"] == "structured"]


def test_instructor_is_the_one_that_is_tested() -> None:
    """The adapter knows this version's way of being patched."""
    assert instructor.__version__.startswith("1.17.")


@BOTH
def test_the_first_tier_that_fits_is_the_last(drive: Drive, write: Write) -> None:
    """A reply that fits the schema, in its aliases or not, needs no other tier."""
    model = ScriptedModel.of(GOOD)
    came = drive(tiered(model, do=write())).start({}).values["came"]
    assert came["value"] == {"category": "login", "priority": "p1", "sentiment": "frustrated"}
    assert (came["tier"], tiers_of(came), came["degraded"]) == ("schema", ["schema"], [])


def test_a_tool_call_is_a_reply_too(drive: Drive) -> None:
    """A provider that is held to a schema by a tool answers with its arguments."""
    reply = calls(("Ticket", {"category": "other", "priority": "p0", "sentiment": "calm"}))
    assert drive(tiered(ScriptedModel.of(reply))).start({}).values["came"]["value"]["priority"] == "p0"


@BOTH
def test_instructor_asks_again_with_the_errors(drive: Drive, write: Write) -> None:
    """In the second tier an unmappable priority is an error, and the model is told so."""
    model = ScriptedModel.of(NONE, VAGUE, f"```json\n{GOOD}\n```")
    came = drive(tiered(model, do=write())).start({}).values["came"]
    assert (came["tier"], tiers_of(came)) == ("instructor", ["schema", "instructor", "instructor"])
    assert "priority" in str(model.calls[2][-1].content)
    assert came["degraded"] == []


@BOTH
def test_the_last_tier_infers_and_says_so(drive: Drive, write: Write) -> None:
    """What stays unmappable is inferred in the third tier, and marked as degraded."""
    model = ScriptedModel.of(VAGUE, VAGUE, VAGUE, f"Here: {VAGUE}")
    came = drive(tiered(model, do=write())).start({}).values["came"]
    assert (came["tier"], came["value"]["priority"]) == ("prompt", "p1")
    assert came["degraded"] == [{"field": "priority", "how": "inferred", "given": "ASAP please"}]
    assert len(model.calls) == 4


@BOTH
def test_attempts_are_bounded_and_then_it_is_an_error_of_the_contract(drive: Drive, write: Write) -> None:
    """One call, and two tiers of one retry each: then the chart gets `error.contract`."""
    model = ScriptedModel.of(*[NONE] * 9)
    driven = drive(tiered(model, do=write()))
    outcome = driven.start({})
    assert (outcome.path, len(model.calls)) == ("HELP", 5)
    assert (audit(driven)[0]["tier"], len(audit(driven)[0]["attempts"])) == ("none", 5)


@BOTH
def test_every_attempt_is_metered(drive: Drive, write: Write) -> None:
    """Instructor's calls take turns and tokens like any other."""
    driven = drive(tiered(ScriptedModel.of(NONE, NONE, GOOD), do=write()))
    driven.start({})
    row = driven.session.row()
    assert (row.turns, row.tokens) == (3, 45)


@BOTH
@pytest.mark.parametrize("turns", [1, 2, 3, 4])
def test_a_fuse_ends_it_in_any_tier(drive: Drive, write: Write, turns: int) -> None:
    """No call is made beyond the fuse, and no other tier is tried."""
    rules = replace(policy("tiered"), fuses=Fuses(turns=turns))
    model = ScriptedModel.of(*[NONE] * 9)
    outcome = drive(tiered(model, do=write(), rules=rules)).start({})
    assert (outcome.path, len(model.calls)) == ("DOWN", turns)


@BOTH
@pytest.mark.parametrize("error", [ConnectionError("down"), PermissionError("Error code: 401")])
@pytest.mark.parametrize("at", [0, 1, 3])
def test_what_fails_for_the_providers_reasons_is_raised(drive: Drive, write: Write, at: int, error: Exception) -> None:
    """Another tier would not mend it: schema violations are the inner loop's, infrastructure is not."""
    model = ScriptedModel.of(*[NONE] * at, error, GOOD)
    driven = drive(tiered(model, do=write()))
    assert driven.start({}).path == "DOWN"
    assert len(model.calls) == at + 1
    assert audit(driven) == []


class BadRequestError(Exception):
    """As a provider's client calls it."""


class OpenAIInvalidRequestError(Exception):
    """As LangChain's class for OpenAI calls it."""


class ResponseError(Exception):
    """As Ollama's client calls every answer that is none."""


class LengthFinishReasonError(Exception):
    """As OpenAI's client calls a reply that it could not read because it was cut off."""


class Crash(BaseException):
    """Stands for the end of the process."""


UNABLE = [
    BadRequestError("response_format is not supported"),
    OpenAIInvalidRequestError("Error code: 400 - {'error': {}}"),
    ResponseError("invalid format (status code: 400)"),
]


@BOTH
@pytest.mark.parametrize("error", UNABLE)
def test_a_provider_without_schemas_goes_on_to_the_next_tier(drive: Drive, write: Write, error: Exception) -> None:
    """A request it refuses for its options is no end."""
    model = ScriptedModel.of(error, GOOD)
    came = drive(tiered(model, do=write())).start({}).values["came"]
    assert (came["tier"], came["attempts"][0]["problem"]) == ("instructor", "the provider does not take the schema")


@BOTH
def test_a_reply_that_was_cut_off_goes_on_to_the_next_tier(drive: Drive, write: Write) -> None:
    """The model said too much for its limit; nothing is wrong with the provider."""
    model = ScriptedModel.of(LengthFinishReasonError("length limit was reached"), GOOD)
    came = drive(tiered(model, do=write())).start({}).values["came"]
    assert (came["tier"], came["attempts"][0]["problem"]) == ("instructor", "the reply was cut off")


def test_after_a_crash_no_call_is_made_twice(drive: Drive) -> None:
    """Entered again, each tier decides as it did, from the journal."""

    def die(messages: Any) -> str:
        raise Crash

    model = ScriptedModel.of(BadRequestError("no schemas"), VAGUE, NONE, NONE, die, f"so: {VAGUE}")
    driven = drive(tiered(model, do=writing_sync()))
    with pytest.raises(Crash):
        driven.start({})
    came = driven.resume().values["came"]
    assert (came["tier"], len(model.calls)) == ("prompt", 6)
    assert tiers_of(came) == ["schema", "instructor", "instructor", "prompt", "prompt"]


@BOTH
@pytest.mark.parametrize("said", [[GOOD], [NONE, VAGUE, GOOD], [BadRequestError("no"), NONE, NONE, VAGUE], [NONE] * 5])
def test_a_replay_comes_to_the_same(drive: Drive, write: Write, said: list[Any]) -> None:
    """All tiers play from the record, and no model is called."""
    model = ScriptedModel.of(*said)
    driven = drive(tiered(model, do=write()))
    driven.start({})
    assert same(driven)
    assert len(model.calls) == len(said)


@BOTH
def test_the_audit_log_names_tier_attempts_and_degraded_fields(drive: Drive, write: Write) -> None:
    """And no value that was said."""
    driven = drive(tiered(ScriptedModel.of(NONE, VAGUE, NONE, VAGUE), do=write()))
    driven.start({})
    (record,) = audit(driven)
    assert (record["name"], record["tier"], record["path"]) == ("writer", "prompt", "WORK.WRITE")
    assert record["contract"].startswith("Ticket-strict-")
    assert record["degraded"] == [{"field": "priority", "how": "inferred"}]
    assert [one["tier"] for one in record["attempts"]] == ["schema", "instructor", "instructor", "prompt"]
    assert "ASAP" not in str(record)


@pytest.mark.parametrize("said", [[GOOD], [BadRequestError("no schemas"), VAGUE, NONE, NONE, VAGUE]])
def test_an_activity_that_is_entered_again_is_audited_once(drive: Drive, said: list[Any]) -> None:
    """The record is written when the output is there; a crash behind it does not double it."""
    left = [1]
    write = writing()

    async def dying(state: Any, run: Any) -> Any:
        update = await write(state, run)
        if left.pop() if left else 0:
            raise Crash
        return update

    model = ScriptedModel.of(*said)
    driven = drive(tiered(model, do=dying))
    with pytest.raises(Crash):
        driven.start({})
    assert len(driven.resume().values["came"]["attempts"]) == len(said)
    assert len(audit(driven)) == 1


def test_only_tiers_that_are_asked_for_are_tried(drive: Drive) -> None:
    """An author may begin with the last."""
    came = drive(tiered(ScriptedModel.of(VAGUE), do=writing(tiers=["prompt"]))).start({}).values["came"]
    assert tiers_of(came) == ["prompt"]


def test_nothing_of_a_refused_output_is_logged(drive: Drive, caplog: Any, capsys: Any) -> None:
    """Instructor's own log lines would tell what was said."""
    drive(tiered(ScriptedModel.of(NONE, VAGUE, VAGUE, NONE, NONE))).start({})
    assert "ASAP" not in caplog.text + capsys.readouterr().err


def test_content_in_parts_is_read(drive: Drive) -> None:
    """A reply of several text blocks is one text."""
    parts = AIMessage(content=[{"type": "text", "text": GOOD[:20]}, {"type": "text", "text": GOOD[20:]}])
    assert drive(tiered(ScriptedModel.of(parts))).start({}).values["came"]["tier"] == "schema"


def test_a_model_without_tools_is_asked_in_words(drive: Drive) -> None:
    """Where nothing can be bound, the first tier is passed over without a call."""

    class Plain(ScriptedModel):
        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            raise NotImplementedError

    model = Plain.of(GOOD)
    came = drive(tiered(model)).start({}).values["came"]
    assert (came["tier"], len(model.calls)) == ("instructor", 1)


def test_without_instructor_its_tier_is_a_definition_error(drive: Drive, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install, before any call is made."""
    monkeypatch.setitem(__import__("sys").modules, "instructor", None)
    model = ScriptedModel.of(GOOD)
    caught: list[str] = []

    async def write(state: Any, run: Any) -> Any:
        try:
            return await writing()(state, run)
        except DefinitionError as error:
            caught.append(str(error))
            return {}

    drive(tiered(model, do=write)).start({})
    assert "stateward[structured]" in caught[0]
    assert model.calls == ()


def test_half_a_letter_is_sent_back_as_one_that_can_be_sent(drive: Drive) -> None:
    """A lone surrogate in a reply has no encoding; the feedback quotes it as a question mark."""
    model = ScriptedModel.of("\ud800", "\ud800", GOOD)
    came = drive(tiered(model, do=writing(tiers=("schema", "prompt")))).start({}).values["came"]
    assert (tiers_of(came), model.calls[2][-2].text) == (["schema", "prompt", "prompt"], "?")
