"""Rendered prompts: the record of a model call says which prompts it used, and no provider is told."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context, copy_context
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, SystemMessage

import stateward as sw
from stateward.prompts import Prompts, Rendered
from stateward.run.rendered import REMEMBERED, bare, used_in
from stateward.run.store.database import Database
from stateward.testing import ScriptedModel
from tests.charts.drive import Driven
from tests.charts.one import compiled

Drive = Callable[..., Driven]
Say = Callable[[Rendered], Any]

PROMPTS = {"judge": "You judge what people bring to the table: {{ topic }}.", "short": "Yes."}
FORMS: list[Say] = [
    str,
    lambda text: [("system", text), ("user", "Go on.")],
    lambda text: [SystemMessage(content=f"Be brief. {text}"), HumanMessage(content="Go on.")],
    lambda text: [HumanMessage(content=[{"type": "text", "text": text}])],
    lambda text: [text.message("user")],
]


@pytest.fixture
def prompts() -> Prompts:
    """Two prompts."""
    return Prompts.of(PROMPTS)


@pytest.mark.parametrize("say", FORMS)
def test_call_records_the_prompts_it_used(drive: Drive, database: Database, prompts: Prompts, say: Say) -> None:
    """Whatever form the text takes on its way to the model: name and hash are in the journal and in the audit log."""

    async def act(state: Any, run: sw.Run[Any]) -> dict[str, Any]:
        return {"text": (await run.model().ainvoke(say(prompts.render("judge", topic="tea")))).text}

    model = ScriptedModel.of("Good.")
    drive(compiled(act, models={"voice": model}, model="voice")).start({})
    expected = [{"name": "judge", "hash": prompts["judge"].hash}]
    (entry,) = database.journal.entries("s1")
    audited = [row.record["prompts"] for row in database.audit.rows("s1") if row.record["event"] == "call"]
    assert (list(entry.prompts), audited) == (expected, [expected])
    assert [message.additional_kwargs for message in model.calls[0]] == [{} for _ in model.calls[0]]


def test_failed_call_records_them_as_well(drive: Drive, database: Database, prompts: Prompts) -> None:
    """A prompt that a provider refused is found again."""

    def act(state: Any, run: sw.SyncRun[Any]) -> dict[str, Any]:
        return {"text": run.model().invoke(prompts.render("judge", topic="tea")).text}

    driven = drive(
        compiled(act, models={"voice": ScriptedModel.of(ValueError("no"))}, model="voice", handles=["error"])
    )
    driven.start({})
    (entry,) = database.journal.entries("s1")
    assert (entry.status, entry.prompts[0]["name"]) == ("failed", "judge")


def test_call_without_prompts_says_nothing_of_them(drive: Drive, database: Database, prompts: Prompts) -> None:
    """A prompt that was rendered and not sent is not in the record."""

    async def act(state: Any, run: sw.Run[Any]) -> dict[str, Any]:
        prompts.render("judge", topic="tea")
        return {"text": (await run.model().ainvoke("Go on.")).text}

    drive(compiled(act, models={"voice": ScriptedModel.of("Good.")}, model="voice")).start({})
    (entry,) = database.journal.entries("s1")
    assert entry.prompts == ()
    assert "prompts" not in entry.result


def test_state_keeps_plain_text(drive: Drive, prompts: Prompts) -> None:
    """In a checkpoint a rendered prompt is a text."""

    def act(state: Any) -> dict[str, Any]:
        return {"text": prompts.render("short")}

    outcome = drive(compiled(act)).start({})
    assert (type(outcome.values["text"]), outcome.values["text"]) == (str, "Yes.")


def test_short_prompt_is_recognised_only_by_itself(prompts: Prompts) -> None:
    """A word that anybody may say is no proof."""

    def found(text: str) -> int:
        prompts.render("short")
        return len(used_in([HumanMessage(content=text)]))

    assert (copy_context().run(found, "Yes."), copy_context().run(found, "Yes. And no.")) == (1, 0)


def test_message_carries_its_mark_and_is_bare_when_sent(prompts: Prompts) -> None:
    """Out of its context a message still says what it was made of."""
    message = Context().run(lambda: prompts.render("judge", topic="tea").message())
    assert Context().run(used_in, [message]) == ({"name": "judge", "hash": prompts["judge"].hash},)
    assert bare(message) == SystemMessage(content=message.text)


def test_only_the_latest_renderings_are_remembered(prompts: Prompts) -> None:
    """An activity that renders for ever keeps no more than it can need."""

    def found() -> int:
        said = [prompts.render("judge", topic=number) for number in range(REMEMBERED + 5)]
        return sum(bool(used_in([HumanMessage(content=each)])) for each in said)

    assert Context().run(found) == REMEMBERED
