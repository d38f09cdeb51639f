"""What regions are at: one that fails, asks or waits holds up no other, and the checkpoint says what is to run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.types import Command

import stateward as sw
from stateward.errors import NotExpected
from stateward.run.checkpoint import decode
from stateward.run.hub.regions import Regions, failing_state
from tests.charts.beside import Gate, compiled_beside, says
from tests.charts.drive import Driven, policy
from tests.charts.tools import Shop

Drive = Callable[..., Driven]


def broken(*, after: Gate | None = None, opens: Gate | None = None) -> Any:
    async def fail(state: Any) -> Any:
        if after is not None:
            await after.wait()
        if opens is not None:
            opens.open()
        raise ValueError("no such order")

    return fail


# -- failures -------------------------------------------------------------------------------------------


def test_failing_region_does_not_lose_its_siblings_result(drive: Drive) -> None:
    """A fails at once; B goes through two more states, and only then the run ends with A's reason."""
    gate = Gate()
    driven = drive(
        compiled_beside(
            [sw.State("A1", do=broken(opens=gate), to="END")],
            [sw.State("B1", do=says("b1", after=gate), to="B2"), sw.State("B2", do=says("b2"), to="END")],
        )
    )
    with pytest.raises(ValueError, match="no such order"):
        driven.start({})
    outcome = driven.session.outcome()
    assert (outcome.status, outcome.values["log"], outcome.path) == ("failed", ["b1", "b2"], "P.A.A1, P.B.END")
    assert (outcome.reason["event"], outcome.reason["state"]) == ("error.activity", "P.A.A1")


def test_first_failure_in_document_order_is_the_reason_and_the_others_are_named(drive: Drive) -> None:
    """B fails first, A later: the run's reason is A's, B's stands beside it."""
    gate = Gate()
    driven = drive(
        compiled_beside(
            [sw.State("A1", do=broken(after=gate), to="END")], [sw.State("B1", do=broken(opens=gate), to="END")]
        )
    )
    with pytest.raises(ValueError, match="no such order"):
        driven.start({})
    reason = driven.session.outcome().reason
    assert (reason["state"], [other["state"] for other in reason["others"]]) == ("P.A.A1", ["P.B.B1"])


def test_region_that_only_waits_does_not_hold_up_the_end(drive: Drive) -> None:
    """B waits for an event: nobody works, so the run ends."""
    driven = drive(compiled_beside([sw.State("A1", do=broken(), to="END")], [sw.State("B1", on=sw.on("go", "END"))]))
    with pytest.raises(ValueError, match="no such order"):
        driven.start({})
    assert driven.session.outcome().status == "failed"


def test_failure_is_the_regions_own_event(drive: Drive) -> None:
    """Its region takes `error.activity` and goes on; nothing failed."""
    gate = Gate()
    a = sw.State("A1", do=broken(), to="END", on=sw.on("error.activity", "A2"))
    a2 = sw.State("A2", do=says("mended", after=gate), to="END")
    graph = compiled_beside([a, a2], [sw.State("B1", do=says("b"), to="END", exit=gate.open)])
    outcome = drive(graph).start({})
    assert (outcome.status, outcome.values["log"]) == ("completed", ["b", "mended"])


def test_region_that_failed_can_be_left_by_another(drive: Drive) -> None:
    """The failure goes with the state it belongs to."""
    gate = Gate()
    graph = compiled_beside(
        [sw.State("A1", do=broken(opens=gate), to="END")], [sw.State("B1", do=says("b", after=gate), to="DONE")]
    )
    driven = drive(graph)
    assert driven.start({}).status == "completed"
    assert driven.control["failed"] == {}


def test_completion_that_leads_nowhere_fails_its_region_only(drive: Drive) -> None:
    """No guard of A's `to` is true: its update is kept, B goes on, the run fails in the end."""
    gate = Gate()
    a = sw.State("A1", do=says("a", opens=[gate]), to=[sw.when(lambda state: False, "END")])
    driven = drive(compiled_beside([a], [sw.State("B1", do=says("b", after=gate), to="END")]))
    outcome = driven.start({})
    assert (outcome.status, outcome.values["log"], outcome.reason["event"]) == (
        "failed",
        ["a", "b"],
        "error.transition",
    )


def test_event_that_leads_nowhere_fails_the_region_it_led_in(drive: Drive) -> None:
    """The reason names that region's state, as the error does, not the chart."""
    stuck = sw.State("A2", to=[sw.when(lambda state: False, "END")])
    driven = drive(
        compiled_beside([sw.State("A1", on=sw.on("go", "A2")), stuck], [sw.State("B1", on=sw.on("b", "END"))])
    )
    driven.start({})
    reason = driven.resume("go").reason
    assert (reason["state"], reason["data"]["state"]) == ("P.A.A1", "P.A.A2")


