"""What a call came to."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stateward as sw
from stateward.run.door.outcome import failed, kept, replayed, status_of, timed_out, undeclared
from stateward.run.store.database import Database
from tests.charts.drive import Driven, policy
from tests.charts.one import compiled
from tests.charts.tools import Mute, Shop
from tests.run.store.desk import entry

TOOL = Shop().lookup
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_json_is_kept_as_it_is(value: Any) -> None:
    """What a tool returns as JSON is what the activity sees, now and on re-entry."""
    outcome = kept(TOOL, value)
    assert (outcome.status, outcome.result) == ("completed", value)


@pytest.mark.parametrize(("value", "seen"), [((1, 2), [1, 2]), ({"a": (1,)}, {"a": [1]}), ({3}, [3])])
def test_other_shapes_become_json_at_once(value: Any, seen: Any) -> None:
    """A tuple is a list before the activity sees it, as it will be after a crash."""
    assert kept(TOOL, value).result == seen


def deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def circle() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def breaks() -> Iterator[int]:
    yield 1
    raise ZeroDivisionError


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        object(),
        lambda: None,
        b"%PDF\xff",
        "\ud800",
        {"\ud800": 1},
        10**5000,
        deep(3000),
        circle(),
        breaks(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_json_is_a_failed_call(value: Any) -> None:
    """It says that the tool ran."""
    outcome = kept(TOOL, value)
    assert outcome.status == "failed"
    assert "it ran" in outcome.result["error"]["reason"]


@pytest.mark.parametrize("error", [ValueError("\ud800"), Mute()])
def test_error_that_cannot_be_told_is_a_failed_call(error: Exception) -> None:
    """Its outcome is JSON that every database takes."""
    assert json.dumps(failed(TOOL, error).result, ensure_ascii=False).encode()


ASYNC_ONCE = replace(Shop().refund, effect="once")


@pytest.mark.parametrize(
    ("tool", "status"),
    [(Shop().mail, "unknown"), (ASYNC_ONCE, "unknown"), (Shop().refund, "failed"), (TOOL, "failed")],
)
def test_end_of_a_once_tool_that_timed_out_is_unknown(tool: Any, status: str) -> None:
    """Its thread goes on, or it was stopped in its middle; of every other tool the call failed."""
    assert timed_out(tool, began=True).status == status


def test_call_that_never_began_failed() -> None:
    """It waited for a thread all the time: nothing happened, and everybody knows."""
    outcome = timed_out(Shop().mail, began=False)
    assert (outcome.status, status_of(outcome.status, outcome.result)) == ("failed", "timeout")


@pytest.mark.parametrize(
    ("outcome", "status"),
    [(failed(TOOL, KeyError("x")), "failed"), (timed_out(TOOL, began=True), "timeout"), (kept(TOOL, 1), "ok")],
)
def test_replayed_call_has_the_status_it_had(outcome: Any, status: str) -> None:
    """The journal's word and the JSON beside it tell them apart."""
    known = replace(entry(), status=outcome.status, result=outcome.result)
    assert status_of(outcome.status, outcome.result) == status
    assert (replayed(known).status, replayed(known).value) == (status, outcome.result)


def test_outcome_is_a_value() -> None:
    """It is frozen."""
    with pytest.raises(AttributeError):
        kept(TOOL, 1).status = "failed"  # type: ignore[misc]


def test_undeclared_tool_is_told_with_the_declared_ones() -> None:
    """A model reads what it may use instead."""
    assert undeclared("pay", {}).endswith("`pay`; it may use: none")


def odd(results: list[Any], effects: list[str]) -> tuple[Any, Any]:
    """Tools that act and return what cannot be kept."""

    def act(what: str) -> Any:
        """Act."""
        effects.append(what)
        return results[0]

    async def act_async(what: str) -> Any:
        """Act."""
        return act(what)

    return sw.tool(name="act")(act), sw.tool(name="act")(act_async)


@pytest.mark.parametrize("value", [b"%PDF\xff", circle(), "\ud800"], ids=["bytes", "circle", "surrogate"])
@pytest.mark.parametrize("which", [0, 1], ids=["sync", "async"])
def test_a_once_tool_whose_result_cannot_be_kept_never_runs_again(
    drive: Callable[..., Driven], database: Database, which: int, value: Any
) -> None:
    """The journal knows that it ran, also when the activity is entered again."""
    effects = list[str]()

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        first = await run.tool("act", what="pay")
        await run.tool("refund", order="A1")
        return {"log": [first.status]}

    box = [odd([value], effects)[which], Shop().refund]
    driven = drive(compiled(act, box=box, policy=policy("approve_refunds")))
    outcome = driven.answer(driven.start({}).asks[0])
    assert (outcome.values["log"], effects) == (["failed"], ["pay"])
    assert [entry.status for entry in database.journal.entries("s1")] == ["failed", "completed"]


@pytest.mark.parametrize(
    "value",
    ["\ud800", b"\xff", {"a": circle()}, math.nan, [{"a": -math.inf}]],
    ids=["surrogate", "bytes", "circle", "nan", "inf"],
)
def test_arguments_that_cannot_be_kept_are_refused(
    drive: Callable[..., Driven], database: Database, value: Any
) -> None:
    """Whoever made the call is told, and nothing has happened."""
    effects = list[str]()

    @sw.tool()
    def act(what: Any) -> None:
        """Act."""
        effects.append(what)

    async def work(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [(await run.tool("act", what=value)).status]}

    assert drive(compiled(work, box=[act])).start({}).values["log"] == ["invalid"]
    assert (effects, database.journal.entries("s1")) == ([], ())
