"""Attempts to get more out of a model than a policy lets it cost."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.messages import HumanMessage

import stateward as sw
from stateward.errors import DefinitionError, StatewardError
from stateward.govern.policy import Fuses, Policy
from stateward.run.door.role import ModelRole, role_of
from stateward.testing import ScriptedModel
from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.red.world import ids

Drive = Callable[..., Driven]
CENT = 0.010
"""What ten tokens of output cost: the role's limit."""


def role(model: Any = None, **rest: Any) -> ModelRole:
    """A role whose every call costs at most a cent, and nothing for its input."""
    model = model or ScriptedModel.of(*["hello"] * 99)
    price = {"usd_per_million_input": 0.0, "usd_per_million_output": 1000.0}
    return ModelRole(name="m", model=model, max_output_tokens=10, **price, **rest)


def spending(do: Any, made: ModelRole | None = None, **fuses: Any) -> Any:
    """A graph under a fuse on money, or on what is given."""
    policy = Policy(name="red", fuses=Fuses(**(fuses or {"usd": 2.5 * CENT})))
    return compiled(do, model="m", models={"m": made or role()}, policy=policy)


OPTIONS: dict[str, dict[str, Any]] = {
    "max_tokens": {"max_tokens": 10**6},
    "max_completion_tokens": {"max_completion_tokens": 10**6},
    "max_output_tokens": {"max_output_tokens": 10**6},
    "camel case": {"maxOutputTokens": 10**6},
    "num_predict": {"num_predict": -1},
    "none": {"max_tokens": None},
    "below nothing": {"max_tokens": -1},
    "text": {"max_tokens": "1000000"},
    "infinity": {"max_tokens": float("inf")},
    "all": {"max_tokens": 10**6, "max_completion_tokens": 10**6, "num_predict": 10**6},
    "in extra_body": {"extra_body": {"max_tokens": 10**6}},
    "in model_kwargs": {"model_kwargs": {"max_completion_tokens": 10**6}},
    "in generation_config": {"generation_config": {"max_output_tokens": 10**6}},
    "in options": {"options": {"num_predict": 10**6}},
    "nested twice": {"extra_body": {"generation_config": {"max_output_tokens": 10**6}}},
    "nested three times": {"extra_body": {"options": {"model_kwargs": {"max_tokens": 10**6}}}},
    "n": {"n": 100},
    "n as text": {"n": "100"},
    "n below nothing": {"n": -1},
    "best_of": {"best_of": 100},
    "candidate_count": {"generation_config": {"candidate_count": 100}},
    "n nested": {"extra_body": {"n": 100}},
    "n nested twice": {"extra_body": {"generation_config": {"candidateCount": 100}}},
}


def largest(value: Any) -> float:
    """The largest number anywhere in what was sent."""
    if isinstance(value, dict):
        return max(map(largest, cast("dict[str, Any]", value).values()), default=0)
    if isinstance(value, list | tuple):
        return max(map(largest, cast("list[Any]", value)), default=0)
    return float(value) if isinstance(value, int | float | str) and str(value).lstrip("-").isdigit() else 0


@pytest.mark.parametrize("options", ids(OPTIONS))
def test_what_is_sent_asks_for_no_more_than_was_reserved(options: dict[str, Any]) -> None:
    """Each limit of a reply is the role's, and replies are counted, or there is no bound."""
    made = role()
    bound, sent = made.bound([HumanMessage("x")], options), made.ready(options).options
    kept = {name: value for name, value in sent.items() if name not in ("n", "best_of")}
    replies = {name: kept.pop(name) for name in ("extra_body", "generation_config") if _asks_for_replies(kept, name)}
    assert largest(kept) <= 10
    if largest(replies) > 1 or largest({name: sent.get(name, 0) for name in ("n", "best_of")}) > 1:
        assert bound.usd is None or bound.usd >= 100 * CENT


def _asks_for_replies(sent: dict[str, Any], name: str) -> bool:
    said = str(sent.get(name))
    return any(word in said for word in ("candidate", "'n'"))


