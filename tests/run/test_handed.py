"""What functions are handed is theirs: what they change in place changes no channel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel
from typing_extensions import TypedDict

import stateward as sw
from stateward.run.handed import Handed, own
from tests.charts.beside import Gate, says
from tests.charts.drive import Driven

Drive = Callable[..., Driven]


@pytest.mark.parametrize("value", [[1, [2]], {"a": {"b": [1]}}, {1, 2}, ([1],), [{"a": (["x"],)}], {}, []])
def test_containers_are_copied_as_deep_as_they_go(value: Any) -> None:
    """The copy is equal, and nothing that can be changed is shared."""
    copied = own(value)
    assert (copied == value, type(copied) is type(value), shared(copied, value)) == (True, True, [])


def shared(one: Any, other: Any) -> list[Any]:
    """Return the containers that two equal values have in common."""
    if type(one) not in (list, dict, set, tuple):
        return []
    mine = [one] if one is other and type(one) is not tuple else []
    inner = zip(one.values(), other.values(), strict=True) if type(one) is dict else zip(one, other, strict=True)
    return [*mine, *(each for a, b in inner for each in shared(a, b))]


@pytest.mark.parametrize("value", [None, 1, "x", HumanMessage("x"), (1, 2), object()])
def test_everything_else_is_taken_for_a_value(value: object) -> None:
    """Messages among it."""
    assert own(value) is value


def test_state_of_a_guard_is_a_mapping_that_copies_what_is_read() -> None:
    """One reader gets the same copy each time."""
    values = {"log": [1], "text": "x"}
    handed = Handed(values)
    handed["log"].append(2)
    assert (dict(handed), values, len(handed), "none" in handed) == (
        {"log": [1, 2], "text": "x"},
        {"log": [1], "text": "x"},
        2,
        False,
    )


def joined(held: list[str], new: list[str]) -> list[str]:
    return [*held, *new]


class Table(TypedDict, total=False):
    """Values that can be changed in place."""

    rows: list[Any]
    deep: dict[str, Any]
    log: Annotated[list[str], joined]


@dataclass
class Data:
    rows: list[Any] = field(default_factory=list[Any])
    deep: dict[str, Any] = field(default_factory=dict[str, Any])
    log: Annotated[list[str], joined] = field(default_factory=list[str])


class Model(BaseModel):
    rows: list[Any] = []
    deep: dict[str, Any] = {}
    log: Annotated[list[str], joined] = []


SCHEMAS: list[Any] = [Table, Data, Model]
GIVEN: dict[str, Any] = {"rows": [1], "deep": {"a": [1]}, "log": ["given"]}


def spoil(state: Any) -> None:
    """Change everything in place."""
    read = state.__getitem__ if hasattr(state, "keys") else lambda key: getattr(state, key)
    read("rows").append(2)
    read("deep")["a"].append(2)
    read("log").clear()


def spoil_and_fail(state: Any) -> None:
    spoil(state)
    raise ValueError("no")


async def aspoil_and_fail(state: Any) -> None:
    spoil_and_fail(state)


def spoils(state: Any) -> bool:
    spoil(state)
    return True


def kept(outcome: Any) -> dict[str, Any]:
    return {key: outcome.values[key] for key in GIVEN}


def same_rows(state: Any) -> dict[str, Any]:
    return {"rows": [1]}


def charted(schema: Any, do: Any, **rest: Any) -> Any:
    """One activity, and an end that its error leads to as well."""
    declared: dict[str, Any] = {"to": "DONE", **rest}
    state: Any = sw.State("A", do=do, on=sw.on("error.activity", "DONE"), **declared)
    return sw.Chart("spoiled", schema, state, sw.Final("DONE")).compile()


@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("do", [spoil_and_fail, aspoil_and_fail, spoil, RunnableLambda(spoil_and_fail)])
def test_activity_that_changes_its_state_in_place_changes_no_channel(drive: Drive, schema: Any, do: Any) -> None:
    """Whether it fails or not: what it wants to change it returns."""
    assert kept(drive(charted(schema, do)).start(GIVEN)) == GIVEN


@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("more", [{"to": sw.when(spoils, "DONE")}, {"exit": spoil}])
def test_guard_or_action_that_changes_its_state_in_place_changes_no_channel(
    drive: Drive, schema: Any, more: Any
) -> None:
    """They see the state after the update, and share nothing with it."""
    assert kept(drive(charted(schema, same_rows, **more)).start(GIVEN)) == GIVEN


def test_region_that_is_left_takes_with_it_what_it_changed(drive: Drive) -> None:
    """B ends the run while A, which has changed its state in place, still waits."""
    gate = Gate()

    async def spoil_and_wait(state: Any) -> None:
        spoil(state)
        gate.open()
        await asyncio.Event().wait()

    a = sw.Superstate("A", sw.State("S", do=spoil_and_wait, to="END"), sw.Final("END"))
    b = sw.Superstate("B", sw.State("S", do=says("b", after=gate), to="DONE"))
    graph = sw.Chart("spoiled", Table, sw.Parallel("P", a, b), sw.Final("DONE")).compile()
    assert kept(drive(graph).start(GIVEN)) == {**GIVEN, "log": ["given", "b"]}


def spoil_event(state: Any, event: Any) -> bool:
    event.data["list"].append("spoiled")
    return True


def note_event(state: Any, event: Any) -> Any:
    spoil_event(state, event)
    return {"log": [str(event.data["list"])]}


@pytest.mark.parametrize("is_async", [True, False])
def test_data_of_an_event_is_each_readers_own(drive: Drive, is_async: Any) -> None:
    """A guard, an action and an activity each see what was sent."""

    async def anote_event(state: Any, event: Any, run: sw.Run[Any]) -> Any:
        run.event.data["list"].append("spoiled")  # pyright: ignore
        return note_event(state, event)

    wait = sw.State("W", on=sw.on("go", "A", when=spoil_event, do=note_event))
    state = sw.State("A", do=anote_event if is_async else note_event, to="DONE")
    driven = drive(sw.Chart("spoiled", Table, wait, state, sw.Final("DONE")).compile())
    driven.start({"log": []})
    assert driven.resume("go", data={"list": ["sent"]}).values["log"] == ["['sent', 'spoiled']"] * 2