def test_update_that_does_not_fit_fails_its_region_only(drive: Drive) -> None:
    """It is validated when it is taken."""

    async def wrong(state: Any) -> Any:
        return {"number": "many"}

    driven = drive(compiled_beside([sw.State("A1", do=wrong, to="END")], [sw.State("B1", do=says("b"), to="END")]))
    with pytest.raises(Exception, match="number"):
        driven.start({})
    assert driven.session.outcome().values["log"] == ["b"]


def test_timeout_of_a_region_halts_in_the_end(drive: Drive) -> None:
    """A limit reached is no failure, here as elsewhere."""

    async def forever(state: Any) -> Any:
        await asyncio.Event().wait()

    a = sw.State("A1", do=forever, timeout_s=0.01, to="END")
    outcome = drive(compiled_beside([a], [sw.State("B1", do=says("b"), to="END")])).start({})
    assert (outcome.status, outcome.reason["event"], outcome.values["log"]) == ("halted", "timeout", ["b"])


def test_guard_that_raises_fails_the_region_of_its_state(drive: Drive) -> None:
    """`error.guard` nobody takes belongs to the state whose guard it is."""
    a = sw.State("A1", do=says("a"), to=[sw.when(lambda state: 1 / 0, "END"), "A2"])
    a2 = sw.State("A2", do=says("a2"), to="END")
    driven = drive(compiled_beside([a, a2], [sw.State("B1", do=says("b"), to="END")]))
    outcome = driven.start({})
    assert (outcome.status, outcome.reason["event"]) == ("failed", "error.guard")
    assert (outcome.path, "b" in outcome.values["log"]) == ("P.A.A2, P.B.END", True)


# -- the wait of several regions ------------------------------------------------------------------------


def waiting(drive: Drive) -> Driven:
    return drive(
        compiled_beside(
            [sw.State("A1", on=[sw.on("left", "END"), sw.on("both", "END")])],
            [sw.State("B1", on=[sw.on("right", "END"), sw.on("both", "END")])],
            on=[sw.on("stop", "DONE")],
        )
    )


def test_it_interrupts_once_for_all_regions(drive: Drive) -> None:
    """One interrupt with the states that wait, and each event with who takes it."""
    driven = waiting(drive)
    driven.start({})
    (interrupted,) = driven.session.graph.get_state(driven.session.config).interrupts
    takers = {event["name"]: event["states"] for event in interrupted.value["events"]}
    assert takers == {"left": ["P.A.A1"], "both": ["P.A.A1", "P.B.B1"], "stop": ["P"], "right": ["P.B.B1"]}
    assert (interrupted.value["kind"], interrupted.value["states"]) == ("wait", ["P.A.A1", "P.B.B1"])


def test_event_moves_the_regions_that_take_it(drive: Drive) -> None:
    """One region, both, or all that is around them."""
    driven = waiting(drive)
    driven.start({})
    assert driven.resume("left").path == "P.A.END, P.B.B1"
    assert driven.resume("right").status == "completed"


@pytest.mark.parametrize("event", ["both", "stop"])
def test_event_may_move_them_all(drive: Drive, event: str) -> None:
    """Both regions at once, or the state around them."""
    driven = waiting(drive)
    driven.start({})
    assert driven.resume(event).status == "completed"


def test_event_nobody_awaits_is_refused(drive: Drive) -> None:
    """The wait stays as it is."""
    driven = waiting(drive)
    driven.start({})
    with pytest.raises(NotExpected, match="left, both, stop, right"):
        driven.resume("other")
    assert driven.session.outcome().status == "waiting"


def test_regions_that_nobody_can_leave_are_stuck(drive: Drive) -> None:
    """Nothing runs, nothing is awaited: the run says so."""
    driven = drive(compiled_beside([sw.State("A1")], [sw.State("B1")]))
    outcome = driven.start({})
    assert (outcome.status, outcome.reason["event"]) == ("failed", "stuck")


# -- questions ------------------------------------------------------------------------------------------


async def refund(state: Any, run: sw.Run[Any]) -> Any:
    paid = await run.tool("refund", order=run.path)
    return {"log": [f"{run.path} {paid.status}"]}


def refunding(shop: Shop, *, second: Any = refund, exit: Any = None) -> Any:
    tools = ["refund"]
    return compiled_beside(
        [sw.State("S", do=refund, tools=tools, to="END", exit=exit)],
        [sw.State("S", do=second, tools=tools if second is refund else [], to="END")],
        box=shop.box,
        policy=policy("approve_refunds"),
    )


