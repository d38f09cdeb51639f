"""From a kernel step to one update and one goto."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

import stateward as sw
from stateward.errors import RunError
from stateward.testing import How, run_graph
from tests.charts.beside import compiled_beside
from tests.charts.drive import Driven, policy
from tests.charts.one import One, compiled
from tests.charts.waiting import waiting

Drive = Callable[..., Driven]


def chart(*states: Any, **root: Any) -> sw.Chart[One]:
    return sw.Chart("small", One, *states, sw.Final("DONE"), **root)


def nothing(state: Any) -> None:
    """Do nothing."""


def test_no_true_guard_and_no_default_fails_the_run(drive: Drive) -> None:
    """A completed state that leads nowhere is a failed run with its reason; its update is kept."""
    small = chart(sw.State("A", do=lambda s: {"text": "x"}, to=[sw.when(lambda s: False, "DONE")]))
    outcome = drive(small.compile()).start({})
    assert (outcome.status, outcome.reason["event"], outcome.values["text"]) == ("failed", "error.transition", "x")


def test_macrostep_without_rest_halts_at_the_limit(drive: Drive) -> None:
    """Eventless transitions that chase each other stop at `fuse.microsteps`."""
    small = chart(
        sw.State("A", do=nothing, to="B"),
        sw.State("B", always=[sw.when(lambda s: True, "C")]),
        sw.State("C", always=[sw.when(lambda s: True, "B"), sw.when(lambda s: False, "DONE")]),
        policy=policy("five_microsteps"),
    )
    outcome = drive(small.compile()).start({})
    assert (outcome.status, outcome.reason["event"]) == ("halted", "fuse.microsteps")


def test_actions_on_a_way_without_rest_leave_nothing(drive: Drive) -> None:
    """The chart stays where it was, with what the activity came to."""
    logs = {"do": lambda s: {"log": ["went"]}}
    small = chart(
        sw.State("A", do=lambda s: {"log": ["a"]}, to=sw.when(lambda s: True, "B", **logs)),
        sw.State("B", always=[sw.when(lambda s: True, "C", **logs)]),
        sw.State("C", always=[sw.when(lambda s: True, "B", **logs), sw.when(lambda s: False, "DONE")]),
        policy=policy("five_microsteps"),
    )
    outcome = drive(small.compile()).start({})
    assert (outcome.status, outcome.path, outcome.values["log"]) == ("halted", "A", ["a"])


def test_state_that_nothing_leaves_is_a_failed_run(drive: Drive) -> None:
    """A dead end is told, not waited in."""
    small = chart(sw.State("A", do=nothing, to="B"), sw.State("B"))
    outcome = drive(small.compile()).start({})
    assert (outcome.status, outcome.reason["event"]) == ("failed", "stuck")


def test_entry_and_exit_actions_are_part_of_the_step(drive: Drive) -> None:
    """Updates of actions are committed in the order in which the kernel runs them."""
    small = chart(
        sw.State(
            "A", do=lambda s: {"log": ["a"]}, entry=lambda s: {"log": [">a"]}, exit=lambda s: {"log": ["a>"]}, to="B"
        ),
        sw.State("B", do=lambda s: {"log": ["b"]}, entry=lambda s: {"log": [">b"]}, to="DONE"),
    )
    driven = drive(small.compile())
    assert driven.start({"log": []}).values["log"] == [">a", "a", "a>", ">b", "b"]
    assert len(driven.checkpoints) == 4


def test_entry_action_is_seen_by_the_activity(drive: Drive) -> None:
    """What the first state's entry wrote is there when its activity runs."""
    small = chart(sw.State("A", do=lambda s: {"log": [s["text"]]}, entry=lambda s: {"text": "set"}, to="DONE"))
    assert drive(small.compile()).start({}).values["log"] == ["set"]


def test_event_of_an_action_is_taken_in_the_same_step(drive: Drive) -> None:
    """An action that returns an event raises it inside the macrostep."""
    small = chart(
        sw.State("A", do=nothing, to=[sw.when(lambda s: True, "B", do=lambda s: "go")]),
        sw.State("B", on=[sw.on("go", "DONE")]),
    )
    assert drive(small.compile()).start({}).status == "completed"


def test_guard_that_raises_counts_as_false_and_is_an_event(drive: Drive) -> None:
    """`error.guard` names the guard; the default is taken after the chart had its say."""

    def wrong(state: Any) -> bool:
        return state["missing"] > 1

    small = chart(
        sw.State("A", do=nothing, to=[sw.when(wrong, "DONE"), "B"]),
        sw.State("B", on=[sw.on("error.guard", "HELP")]),
        sw.State("HELP", on=[sw.on("go", "DONE")]),
    )
    assert drive(small.compile()).start({}).path == "HELP"


