"""What a caller cannot talk the door into, and what never wedges a session."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.types import Command
from pydantic import BaseModel

import stateward as sw
from stateward.errors import Diverged, Drift, GovernanceError, InputRefused, MicrostepLimit, NotExpected
from stateward.govern.policy import Fuses, Policy
from stateward.testing import How, run_graph
from tests.charts.drive import Driven, policy
from tests.charts.one import One, compiled
from tests.charts.tools import Shop

Drive = Callable[..., Driven]


async def refund(state: Any, run: sw.Run[Any]) -> Any:
    return {"log": [(await run.tool("refund", order="A")).status]}


def test_answer_that_could_lead_nowhere_is_not_recorded(drive: Drive) -> None:
    """Under another policy the run cannot go on, so the ask stays open for who has the right one."""
    shop = Shop()
    asked = drive(compiled(refund, box=shop.box, policy=policy("approve_refunds")))
    ask = asked.start({}).asks[0]
    other = drive(compiled(refund, box=shop.box, policy=policy("ann_approves_refunds")))

    with pytest.raises(Drift):
        other.session.answer(ask, "approve", by="ann")

    assert asked.session.database.asks.get(ask).status == "open"
    assert asked.answer(ask).status == "completed"


def test_answer_to_a_session_kept_elsewhere_is_not_recorded(drive: Drive) -> None:
    """Its checkpoints are with another saver; the error says how it is answered there."""
    shop = Shop()
    asked = drive(compiled(refund, box=shop.box, policy=policy("approve_refunds")))
    ask = asked.start({}).asks[0]
    with asked.session.database.transaction("s1") as cur:
        cur.execute("DELETE FROM checkpoints WHERE thread_id = ?", ("s1",))

    with pytest.raises(NotExpected, match="no checkpoint"):
        asked.session.answer(ask, "approve", by="ann")

    assert asked.session.database.asks.get(ask).status == "open"


def test_who_answers_is_what_the_host_says_not_the_payload(drive: Drive) -> None:
    """A client cannot name itself an approver."""
    shop = Shop()
    driven = drive(compiled(refund, box=shop.box, policy=policy("ann_approves_refunds")))
    ask = driven.start({}).asks[0]
    config = {"configurable": {"thread_id": "s1", "approver": "eve"}}

    with pytest.raises(GovernanceError, match="eve"):
        run_graph(
            driven.session.graph,
            Command(resume={"answers": {ask: {"decision": "approve", "by": "ann"}}, "by": "ann"}),
            how=driven.how,
            config=config,  # pyright: ignore[reportArgumentType]  # a plain dict, as callers write it
        )
    assert shop.effects == []


def test_blank_name_is_nobody(drive: Drive) -> None:
    """An answer needs a name."""
    driven = drive(compiled(refund, box=Shop().box, policy=policy("approve_refunds")))
    ask = driven.start({}).asks[0]
    with pytest.raises(GovernanceError):
        driven.session.answer(ask, "approve", by="   ")


def test_diverged_activity_fails_its_run_and_the_session_lives(drive: Drive) -> None:
    """It is recorded, not repeated for ever; the next input opens a new run."""
    ticks = itertools.count()

    async def restless(state: Any, run: sw.Run[Any]) -> Any:
        await run.tool("lookup", order=f"A-{next(ticks)}")
        return {"log": [(await run.tool("refund", order="A")).status]}

    driven = drive(compiled(restless, box=Shop().box, policy=policy("approve_refunds")))
    ask = driven.start({}).asks[0]

    with pytest.raises(Diverged):
        driven.answer(ask)

    failed = driven.session.outcome()
    assert (failed.status, (failed.reason or {})["event"]) == ("failed", "error.diverged")
    assert driven.start({}).status == "waiting"


def test_call_that_never_stays_the_same_is_not_asked_about_for_ever(drive: Drive) -> None:
    """Three answers that fit nothing are enough."""
    ticks = itertools.count()

    async def restless(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [(await run.tool("refund", order=f"A-{next(ticks)}")).status]}

    driven = drive(compiled(restless, box=Shop().box, policy=policy("approve_refunds")))
    ask = driven.start({}).asks[0]
    for _ in range(2):
        ask = driven.answer(ask).asks[0]

    with pytest.raises(Diverged, match="answered 3 times"):
        driven.answer(ask)


def test_guard_that_raises_is_named_when_an_event_is_refused(drive: Drive) -> None:
    """It counts as false, but is not hidden."""

    def broken(state: Any) -> bool:
        raise KeyError("colour")

    chart = sw.Chart("guarded", One, sw.State("A", on=[sw.on("go", "DONE", when=broken)]), sw.Final("DONE"))
    driven = drive(chart.compile())
    driven.start({})
    with pytest.raises(NotExpected, match=r"broken.*KeyError"):
        driven.resume("go")


def test_beginning_without_rest_leaves_nothing_behind(drive: Drive) -> None:
    """A circle of eventless transitions at the start is refused before anything is committed."""
    chart = sw.Chart(
        "circle",
        One,
        sw.State("A", always=[sw.when(lambda state: True, "B")]),
        sw.State("B", always=[sw.when(lambda state: True, "A")]),
        policy=Policy(name="few", fuses=Fuses(microsteps=20)),
    )
    driven = drive(chart.compile())
    with pytest.raises(MicrostepLimit):
        driven.start({})
    assert (driven.session.outcome().status, driven.checkpoints) == ("new", [])


class Strict(BaseModel):
    """A state with a key that has no default."""

    name: str
    number: int = 0


def test_input_that_does_not_make_the_model_is_refused(how: How) -> None:
    """A missing key is named before anything runs."""
    chart = sw.Chart("strict", Strict, sw.State("A", do=lambda state: {"number": 1}, to="DONE"), sw.Final("DONE"))
    with pytest.raises(InputRefused, match="name"):
        run_graph(chart.compile(), {"number": 3}, how=how)


def test_graph_with_a_saver_wants_a_session(drive: Drive) -> None:
    """The error says where it is named."""
    driven = drive(compiled(lambda state: None))
    with pytest.raises(InputRefused, match="thread_id"):
        run_graph(driven.session.graph, {}, how=driven.how)