@pytest.mark.parametrize("how", ["async"])
@pytest.mark.parametrize("options", ids(OPTIONS))
@pytest.mark.parametrize("is_bound", ids({"with the call": False, "bound after the door": True}))
def test_options_of_a_call_buy_nothing_more(drive: Drive, options: dict[str, Any], is_bound: bool) -> None:
    """As many calls fit under the fuse as without them, or fewer."""

    async def do(state: Any, run: sw.Run[Any]) -> Any:
        for _ in range(9):
            model = run.model()
            asked = model.bind(**options) if is_bound else model
            await asked.ainvoke("hello", **({} if is_bound else options))
        return {}

    driven = drive(spending(do))
    with suppress(StatewardError, TypeError, ValueError):
        driven.start({})
    entries = driven.session.database.journal.entries("s1")
    assert sum(entry.usd for entry in entries) <= 2.5 * CENT
    assert len(entries) <= 4  # a reply costs half a cent, and the last one needs room for a whole one


async def retried(state: Any, run: sw.Run[Any]) -> Any:
    failing = run.model().with_retry(stop_after_attempt=9, wait_exponential_jitter=False)
    for _ in range(9):
        with suppress(Exception):
            await failing.ainvoke("hello")
    return {}


async def fallen_back(state: Any, run: sw.Run[Any]) -> Any:
    with_others = run.model().with_fallbacks([run.model()] * 9)
    for _ in range(9):
        with suppress(Exception):
            await with_others.ainvoke("hello")
    return {}


async def batched(state: Any, run: sw.Run[Any]) -> Any:
    await run.model().abatch(["hello"] * 50, return_exceptions=True)
    return {}


async def generated(state: Any, run: sw.Run[Any]) -> Any:
    await run.model().agenerate([[HumanMessage("hello")]] * 50)
    return {}


async def abandoned(state: Any, run: sw.Run[Any]) -> Any:
    for _ in range(50):
        stream = run.model().astream("hello")
        await anext(stream)
        await cast("Any", stream).aclose()
    return {}


async def dropped(state: Any, run: sw.Run[Any]) -> Any:
    for _ in range(50):
        async for _ in run.model().astream("hello"):
            break
    return {}


async def copied(state: Any, run: sw.Run[Any]) -> Any:
    for _ in range(50):
        await run.model().model_copy(update={"cache": InMemoryCache()}).ainvoke("hello")
    return {}


async def with_config(state: Any, run: sw.Run[Any]) -> Any:
    for _ in range(50):
        await run.model().with_config(tags=["x"]).ainvoke("hello")
    return {}


WAYS = [retried, fallen_back, batched, generated, abandoned, dropped, copied, with_config]


@pytest.mark.parametrize("do", WAYS)
@pytest.mark.parametrize("fuses", [{"usd": 2.5 * CENT}, {"turns": 2}], ids=["usd", "turns"])
def test_no_wrapper_around_the_model_gets_a_third_call(drive: Drive, do: Any, fuses: dict[str, Any]) -> None:
    """Retries, fallbacks, batches, streams that are left: each call is one call."""
    model = ScriptedModel.of(*["hello"] * 99)
    driven = drive(spending(do, role(model), **fuses))
    with suppress(StatewardError):
        driven.start({})
    entries = driven.session.database.journal.entries("s1")
    assert len(entries) <= (2 if "turns" in fuses else 50)
    spent = driven.session.database.ledger.spent("s1", entries[0].key.run)
    assert all(spent.get(("WORK", unit), spent.get(("", unit), 0.0)) <= most for unit, most in fuses.items())


WRAPPED: dict[str, Callable[[Any], Any]] = {
    "with_retry": lambda model: model.with_retry(),
    "with_fallbacks": lambda model: model.with_fallbacks([model]),
    "chain": lambda model: model | str,
    "config": lambda model: model.with_config(callbacks=[]),
    "cache": lambda model: model.model_copy(update={"cache": InMemoryCache()}),
    "function": lambda model: str,
    "text": lambda model: "openai:gpt",
}


@pytest.mark.parametrize("wrapped", ids(WRAPPED))
def test_a_model_that_is_wrapped_before_the_door_is_refused(wrapped: Callable[[Any], Any]) -> None:
    """Nobody would see its attempts."""
    with pytest.raises(DefinitionError):
        role_of("m", wrapped(ScriptedModel.of("hello")))


@pytest.mark.parametrize("name", ["other", "M", "m ", ""])
def test_a_model_of_another_role_is_not_called(drive: Drive, name: str) -> None:
    """The state declares one; others are there and not for it."""
    other = ScriptedModel.of("free")
    got: list[str] = []

    async def do(state: Any, run: sw.Run[Any]) -> Any:
        with suppress(DefinitionError):
            got.append((await run.model(name or "none").ainvoke("hello")).text)
        return {}

    drive(compiled(do, model="m", models={"m": role(), "other": other})).start({})
    assert got == []