def test_action_whose_update_does_not_fit_is_told(drive: Drive) -> None:
    """An action's wrong update never reaches a checkpoint; it is `error.action`, and the thread lives."""
    small = chart(
        sw.State("A", do=lambda s: {"text": "x"}, exit=lambda s: {"number": "many"}, to="B"),
        sw.State("B", on=[sw.on("go", "DONE"), sw.on("error.action", "HELP")]),
        sw.State("HELP", on=[sw.on("go", "DONE")]),
    )
    outcome = drive(small.compile()).start({})
    assert (outcome.path, outcome.values["text"]) == ("HELP", "x")
    assert "number" not in outcome.values


def test_failed_run_without_a_record_is_raised(how: How) -> None:
    """A graph without a checkpointer has no other way to tell that its run failed."""
    small = chart(sw.State("A", do=nothing, to=[sw.when(lambda s: False, "DONE")]))
    with pytest.raises(RunError, match=r"error\.transition"):
        run_graph(small.compile(), {"text": "x"}, how=how)


def test_chart_may_begin_in_its_end(drive: Drive) -> None:
    """A chart whose first state is final completes at once."""
    small = sw.Chart("small", One, sw.Final("DONE"))
    assert drive(small.compile()).start({"text": "x"}).status == "completed"


def test_targetless_transition_keeps_the_wait(drive: Drive) -> None:
    """An event that only writes leaves the chart where it is, with one checkpoint."""
    driven = drive(waiting().compile())
    driven.start({})
    before = len(driven.checkpoints)
    outcome = driven.resume("note", data={"text": "a"})
    assert (outcome.path, outcome.values["heard"]) == ("OPEN", ["hello", "a"])
    assert len(driven.checkpoints) == before + 1


@pytest.mark.parametrize("name", ["fuse.calls", "error.activity", "unknown_after_crash", "timeout"])
def test_unhandled_fatal_event_ends_the_run(drive: Drive, name: str) -> None:
    """Limits halt, errors fail."""

    async def act(state: Any, run: sw.Run[Any]) -> None:
        run.raise_event(name)

    assert drive(compiled(act)).start({}).status == ("failed" if name == "error.activity" else "halted")


def test_action_that_fails_on_the_way_to_the_end_fails_the_run(drive: Drive) -> None:
    """The chart has reached its final state, but what it should have done there did not happen."""

    def broken(state: Any) -> Any:
        raise ValueError("no ink")

    chart = sw.Chart("last", One, sw.State("ACT", do=lambda state: None, to="DONE"), sw.Final("DONE", entry=broken))
    driven = drive(chart.compile())

    outcome = driven.start({})

    assert (outcome.status, (outcome.reason or {})["event"]) == ("failed", "error.action")


def fails(state: Any) -> None:
    raise ValueError("no")


@pytest.mark.parametrize(("do", "event"), [(nothing, "done.activity.A"), (fails, "error.activity")])
def test_step_that_no_transition_took_names_the_end_of_its_activity(drive: Drive, do: Any, event: str) -> None:
    """In the first step of a run too."""
    driven = drive(chart(sw.State("A", do=do, on=sw.on("go", "DONE"))).compile())
    with suppress(ValueError):
        driven.start({})
    assert (driven.control["last"]["state"], driven.control["last"]["event"]) == ("A", event)


@pytest.mark.parametrize(("do", "event"), [(nothing, "done.activity.P.A.S"), (fails, "error.activity")])
def test_step_of_a_region_that_no_transition_took_names_it_too(drive: Drive, do: Any, event: str) -> None:
    """Beside a region that waits."""
    waits = [sw.State("S", on=sw.on("go", "END"))]
    driven = drive(compiled_beside([sw.State("S", do=do, on=sw.on("go", "END"))], waits))
    with suppress(ValueError):
        driven.start({})
    assert (driven.control["last"]["state"], driven.control["last"]["event"]) == ("P.A.S", event)


@pytest.mark.parametrize("on", [[], [sw.on("stop", "DONE")]])
def test_action_that_fails_on_the_way_to_the_first_activity_fails_the_run(drive: Drive, on: list[Any]) -> None:
    """As on the way to any later one: the activity does not run, be it alone or beside what may come."""
    ran: list[str] = []
    first = sw.State("ACT", entry=fails, do=lambda state: ran.append("act"), to="DONE", on=on)
    outcome = drive(sw.Chart("first", One, first, sw.Final("DONE")).compile()).start({})
    assert (outcome.status, (outcome.reason or {})["event"], ran) == ("failed", "error.action", [])


def test_action_that_fails_on_the_way_to_the_first_activity_may_be_taken(drive: Drive) -> None:
    """The chart says what happens then."""
    first = sw.State("ACT", entry=fails, do=nothing, to="DONE", on=[sw.on("error.action", "HELP")])
    help_wanted = sw.State("HELP", on=[sw.on("go", "DONE")])
    assert drive(sw.Chart("first", One, first, help_wanted, sw.Final("DONE")).compile()).start({}).path == "HELP"
