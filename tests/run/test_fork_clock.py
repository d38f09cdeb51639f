"""A fork under a database with another clock: a call is older than a question by one and the same clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import stateward as sw
from stateward.run.store.database import Database
from stateward.run.travel import Timeline
from tests.charts.drive import Driven
from tests.charts.refunds import asking
from tests.charts.tools import Shop


class Elsewhere:
    """The clock of another machine.

    Args:
        ahead_s: How much later it is there.
    """

    def __init__(self, ahead_s: float) -> None:
        self._ahead_s = ahead_s

    def now(self) -> float:
        return time.time() + self._ahead_s

    def monotonic(self) -> float:
        return time.monotonic()


@pytest.fixture(params=[-3600.0, 3600.0])
def database(request: pytest.FixtureRequest) -> Iterator[Database]:
    """A fresh database, an hour behind or ahead."""
    with sw.open("memory:", clock=Elsewhere(request.param)) as opened:
        yield opened


async def look_refund_look(state: Any, run: sw.Run[Any]) -> Any:
    """One call before the question, and one after it."""
    said = [await run.tool("lookup", order="before"), await run.tool("refund", order="A1")]
    return {"log": [each.status for each in (*said, await run.tool("lookup", order="after"))]}


def test_a_fork_knows_what_was_called_before_its_question_and_nothing_after(drive: Callable[..., Driven]) -> None:
    """Whichever clock the checkpoint was written by."""
    driven = drive(asking(shop := Shop(), look_refund_look))
    driven.answer(driven.start({"log": []}).asks[0])
    timeline = Timeline(driven.session.graph, driven.session.database, "s1")
    timeline.fork(next(row.checkpoint for row in timeline.rows if row.status == "waiting"))
    (again,) = driven.session.outcome().asks
    assert driven.answer(again).status == "completed"
    assert (shop.done("lookup"), shop.done("refund")) == (["before", "after", "after"], ["A1", "A1"])
