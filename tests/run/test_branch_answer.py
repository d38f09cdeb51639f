"""An ask of a branch that the session has left is answered there, and the session goes on there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward.errors import AskClosed, NotExpected, UnknownAsk
from stateward.run.session import Outcome
from stateward.run.travel import Timeline
from tests.charts.drive import Driven
from tests.charts.refunds import asking
from tests.charts.tools import Shop

Drive = Callable[..., Driven]


class Left:
    """A session that waited on `main` and was forked there: both branches wait, and it is on `other`."""

    def __init__(self, drive: Drive) -> None:
        self.shop = Shop()
        self.driven = drive(asking(self.shop))
        (self.ask,) = self.driven.start({"log": []}).asks
        self.timeline.fork(1, name="other")
        (self.again,) = self.driven.session.outcome().asks

    @property
    def timeline(self) -> Timeline:
        return Timeline(self.driven.session.graph, database=self.driven.session.database, session="s1")

    def answer(self, ask: str, decision: Any = "approve", *, by: str = "ann") -> Outcome:
        if self.driven.how == "sync":
            return self.timeline.answer(ask, decision, by=by)
        return asyncio.run(self.timeline.aanswer(ask, decision, by=by))

    @property
    def branches(self) -> list[tuple[str, str, bool]]:
        return [(one.name, one.status, one.current) for one in self.timeline.branches()]


@pytest.fixture
def left(drive: Drive) -> Left:
    return Left(drive)


def test_the_session_goes_on_with_the_branch_of_the_ask(left: Left) -> None:
    """The effect happens there, once, and the other branch still waits."""
    outcome = left.answer(left.ask)
    assert (outcome.status, left.shop.effects.count(("refund", "A1"))) == ("completed", 1)
    assert left.branches == [("main", "completed", True), ("other", "waiting", False)]


def test_each_branch_has_an_answer_of_its_own(left: Left) -> None:
    """An approval on one is none on the other."""
    left.answer(left.ask)
    assert left.answer(left.again, "reject").values["log"][0] == "rejected"
    assert left.shop.effects.count(("refund", "A1")) == 1


def test_an_ask_of_the_present_branch_is_answered_there(left: Left) -> None:
    """As the session answers it."""
    assert left.answer(left.again).status == "completed"
    assert left.branches == [("main", "waiting", False), ("other", "completed", True)]


def test_what_is_refused_changes_nothing(left: Left) -> None:
    """The session stays on its branch, and the ask is open."""
    with pytest.raises(UnknownAsk):
        left.answer("ask_0")
    left.answer(left.ask)
    with pytest.raises(AskClosed, match="`approve` by `ann`"):
        left.answer(left.ask)
    assert left.branches[0] == ("main", "completed", True)


def test_an_ask_of_another_session_is_refused(left: Left, drive: Drive) -> None:
    """It is not answered."""
    (other,) = drive(asking(Shop()), session="s2").start({"log": []}).asks
    with pytest.raises(NotExpected, match="belongs to session `s2`"):
        left.answer(other)
    assert left.driven.session.database.asks.get(other).status == "open"


def test_the_session_says_how_an_ask_of_another_branch_is_answered(left: Left) -> None:
    """Its own answers are for the branch it is on; nothing is recorded."""
    with pytest.raises(NotExpected, match=r"stands on branch `main`.*is on branch `other`") as refused:
        left.driven.session.answer(left.ask, "approve", by="ann")
    assert f"stateward answer {left.ask} approve --branch main" in refused.value.fix
    assert left.driven.session.database.asks.get(left.ask).status == "open"


def test_the_activity_sees_the_context_that_is_given(drive: Drive) -> None:
    """As when a branch is resumed."""

    async def signed(state: Any, run: sw.Run[Any]) -> Any:
        await run.tool("refund", order="A1")
        return {"log": [run.context]}

    driven = drive(asking(Shop(), signed))
    (ask,) = driven.start({"log": []}).asks
    timeline = Timeline(driven.session.graph, database=driven.session.database, session="s1")
    timeline.fork(1)
    assert timeline.answer(ask, "approve", by="ann", context="desk").values["log"] == ["desk"]
