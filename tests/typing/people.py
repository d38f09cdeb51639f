"""What a checker knows of questions to people; run by tests/test_typing.py, never imported."""

from __future__ import annotations

from typing import Any, TypedDict, assert_type

from pydantic import BaseModel

import stateward as sw
from stateward import ask


class Draft(TypedDict, total=False):
    text: str


class Trip(BaseModel):
    city: str


# An answer is of the type that was asked for.


async def plan(state: Draft, run: sw.Run[Any]) -> sw.Update[Draft]:
    assert_type(await run.ask(ask.approve("Go?", approvals=2, four_eyes=True)), ask.Approval)
    assert_type(await run.ask(ask.text("Where?", expires_s=60, default="here")), str)
    assert_type(await run.ask(ask.text("Where?", schema=Trip)), Trip)
    assert_type(await run.ask(ask.choose("Which?", ["a", "b"], remind_s=[60])), str)
    assert_type(await run.ask(ask.edit({"days": 1})), dict[str, int])
    assert_type(await run.ask(ask.edit({"city": "Rome"}, schema=Trip)), Trip)
    assert_type(await run.ask(ask.review_call("pay", {"eur": 3})), ask.Review)
    assert_type(await run.ask_all([ask.text("A?"), ask.choose("B?", ["a", "b"])]), list[str])
    return {"text": await run.ask(ask.text("Where?"))}


def plan_sync(state: Draft, run: sw.SyncRun[Any]) -> sw.Update[Draft]:
    assert_type(run.ask(ask.approve("Go?", about={"a": 1}, approvers=["ann"])), ask.Approval)
    return {"text": run.ask(ask.text("Where?"))}


sw.State("PLAN", do=plan, asks=True)
sw.State("PLAN", do=plan_sync, asks=True)


# What does not fit is refused, line by line.


async def wrong(state: Draft, run: sw.Run[Any]) -> sw.Update[Draft]:
    await run.ask("Go?")  # pyright: ignore[reportArgumentType]
    await run.ask(ask.approve("Go?", options=["a"]))  # pyright: ignore[reportCallIssue, reportUnknownArgumentType]
    await run.ask(ask.choose("Which?", ["a", "b"], default=1))  # pyright: ignore[reportArgumentType]
    await run.ask(ask.choose("Which?", ["a", "b"], four_eyes=True))  # pyright: ignore[reportCallIssue, reportUnknownArgumentType]
    await run.ask(ask.review_call("pay", "eur"))  # pyright: ignore[reportArgumentType]
    return {}


sw.State("PLAN", do=plan, asks="yes")  # pyright: ignore[reportArgumentType]
