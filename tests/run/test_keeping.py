"""An update that no checkpoint could keep is refused before anything is committed; see hazard 9."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.channels import DeltaChannel, UntrackedValue
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel, field_validator
from typing_extensions import TypedDict

import stateward as sw
from stateward.errors import InputRefused, UpdateRefused
from stateward.run.graph import ChartGraph
from tests.charts.drive import Driven

Drive = Callable[..., Driven]


class Undeclared:
    """A type that no schema names."""


class Twice(BaseModel):
    """A model that does not take what it has made."""

    number: int

    @field_validator("number")
    @classmethod
    def doubled(cls, value: int) -> int:
        assert value < 3, "too big"
        return value * 2


@dataclass
class Hidden:
    """A class whose fields are not its arguments."""

    number: int = field(default=1, init=False)


def picky(old: list[Any], new: Sequence[Any]) -> list[Any]:
    """A reducer that takes little."""
    return [*old, new[0].upper()]


class Anything(TypedDict, total=False):
    """Keys into which anything goes, until it is kept."""

    value: Any
    model: Twice
    hidden: Hidden
    count: Annotated[int, operator.add]
    picked: Annotated[list[Any], picky]
    grown: Annotated[list[Any], DeltaChannel(picky)]
    messages: sw.Messages
    live: Annotated[Any, UntrackedValue]


def graph(update: Any, *, handles: bool = True) -> ChartGraph:
    """A state that returns an update, and one that is entered when the update was refused."""
    return sw.Chart(
        "keeping",
        Anything,
        sw.State("ACT", do=lambda s: update, to="DONE", on=[sw.on("error", "HELP")] if handles else []),
        sw.State("HELP", on=[sw.on("edit", "HELP", do=lambda s: update), sw.on("close", "DONE")]),
        sw.Final("DONE"),
    ).compile()


UNKEPT: dict[str, Any] = {
    "a function": {"value": len},
    "an object": {"value": {"deep": [Undeclared()]}},
    "a big integer": {"value": 2**70},
    "a type that no schema names": {"value": Undeclared()},
    "a message with an object": {"messages": [AIMessage("", additional_kwargs={"raw": Undeclared()})]},
    "a model that cannot be made again": {"model": Twice.model_construct(number=4)},
    "a class that cannot be made again": {"hidden": Hidden()},
    "what a reducer makes": {"count": 2**63},
    "what a reducer refuses": {"picked": [1]},
    "what the reducer of a growing key refuses": {"grown": [1]},
}


@pytest.mark.parametrize("what", UNKEPT)
def test_an_update_that_cannot_be_kept_is_an_event(drive: Drive, what: str) -> None:
    """The chart goes on from it; nothing of the update is there."""
    driven = drive(graph(UNKEPT[what]))
    outcome = driven.start({"count": 2**63})
    assert (outcome.status, outcome.path) == ("waiting", "HELP")
    assert outcome.values == {"count": 2**63, "picked": [], "grown": [], "messages": []}


def test_an_action_whose_update_cannot_be_kept_fails_like_any_other(drive: Drive) -> None:
    """The event `error.action` says why; nothing of the update is there."""
    driven = drive(graph({"value": len}))
    driven.start({})
    outcome = driven.resume("edit")
    assert (outcome.status, "cannot be kept" in str(outcome.reason)) == ("failed", True)


def test_a_run_without_a_way_out_ends(drive: Drive) -> None:
    """It says why, and is not left running."""
    driven = drive(graph({"value": len}, handles=False))
    with pytest.raises(UpdateRefused, match="`value` cannot be kept in a checkpoint"):
        driven.start({})
    assert driven.session.outcome().status == "failed"


@pytest.mark.parametrize("given", [{"value": len}, {"value": 2**70}])
def test_an_input_that_cannot_be_kept_is_refused(drive: Drive, given: Any) -> None:
    """Nothing has begun."""
    driven = drive(graph({}))
    with pytest.raises(InputRefused, match="cannot be kept"):
        driven.start(given)
    assert not driven.checkpoints


def test_an_edit_that_cannot_be_kept_is_refused(drive: Drive) -> None:
    """The session stands as it stood."""
    driven = drive(graph({"value": len}))
    driven.start({})
    with pytest.raises(InputRefused, match="cannot be kept"):
        driven.session.graph.update_state(driven.session.config, {"value": len})
    assert driven.resume("close").status == "completed"


def test_what_is_not_tracked_is_not_kept_either(drive: Drive) -> None:
    """A key that lives in memory alone may hold anything."""
    assert drive(graph({"live": len})).start({}).status == "completed"


def test_a_graph_without_checkpoints_may_hold_anything() -> None:
    """There is nothing that could not keep it."""
    assert graph({"value": len}).invoke({})["value"] is len


def test_the_saver_at_hand_decides() -> None:
    """One of LangGraph's takes types that ours does not know."""
    foreign = graph({"value": Undeclared()}).copy({"checkpointer": InMemorySaver()})
    assert foreign.invoke({}, {"configurable": {"thread_id": "1"}})


@pytest.mark.parametrize("given", [{"picked": [1]}, {"grown": [1]}, {"count": 2**63}])
def test_an_input_that_a_reducer_refuses_is_refused(drive: Drive, given: Any) -> None:
    """To a session that has begun, and as its first one: it stands as before."""
    driven = drive(graph({}))
    if "count" in given:
        driven.start({"count": 2**63})
    for _ in range(2):
        with pytest.raises(InputRefused):
            driven.start(given)
    assert driven.start({}).status == "completed"


@pytest.mark.parametrize("given", [{"picked": [1]}, {"grown": [1]}, {"count": 2**63}])
def test_an_edit_that_a_reducer_refuses_is_refused(drive: Drive, given: Any) -> None:
    """And the session can be read and gone on with."""
    driven = drive(graph({"value": len}))
    driven.start({"count": 2**63})
    with pytest.raises(InputRefused):
        driven.session.graph.update_state(driven.session.config, given)
    assert driven.resume("close").status == "completed"
