"""What a model is shown: redacted, of so many tokens as its window has, and known by what its policy alone decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage

import stateward as sw
from stateward.govern.effective import effective
from stateward.govern.kinds.redaction import Finding
from stateward.govern.policy import Policy, Window
from stateward.run.door.shown import Shown, redacted, shown
from stateward.run.store.database import Database
from stateward.testing import ScriptedModel
from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.charts.stand_in import role

KEY = "sk-proj4abcDEF7ghiJKL0mnoPQR"
SECRET: frozenset[Finding] = frozenset({"secret"})
NARROW = Policy(name="narrow", window=Window(max_tokens=160))
LONG: list[BaseMessage] = [
    SystemMessage("be kind"),
    *(HumanMessage(f"sentence number {number}") for number in range(30)),
]


def see(messages: list[BaseMessage], policy: Policy, **options: Any) -> Shown:
    held = effective([("", policy)], path="ACT")
    return shown(messages, effective=held, role=role("m", ScriptedModel.of()), options=options)


def test_message_without_a_finding_is_the_same_one() -> None:
    """Nothing is copied."""
    said = HumanMessage("hello")
    assert redacted(said, classes=SECRET) is said


def test_calls_blocks_and_extras_are_redacted() -> None:
    """What a provider made to be given back to it stays as it is."""
    block = {"type": "thinking", "thinking": f"use {KEY}", "signature": KEY, "id": KEY}
    call = {"name": "send", "args": {"key": KEY}, "id": KEY, "type": "tool_call"}
    said = redacted(
        AIMessage([block], tool_calls=[call], additional_kwargs={"function_call": {"arguments": KEY, "id": KEY}}),
        classes=SECRET,
    )
    mark = "[redacted api_key]"
    assert said.content == [{**block, "thinking": f"use {mark}"}]
    assert isinstance(said, AIMessage)
    assert said.tool_calls == [{**call, "args": {"key": mark}}]
    assert said.additional_kwargs == {"function_call": {"arguments": mark, "id": KEY}}


def test_calls_of_a_chunk_are_redacted() -> None:
    """Its pieces are sent by some providers."""
    piece = {"name": "send", "args": f'{{"key": "{KEY}"}}', "id": "1", "index": 0, "type": "tool_call_chunk"}
    said = redacted(AIMessageChunk(content="", tool_call_chunks=[piece]), classes=SECRET)  # pyright: ignore[reportArgumentType]
    assert KEY not in str(said.model_dump())


def test_window_of_tokens_cuts_what_is_sent() -> None:
    """The call is known by the whole conversation, so that it does not depend on who counts."""
    seen = see(LONG, NARROW)
    assert seen.said == LONG
    assert seen.sent[1].text == "29 earlier messages (976 tokens) were left out here: 29 human."
    assert seen.sent[2:] == LONG[-1:]


def test_tools_leave_less_of_the_window() -> None:
    """Their descriptions are sent with every call."""
    wide = Policy(name="wide", window=Window(max_tokens=300))
    assert len(see(LONG, wide).sent) > len(see(LONG, wide, tools=[{"name": "look", "about": "x" * 90}]).sent)


async def ask(state: Any, run: sw.Run[Any]) -> Any:
    return {"text": (await run.model().ainvoke(LONG)).text}


def test_call_is_sent_within_its_window(drive: Callable[..., Driven], database: Database) -> None:
    """Through the door; the journal has the conversation as the activity said it."""
    model = ScriptedModel.of("done")
    assert drive(compiled(ask, models={"m": model}, model="m", policy=NARROW)).start({}).status == "completed"
    assert [message.type for message in model.calls[0]] == ["system", "system", "human"]
    (entry,) = database.journal.entries("s1")
    assert len(entry.arguments["messages"]) == len(LONG)


def test_message_longer_than_its_window_fails_the_activity(drive: Callable[..., Driven]) -> None:
    """Nothing is sent."""
    model = ScriptedModel.of("done")
    tight = Policy(name="tight", window=Window(max_tokens=20))
    outcome = drive(compiled(ask, models={"m": model}, model="m", policy=tight, handles=("error",))).start({})
    assert (outcome.path, len(model.calls)) == ("HELP", 0)
