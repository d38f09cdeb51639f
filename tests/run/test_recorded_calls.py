"""The calls of a session, as they were decided."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import stateward as sw
from stateward import ask
from stateward.govern.policy import Fuses, Policy, Rule, ToolPolicy
from stateward.run.recorded_calls import recorded_calls
from tests.charts import people
from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.charts.refunds import asking
from tests.charts.tools import Shop

Drive = Callable[..., Driven]


def told(driven: Driven) -> list[tuple[str, str, bool]]:
    """Name, what was decided, and whether the call was made."""
    calls = recorded_calls(driven.session.database, driven.session.id)
    return [(call.name, call.before, call.made) for call in calls]


async def looks_and_mails(state: Any, run: sw.Run[Any]) -> Any:
    names = ("lookup", "mail", "lookup", "lookup")
    given = {"lookup": {"order": "A"}, "mail": {"to": "x"}}
    return {"log": [(await run.tool(name, **given[name])).status for name in names]}


def test_refusals_stand_between_the_calls_that_were_made(drive: Drive) -> None:
    """Where they were, and each once; the last one is the fuse."""
    shop = Shop()
    rules = (Rule(match="lookup", level="allowed"),)
    ruled = Policy(name="p", fuses=Fuses(calls=2), tools=ToolPolicy(rules=rules))
    driven = drive(compiled(looks_and_mails, box=[shop.lookup, shop.mail], policy=ruled))
    driven.start({})
    assert told(driven) == [
        ("lookup", "allow", True), ("mail", "deny", False), ("lookup", "allow", True), ("lookup", "deny", False),
    ]  # fmt: skip


def test_questions_are_told_whatever_became_of_them(drive: Drive) -> None:
    """Open, rejected or approved."""
    driven = drive(asking(Shop()))
    asked = driven.start({"text": "x"}).asks[0]
    assert told(driven) == [("lookup", "allow", True), ("refund", "ask", False)]
    driven.answer(asked, "reject")
    assert told(driven) == [("lookup", "allow", True), ("refund", "ask", False)]


def test_a_call_tells_what_it_spent(drive: Drive) -> None:
    """By unit, once and not for each scope."""
    driven = drive(asking(Shop()))
    driven.answer(driven.start({"text": "x"}).asks[0])
    calls = recorded_calls(driven.session.database, "s1")
    assert dict(calls[1].amounts) == {"calls:refund": 1.0, "calls": 1.0, "usd": 0.0}
    assert (calls[1].before, calls[1].made) == ("ask", True)


def test_a_question_of_an_activity_is_no_call_that_a_policy_decides(drive: Drive) -> None:
    """Whether it is open or answered."""
    driven = drive(people.asking(ask.text("City?"), ask.text("Way?")))
    (city,) = driven.start({}).asks
    driven.answer(city, "respond", note="Rome")
    assert told(driven) == []
