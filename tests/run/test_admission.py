"""Admission: what does not fit is refused before anything is committed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langgraph.types import Command

import stateward as sw
from stateward.errors import Drift, InputRefused, NotExpected, SessionBusy, UnknownSession
from stateward.run.store.database import Database
from stateward.testing import How
from tests.charts.drive import Driven, policy
from tests.charts.one import compiled, one
from tests.charts.tools import Shop
from tests.charts.waiting import waiting
from tests.charts.working import graph

Drive = Callable[..., Driven]


def opened(drive: Drive) -> Driven:
    driven = drive(waiting().compile())
    driven.start({"text": "first"})
    return driven


@pytest.mark.parametrize("given", [{"nobody": 1}, {"text": {"a": 1}}, 7])
def test_input_that_does_not_fit_is_refused_before_anything_is_committed(drive: Drive, given: Any) -> None:
    """A new session stays without a checkpoint: there is none."""
    driven = drive(waiting().compile())
    with pytest.raises(InputRefused):
        driven.start(given)
    assert (driven.checkpoints, driven.session.row(), driven.session.database.sessions.list()) == ([], None, ())


@pytest.mark.parametrize("event", [None, "end"])
def test_going_on_with_a_session_that_is_not_there_makes_none(drive: Drive, event: Any) -> None:
    """Whatever is refused first leaves nothing to be listed."""
    driven = drive(waiting().compile())
    with pytest.raises(NotExpected):
        driven.resume(event)
    assert driven.session.database.sessions.list() == ()


@pytest.mark.parametrize("given", [{"nobody": 1}, {"text": {"a": 1}}])
def test_bad_input_on_a_waiting_session_changes_nothing(drive: Drive, given: Any) -> None:
    """The wait and every checkpoint stay as they are."""
    driven = opened(drive)
    before = len(driven.checkpoints)
    with pytest.raises(InputRefused):
        driven.start(given)
    assert len(driven.checkpoints) == before
    assert driven.resume("end").status == "completed"


def test_bad_input_leaves_an_ask_open(drive: Drive) -> None:
    """An ask survives whatever is sent wrongly."""

    async def act(state: Any, run: sw.Run[Any]) -> None:
        await run.tool("refund", order="A")

    driven = drive(compiled(act, box=Shop().box, policy=policy("approve_refunds")))
    ask = driven.start({}).asks[0]
    before = len(driven.checkpoints)
    for wrong in ({"nobody": 1}, {"text": "x"}):
        with pytest.raises((InputRefused, NotExpected)):
            driven.start(wrong)
    assert len(driven.checkpoints) == before
    assert driven.answer(ask).status == "completed"


def test_input_on_a_waiting_session_is_an_event(drive: Drive) -> None:
    """The chart takes `input`, with the update it brings, in the same run."""
    driven = opened(drive)
    outcome = driven.start({"text": "second"})
    assert (outcome.path, outcome.values["text"]) == ("OPEN", "second")
    assert driven.session.row().run_no == 1


def test_input_the_chart_does_not_take_is_refused(drive: Drive) -> None:
    """LOCKED reacts to `unlock` alone; the message says so."""
    driven = opened(drive)
    driven.resume("lock")
    with pytest.raises(NotExpected, match="unlock"):
        driven.start({"text": "second"})
    assert driven.session.outcome().values["text"] == "first"


def test_input_on_a_finished_session_opens_a_second_run(drive: Drive) -> None:
    """The state's history is kept, the run is new, and the first keeps its record."""
    driven = drive(compiled(lambda state: {"log": ["acted"]}))
    first = driven.start({"log": ["one"]})
    outcome = driven.start({"log": ["two"]})
    assert (first.status, outcome.values["log"]) == ("completed", ["one", "acted", "two", "acted"])
    assert driven.session.row().run_no == 2
    assert len(driven.session.database.sessions.terminals("s1")) == 2


def test_each_run_counts_its_activations_from_one(drive: Drive) -> None:
    """Effect keys name the run, so that the second run's first entry is 1 in every state."""
    driven = drive(graph())
    driven.start({"trail": []})
    trail = driven.start({"trail": ["second"], "note": "x"}).values["trail"]
    assert [step for step in trail if step.startswith("act")] == ["act 1", "act 2", "act 1"]


def test_unfinished_run_must_be_resumed_first(drive: Drive) -> None:
    """An input may not push aside a run that a crash cut off."""

    class Crash(BaseException):
        pass

    left = [1]

    def act(state: Any) -> Any:
        if left.pop() if left else 0:
            raise Crash
        return {"log": ["acted"]}

    driven = drive(compiled(act))
    with pytest.raises(Crash):
        driven.start({"log": ["in"]})
    with pytest.raises(SessionBusy, match="Resume it first"):
        driven.start({"log": ["other"]})
    assert driven.resume().values["log"] == ["in", "acted"]


@pytest.mark.parametrize("data", [{"nobody": 1}, {"text": 3}, {}, {"text": "a", "times": "many"}])
def test_event_whose_data_does_not_fit_is_refused(drive: Drive, data: Any) -> None:
    """The wait stays, and the message names the event's fields."""
    driven = opened(drive)
    before = len(driven.checkpoints)
    with pytest.raises(InputRefused, match="text, times"):
        driven.resume("note", data=data)
    assert len(driven.checkpoints) == before


