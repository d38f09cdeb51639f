"""What guards and actions see: the committed form of the update, and of messages only the new ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

import stateward as sw
from stateward.testing import ManualClock
from tests.charts.drive import Driven
from tests.charts.one import One
from tests.charts.working import graph

Drive = Callable[..., Driven]


def seen_by_guard(drive: Drive, update: Any, key: str, *, given: Any = None) -> tuple[Any, Any]:
    """Return what a guard saw of a key, and what was committed."""
    seen: list[Any] = []

    def guard(state: Any) -> bool:
        seen.append(state[key])
        return True

    chart = sw.Chart(
        "seen",
        One,
        sw.State("A", do=lambda s: update, to=[sw.when(guard, "B"), "DONE"]),
        sw.State("B", do=lambda s: None, to="DONE"),
        sw.Final("DONE"),
    )
    driven = drive(chart.compile())
    driven.start(given or {})
    return seen[0], driven.checkpoints[2].values[key]


def test_guard_sees_messages_with_their_ids(drive: Drive) -> None:
    """The message a guard sees is the committed one, id and all."""
    seen, committed = seen_by_guard(drive, {"messages": [("ai", "hi")]}, "messages")
    assert seen[-1].id is not None
    assert [m.id for m in seen] == [m.id for m in committed]


def test_guard_sees_coerced_values(drive: Drive) -> None:
    """`"3"` for an int is 3 before any guard looks."""
    assert seen_by_guard(drive, {"number": "3"}, "number") == (3, 3)


def test_guard_sees_the_reduced_value(drive: Drive) -> None:
    """A reducer is applied on a copy: the guard sees the whole list, committed once."""
    assert seen_by_guard(drive, {"log": ["b"]}, "log", given={"log": ["a"]}) == (["a", "b"], ["a", "b"])


def test_guard_sees_one_message_for_an_id_written_again(drive: Drive) -> None:
    """Messages are merged by id, as the channel does."""
    given = {"messages": [HumanMessage("old", id="m1")]}
    seen, committed = seen_by_guard(drive, {"messages": [HumanMessage("new", id="m1")]}, "messages", given=given)
    assert [m.text for m in seen] == [m.text for m in committed] == ["new"]


@pytest.mark.parametrize("way", ["resume", "input"])
def test_history_leads_back_past_the_message_that_led_out(drive: Drive, way: str) -> None:
    """A guard of `always` sees only messages that are new since its state was left."""
    driven = drive(graph())
    assert driven.start({"messages": [("user", "please stop")]}).path == "PAUSED"
    outcome = driven.resume("resume", data={"note": "go"}) if way == "resume" else driven.start({"note": "go"})
    assert (outcome.status, outcome.values["note"]) == ("completed", "go")


def test_history_goes_on_where_the_work_was_left(drive: Drive) -> None:
    """ACT says stop and is left for REFLECT, which is where the history leads back."""
    driven = drive(graph())
    outcome = driven.start({"note": "stop here"})
    assert (outcome.path, outcome.values["trail"]) == ("PAUSED", ["plan", "act 1"])
    assert driven.resume("resume").values["trail"][:4] == ["plan", "act 1", "reflect", "plan"]


def test_new_stop_leads_out_again(drive: Drive) -> None:
    """A later message is new to the guard."""
    driven = drive(graph())
    driven.start({"messages": [("user", "stop")]})
    outcome = driven.start({"messages": [("user", "stop again")]})
    assert outcome.path == "PAUSED"


def test_second_run_does_not_trip_over_old_messages(drive: Drive) -> None:
    """The history of the first run is old to the guards of the second."""
    driven = drive(graph())
    driven.start({"messages": [("user", "stop")]})
    driven.resume("resume", data={"note": ""})
    assert driven.start({"messages": [("user", "again please")]}).status == "completed"


@pytest.mark.parametrize("event", ["timer", "note"])
def test_what_actions_wrote_in_a_step_that_fails_is_not_committed(drive: Drive, clock: ManualClock, event: str) -> None:
    """Whether a timer or an event led nowhere: the states stay, and so do the values."""

    def count(state: Any) -> Any:
        return {"number": state["number"] + 1}

    waits = sw.State("WAIT", on=[sw.after(10, "LOST", do=count), sw.on("note", "LOST", do=count)])
    lost = sw.State("LOST", to=sw.when(lambda state: False, "WAIT"))
    driven = drive(sw.Chart("lost", One, waits, lost).compile())
    driven.start({"number": 1})
    clock.advance(11 if event == "timer" else 0)
    outcome = driven.resume(None if event == "timer" else event)
    assert (outcome.status, outcome.values["number"]) == ("failed", 1)