def test_region_that_asks_holds_up_no_other(drive: Drive) -> None:
    """A asks; B comes to its end; then the graph interrupts with A's question."""
    driven = drive(refunding(Shop(), second=says("b")))
    outcome = driven.start({})
    assert (outcome.status, outcome.values["log"], outcome.path) == ("waiting", ["b"], "P.A.S.ask, P.B.END")
    (interrupted,) = driven.session.graph.get_state(driven.session.config).interrupts
    assert (interrupted.value["kind"], [ask["id"] for ask in interrupted.value["asks"]]) == ("ask", list(outcome.asks))


def test_questions_of_all_regions_are_put_together_and_answered_one_by_one(drive: Drive) -> None:
    """An answer enters only the activity that asked."""
    shop = Shop()
    driven = drive(refunding(shop))
    driven.start({})
    (first,), (second,) = (driven.control["asks"][path] for path in ("P.A.S", "P.B.S"))
    outcome = driven.answer(second)
    assert (outcome.status, outcome.asks, shop.done("refund")) == ("waiting", (first,), ["P.B.S"])
    outcome = driven.answer(first, "reject")
    assert (outcome.status, outcome.values["log"]) == ("completed", ["P.B.S ok", "P.A.S rejected"])


def test_answers_may_come_together(drive: Drive) -> None:
    """In LangChain's form, in the order of the asks."""
    shop = Shop()
    driven = drive(refunding(shop))
    driven.start({})
    asked = list(driven.control["asks"])
    driven.send(Command(resume={"decisions": [{"type": "approve"}, {"type": "reject"}], "by": "ann"}))
    assert (driven.session.outcome().status, shop.done("refund")) == ("completed", asked[:1])


def test_answer_that_comes_while_a_sibling_runs_is_picked_up(drive: Drive) -> None:
    """B answers A's question in the database and waits until A is left: the hub enters A again meanwhile."""
    gate = Gate()

    async def answer(state: Any, run: sw.Run[Any]) -> Any:
        database = driven.session.database
        while not (asks := database.asks.open("s1")):
            await asyncio.sleep(0)
        driven.session.claim(asks[0].id, "approve", by="ann")
        await gate.wait()
        return {"log": ["b"]}

    driven = drive(refunding(Shop(), second=answer, exit=gate.open))
    assert driven.start({}).values["log"] == ["P.A.S ok", "b"]


def test_event_that_leaves_a_state_takes_its_question_back(drive: Drive) -> None:
    """Nobody waits for the answer any more; the other question stays."""
    shop = Shop()
    graph = compiled_beside(
        [sw.State("S", do=refund, tools=["refund"], to="END", on=sw.on("skip", "END"))],
        [sw.State("S", do=refund, tools=["refund"], to="END")],
        box=shop.box,
        policy=policy("approve_refunds"),
    )
    driven = drive(graph)
    driven.start({})
    (first,), (second,) = (driven.control["asks"][path] for path in ("P.A.S", "P.B.S"))
    assert driven.resume("skip").asks == (second,)
    assert driven.session.database.asks.get(first).status == "withdrawn"


# -- as a value -----------------------------------------------------------------------------------------


def test_what_is_to_run_follows_from_the_checkpoint(drive: Drive) -> None:
    """Active, with an activity that has neither ended nor failed nor asked."""
    graph = refunding(Shop(), second=says("b"))
    driven = drive(graph)
    driven.start({})
    control = decode(driven.control, graph.machine.chart)
    regions = Regions.of(graph.machine, control)
    assert (regions.working, regions.place().status) == ((), "waiting")
    asking = graph.machine.chart.by_path["P.A.S"]
    assert (again := regions.with_asks(asking, ())).working == (asking,)
    assert again.delta(regions) == {"asks": {"P.A.S": None}}
    assert regions.with_failure(asking, {"event": "x", "status": "halted"}).place().status == "halted"


def test_failure_belongs_to_the_innermost_active_state_around_it(drive: Drive) -> None:
    """A state that was left stands for what its region is in now; one around several regions for all of them."""
    driven = waiting(drive)
    driven.start({})
    machine = driven.session.graph.machine
    configuration = decode(driven.control, machine.chart).configuration
    names = ["P.A.A1", "P.A.END", "P.B", "P", "nobody"]
    found = [machine.chart.nodes[failing_state(machine.chart, configuration, name)].path for name in names]
    assert found == ["P.A.A1", "P.A.A1", "P.B.B1", "P", ""]
