"""What a model call takes at most; what nobody can bound is refused, and the refusal says what to configure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

import stateward as sw
from stateward.govern.kinds.models import ModelRule
from stateward.testing import ScriptedModel
from tests.charts.drive import Driven
from tests.charts.stand_in import PRICES, chart, fuses, role, ruled

Drive = Callable[..., Driven]
PICTURE: dict[str, Any] = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}


def one(**other: Any) -> sw.ModelRole:
    return role("m", ScriptedModel.of("bye"), **other)


def bound(content: Any = "hi", *, by: sw.ModelRole | None = None, **options: Any) -> Any:
    return (by or one()).bound([HumanMessage(content)], options)


@given(st.text(max_size=200))
def test_bytes_bound_tokens(text: str) -> None:
    """No token is shorter than a byte: of what is said, and of what is around it."""
    messages: list[BaseMessage] = [
        HumanMessage(text),
        AIMessage("", tool_calls=[{"name": "look", "args": {"at": text}, "id": "1"}]),
        ToolMessage(text, tool_call_id="1"),
    ]
    found = one().bound(messages, {"stop": [text]})
    assert found.tokens is not None
    assert found.tokens >= 100 + 4 * len(text.encode(errors="ignore"))


def test_bound_is_in_tokens_and_in_money() -> None:
    """Input and output, each at its price."""
    found = bound()
    assert (found.tokens, found.reason) == (100 + 2 + 16, "")
    assert found.usd == pytest.approx(found.tokens * 10 / 1_000_000)


@pytest.mark.parametrize(
    "options", [{"n": 3}, {"extra_body": {"n": 3}}, {"best_of": 3}, {"candidate_count": 3}], ids=str
)
def test_each_of_several_replies_counts(options: dict[str, Any]) -> None:
    """Each may be as long as the limit."""
    assert bound(**options).tokens >= 300 + 2


@pytest.mark.parametrize(
    ("content", "options", "told"),
    [
        ([PICTURE], {}, "max_block_tokens"),
        ([{"type": "input_audio", "input_audio": {}}], {}, "`input_audio`"),
        ([{"nobody": "knows"}], {}, "unknown kind"),
        ([{"type": "tool_result", "content": [PICTURE]}], {}, "max_block_tokens"),
        ("hi", {"tools": [{"type": "web_search_preview"}]}, "`web_search_preview` is a tool that the provider runs"),
        ("hi", {"tools": [{"type": "code_execution_20250825", "name": "x"}]}, "code_execution"),
        ("hi", {"tools": [{"google_search": {}}]}, "`google_search`"),
        ("hi", {"extra_body": {"web_search_options": {"size": "high"}}}, "web_search_options"),
        ("hi", {"previous_response_id": "resp_1"}, "`previous_response_id` lets the provider add"),
        ("hi", {"modalities": ["text", "audio"]}, "ask for text"),
        ("hi", {"n": "many"}, "give `n` one"),
    ],
    ids=lambda each: str(each)[:40],
)
def test_what_nobody_can_bound_says_why(content: Any, options: dict[str, Any], told: str) -> None:
    """And what to do about it."""
    found = bound(content, **options)
    assert (found.tokens, found.usd) == (None, None)
    assert told in found.reason


@pytest.mark.parametrize(
    ("left_out", "told"),
    [("usd_per_million_output", "usd_per_million_input"), ("max_output_tokens", "`max_output_tokens`")],
)
def test_role_that_lacks_something_says_what(left_out: str, told: str) -> None:
    """A price, or a limit."""
    found = bound(by=one(**{left_out: None}))
    assert found.usd is None
    assert told in found.reason


def test_pictures_are_bounded_by_what_the_role_says() -> None:
    """Each of them."""
    found = bound([PICTURE, {"type": "text", "text": "hi"}, PICTURE], by=one(max_block_tokens=1000))
    assert 2100 < found.tokens < 2300


def test_functions_of_the_state_are_no_tools_of_the_provider() -> None:
    """In the words of any provider."""
    tools = [
        {"type": "function", "function": {"name": "a"}},
        {"name": "b", "input_schema": {}},
        {"function_declarations": []},
    ]
    assert bound(tools=tools).usd is not None


def test_fields_of_the_model_count_too() -> None:
    """What it adds to every request."""

    class Keeps(ScriptedModel):
        use_previous_response_id: bool = True

    assert "previous_response_id" in bound(by=sw.ModelRole(name="m", model=Keeps(), **PRICES)).reason


@pytest.mark.parametrize("limit", [{"usd": 1.0}, {"tokens": 100_000}], ids=str)
def test_refusal_says_what_to_configure(drive: Drive, limit: dict[str, Any]) -> None:
    """Under a fuse on money or tokens; the model is not asked."""

    async def look(state: Any, run: sw.Run[Any]) -> Any:
        await run.model().ainvoke([HumanMessage([PICTURE])])

    model = ScriptedModel.of("never")
    outcome = drive(chart(look, ruled(ModelRule(tries=2), fuses=fuses(**limit)), m=model)).start({})
    assert (outcome.status, model.calls) == ("halted", ())
    assert "set `max_block_tokens`" in str(outcome.reason)


def test_tokens_are_counted_and_limited(drive: Drive) -> None:
    """What was taken, not what was reserved; the next call trips before it is made."""

    async def twice(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [(await run.model().ainvoke("hi")).text for _ in range(3)]}

    model = ScriptedModel.of("a", "b", "c")
    driven = drive(chart(twice, ruled(ModelRule(tries=1), fuses=fuses(tokens=160)), m=model))
    outcome = driven.start({})
    assert (outcome.reason["event"], len(model.calls)) == ("fuse.tokens", 2)
    spent = driven.session.database.ledger.spent("s1", run=driven.session.row().run)
    assert spent["WORK", "tokens"] == 30


def test_provider_that_takes_more_than_its_bound_is_told_of(drive: Drive) -> None:
    """The excess is charged, kept and in the audit log, and the next call trips."""

    async def twice(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [(await run.model().ainvoke("hi")).text for _ in range(2)]}

    model = ScriptedModel.of("a", "b", tokens_out=1000)
    driven = drive(chart(twice, ruled(ModelRule(tries=1), fuses=fuses(usd=0.01)), m=model))
    assert driven.start({}).reason["event"] == "fuse.usd"
    (entry,) = driven.session.database.journal.entries("s1")
    assert entry.usd == pytest.approx(0.0101)
    assert set(entry.overrun) == {"tokens", "usd"}
    (told,) = [row.record for row in driven.session.database.audit.rows("s1") if row.record["event"] == "call"]
    assert set(told["overrun"]) == {"tokens", "usd"}
