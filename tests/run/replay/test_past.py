"""Branches in a replay: what they brought along from the line they were forked from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward.run.travel import Timeline
from tests.charts.drive import Driven, policy
from tests.charts.one import compiled
from tests.charts.refunds import asking
from tests.charts.replayed import replayed, same
from tests.charts.tools import Shop

Drive = Callable[..., Driven]


@pytest.fixture
def shop() -> Shop:
    return Shop()


def forked(driven: Driven, step: int) -> None:
    timeline = Timeline(driven.session.graph, database=driven.session.database, session="s1")
    timeline.fork(step)


def test_question_that_a_fork_puts_again_is_answered_again(drive: Drive, shop: Shop) -> None:
    """The call before it was inherited, the one that was approved is made on the new branch."""
    driven = drive(asking(shop))
    driven.answer(driven.start({}).asks[0])
    forked(driven, 1)
    driven.answer(driven.session.outcome().asks[0], "reject", note="not twice")
    assert same(driven)
    assert shop.done("refund") == ["A1"]


def test_what_the_line_that_was_left_spent_counts_on_the_new_one(drive: Drive, shop: Shop) -> None:
    """A fuse trips on the branch, where it did, because of calls that are not on the branch."""

    async def look(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [(await run.tool("lookup", order=order)).status for order in "ab"]}

    driven = drive(compiled(look, box=shop.box, policy=policy("three_calls"), handles=["fuse"]))
    assert driven.start({}).status == "completed"
    forked(driven, 0)
    assert driven.resume().path == "HELP"
    assert same(driven)
    assert replayed(driven).calls == 1
