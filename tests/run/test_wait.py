"""Waits: what they carry, and that nothing before them is repeated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command

import stateward as sw
from stateward.errors import InputRefused, RunError
from stateward.testing import How, run_graph
from tests.charts.drive import Driven
from tests.charts.one import One, compiled
from tests.charts.waiting import Heard, Note, waiting

Drive = Callable[..., Driven]


def opened(drive: Drive) -> Driven:
    driven = drive(waiting().compile())
    driven.start({})
    return driven


def test_wait_carries_its_events_and_their_schemas(drive: Drive) -> None:
    """A client can draw a form from the interrupt alone."""
    driven = opened(drive)
    (interrupt,) = driven.session.graph.get_state(driven.session.config).interrupts
    assert interrupt.value["state"] == "OPEN"
    assert [event["name"] for event in interrupt.value["events"]] == ["note", "input", "lock", "end"]
    assert interrupt.value["events"][0]["schema"] == Note.model_json_schema()


def test_wait_does_not_tell_internal_events(drive: Drive) -> None:
    """Errors, fuses and completions are not for callers."""
    driven = drive(compiled(lambda s: None, to="HELP", handles=["error.activity", "fuse", "go"]))
    driven.start({})
    (interrupt,) = driven.session.graph.get_state(driven.session.config).interrupts
    assert [event["name"] for event in interrupt.value["events"]] == ["again", "close"]


def test_entry_action_of_a_wait_runs_once(drive: Drive) -> None:
    """Resuming runs the wait's node again from its beginning, and repeats nothing."""
    driven = opened(drive)
    assert driven.resume("note", data={"text": "a", "times": 2}).values["heard"] == ["hello", "a", "a"]


def test_going_on_without_an_event_keeps_waiting(drive: Drive) -> None:
    """`resume()` of a wait is no event."""
    driven = opened(drive)
    before = len(driven.checkpoints)
    outcome = driven.resume()
    assert (outcome.status, outcome.path, len(driven.checkpoints)) == ("waiting", "OPEN", before)


def test_state_with_activity_and_event_waits_after_its_activity(drive: Drive) -> None:
    """A state without `to` rests in itself when its activity has ended, and its events are awaited."""
    chart = sw.Chart(
        "rest",
        One,
        sw.State("A", do=lambda s: {"log": ["acted"]}, on=[sw.on("go", "DONE"), sw.on("again", "A")]),
        sw.Final("DONE"),
    )
    driven = drive(chart.compile())
    assert driven.start({}).status == "waiting"
    assert driven.resume("again").values["log"] == ["acted", "acted"]
    assert driven.resume("go").status == "completed"


def test_event_may_bring_an_update(drive: Drive) -> None:
    """A resume payload carries `update` beside its event; both are one checkpoint."""
    driven = opened(drive)
    driven.send(Command(resume={"event": "lock", "update": {"text": "locked"}}))
    outcome = driven.session.outcome()
    assert (outcome.path, outcome.values["text"]) == ("LOCKED", "locked")


def test_update_of_an_event_is_checked_before_it_is_taken(drive: Drive) -> None:
    """A wrong update refuses the event."""
    driven = opened(drive)
    before = len(driven.checkpoints)
    with pytest.raises(InputRefused):
        driven.send(Command(resume={"event": "lock", "update": {"nobody": 1}}))
    assert len(driven.checkpoints) == before
    assert driven.resume("lock").path == "LOCKED"


def test_wait_survives_many_events(drive: Drive) -> None:
    """Each event is one checkpoint; nothing is lost."""
    driven = opened(drive)
    for n in range(10):
        driven.resume("note", data={"text": str(n)})
    assert driven.session.outcome().values["heard"] == ["hello", *map(str, range(10))]


def test_failure_in_a_wait_reaches_the_graph_around(how: How) -> None:
    """A nested chart that fails on an event does not let the outer graph go on as if nothing had happened."""

    def broken(state: Any) -> Any:
        raise ValueError("no ink")

    inner = sw.Chart("inner", Heard, sw.State("OPEN", on=[sw.on("end", "DONE", do=broken)]), sw.Final("DONE"))
    outer: Any = StateGraph(Heard)
    outer.add_node("inner", inner.compile())
    outer.add_node("after", lambda state: {"heard": ["after"]})
    outer.add_edge(START, "inner")
    outer.add_edge("inner", "after")
    graph = outer.compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    run_graph(graph, {"text": "x"}, how=how, config=config)

    with pytest.raises(RunError, match=r"error\.action"):
        run_graph(graph, Command(resume="end"), how=how, config=config)