def test_unknown_event_names_the_awaited_ones(drive: Drive) -> None:
    """A refusal tells what would be taken."""
    driven = opened(drive)
    with pytest.raises(NotExpected, match="note, input, lock, end"):
        driven.resume("nonsense")


@pytest.mark.parametrize("event", ["error.activity", "fuse.turns", "done.state.OPEN", "timeout"])
def test_internal_events_cannot_be_sent(drive: Drive, event: str) -> None:
    """What the house raises is not for callers: nobody fakes a fuse or a completion."""
    driven = drive(compiled(lambda s: None, to="HELP", handles=["error", "fuse", "timeout"]))
    driven.start({})
    with pytest.raises(NotExpected):
        driven.resume(event)


def test_event_on_a_finished_session_is_refused(drive: Drive) -> None:
    """Nothing waits there."""
    driven = drive(compiled(lambda s: None))
    driven.start({})
    with pytest.raises(NotExpected, match="completed"):
        driven.resume("again")


def test_going_on_with_a_finished_session_changes_nothing(drive: Drive) -> None:
    """`resume()` of what has ended is harmless."""
    driven = drive(compiled(lambda s: {"log": ["acted"]}))
    driven.start({})
    assert driven.resume().values["log"] == ["acted"]


def test_map_of_interrupt_ids_is_understood(drive: Drive) -> None:
    """LangGraph's clients resume by interrupt id."""
    driven = opened(drive)
    (interrupt,) = driven.session.graph.get_state(driven.session.config).interrupts
    driven.send(Command(resume={interrupt.id: {"event": "end"}}))
    assert driven.session.outcome().status == "completed"


@pytest.mark.parametrize("payload", [7, {"what": 1}, {"answers": {"ask_0": "approve"}}, ["end"]])
def test_unreadable_resume_is_refused(drive: Drive, payload: Any) -> None:
    """The wait stays as it is."""
    driven = opened(drive)
    before = len(driven.checkpoints)
    with pytest.raises((InputRefused, NotExpected)):
        driven.send(Command(resume=payload))
    assert len(driven.checkpoints) == before


# -- drift ----------------------------------------------------------------------------------------------


def paused(drive: Drive, graph: Any) -> Driven:
    driven = drive(graph)
    driven.start({})
    return driven


def nothing(state: Any) -> None:
    """Do nothing."""


def stopping(**change: Any) -> Any:
    return one(nothing, **{"to": "HELP"} | change).compile()


@pytest.mark.parametrize("change", [{"handles": ["other"]}, {"policy": policy("two_turns")}, {"to": ["HELP"]}])
def test_resume_under_the_same_definition_goes_on(drive: Drive, change: Any) -> None:
    """The same chart compiled again is the same chart."""
    paused(drive, stopping(**change))
    assert drive(stopping(**change)).resume("close").status == "completed"


@pytest.mark.parametrize(
    ("change", "part"), [({"handles": ["other"]}, "chart"), ({"policy": policy("two_turns")}, "policy")]
)
@pytest.mark.parametrize("event", [None, "close"])
def test_resume_under_another_definition_is_refused(drive: Drive, change: Any, part: str, event: Any) -> None:
    """The hashes pinned at the start are compared; the message names what changed."""
    paused(drive, stopping())
    with pytest.raises(Drift, match=part):
        drive(stopping(**change)).resume(event)


def test_input_under_another_definition_is_refused_too(drive: Drive) -> None:
    """An `input` on a waiting session is part of its run."""
    first = waiting()
    paused(drive, first.compile())
    other = sw.Chart(
        "waiting", first.schema, sw.State("OPEN", on=[sw.on("input"), sw.on("end", "DONE")]), sw.Final("DONE")
    )
    with pytest.raises(Drift):
        drive(other.compile()).start({"text": "x"})


def test_new_run_may_have_a_new_definition(drive: Drive) -> None:
    """A finished run pins nothing for the next."""
    drive(compiled(nothing)).start({})
    assert drive(compiled(nothing, policy=policy("two_turns"))).start({}).status == "completed"


def test_renamed_state_is_named(drive: Drive) -> None:
    """A checkpoint in a state that is gone is an error."""
    paused(drive, stopping())
    other = sw.Chart("one", one(nothing).schema, sw.Final("DONE"))
    with pytest.raises(Drift, match="does not have"):
        drive(other.compile()).resume("close")


def test_pins_are_named_in_every_checkpoint(drive: Drive) -> None:
    """Each checkpoint's metadata carries the first digits of the hashes, and the mode."""
    driven = paused(drive, stopping())
    pins = driven.session.graph.machine.pins
    for checkpoint in driven.checkpoints:
        assert checkpoint.metadata["chart_hash"] == pins.chart[:12]
        assert checkpoint.metadata["policy_hash"] == pins.policy[:12]
        assert checkpoint.metadata["mode"] == pins.mode


def test_session_of_another_tenant_is_unknown(how: How, database: Database) -> None:
    """A tenant that does not own the session cannot even see it."""
    graph = compiled(nothing).attach(database)

    def call(tenant: str) -> Any:
        return graph.invoke({}, {"configurable": {"thread_id": "t", "tenant": tenant}})

    call("acme")
    with pytest.raises(UnknownSession, match="No session `t`"):
        call("acme-corp")
