"""Hazards 8, 9, 11, 12, 16 and 19: policies in nests, poisoned threads, dropped keys, disk, reducers and types."""

from __future__ import annotations

import operator
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

import stateward as sw
from benchmarks.disk import apart, charted, sizes
from stateward.errors import PolicyLoosened, UnknownTarget, UpdateRefused
from tests.charts.drive import Driven, policy
from tests.charts.one import One, compiled
from tests.charts.tools import Shop

Drive = Callable[..., Driven]


async def refund_in_the_nest(state: Any, run: sw.Run[Any]) -> Any:
    return {"log": [(await run.tool("refund", order="A")).status]}


def nested(outer: str, inner: str | None = None) -> Any:
    """A state three deep; the policies hang on the outermost and on the state."""
    state = sw.State("ACT", do=refund_in_the_nest, tools=["refund"], to="DONE", policy=policy(inner) if inner else None)
    return sw.Chart("nest", One, sw.Superstate("A", sw.Superstate("B", state), policy=policy(outer)), sw.Final("DONE"))


def test_outer_approval_binds_the_innermost_state(drive: Drive) -> None:
    """A restriction reaches through every nesting."""
    assert drive(nested("approve_refunds").compile(tools=Shop().box)).start({}).status == "waiting"


def test_outer_prohibition_cannot_be_lifted_inside() -> None:
    """A child that allows what its parent forbids is refused, naming both."""
    with pytest.raises(PolicyLoosened, match="refund"):
        nested("forbids_refunds", "approve_refunds").compile(tools=Shop().box)


def test_inner_policy_may_tighten(drive: Drive) -> None:
    """A child may forbid what its parent restricts."""
    outcome = drive(nested("approve_refunds", "forbids_refunds").compile(tools=Shop().box)).start({})
    assert outcome.values["log"] == ["denied"]


def test_inner_count_draws_on_the_outer_one(drive: Drive) -> None:
    """Each call is charged in every scope around it."""
    driven = drive(nested("three_calls", "three_calls").compile(tools=Shop().box))
    driven.start({})
    spent = driven.session.database.ledger.spent("s1", run=driven.session.row().run)
    assert {scope for scope, unit in spent if unit == "calls"} == {"", "A", "A.B.ACT"}


class Strict(BaseModel):
    """A Pydantic state, as it kills threads under LangGraph."""

    number: int = 0
    log: Annotated[list[str], operator.add] = []


def test_invalid_update_does_not_kill_the_thread(drive: Drive) -> None:
    """State, history and a further input all work after an invalid update."""
    updates = [{"number": "many"}, {"number": 2}]
    chart = sw.Chart("strict", Strict, sw.State("A", do=lambda s: updates.pop(0), to="DONE"), sw.Final("DONE"))
    driven = drive(chart.compile())
    with pytest.raises(UpdateRefused):
        driven.start({"number": 1})
    assert driven.session.graph.get_state(driven.session.config).values["number"] == 1
    assert len(driven.checkpoints) == 3
    assert driven.start({"log": ["again"]}).values["number"] == 2


def test_unknown_target_is_a_definition_error() -> None:
    """Nothing is dropped with a log line."""
    with pytest.raises(UnknownTarget, match="NOWHERE"):
        sw.Chart("lost", One, sw.State("A", do=lambda s: None, to="NOWHERE"))


def test_unknown_key_is_a_run_error(drive: Drive) -> None:
    """A key nobody declared is named."""
    with pytest.raises(UpdateRefused, match="nobody"):
        drive(compiled(lambda s: {"nobody": 1})).start({})


@pytest.mark.slow
def test_two_hundred_turns_of_a_kilobyte_fit_into_three_megabytes(tmp_path: Path) -> None:
    """Disk grows with the turns, not with their square."""
    charted(tmp_path / "disk.db", turns=200)
    assert apart(sizes(tmp_path / "disk.db")) <= 3_000_000


def test_disk_grows_linearly(tmp_path: Path) -> None:
    """Twice the turns take about twice the space."""
    for turns in (20, 40):
        charted(tmp_path / f"{turns}.db", turns=turns)
    small, large = (apart(sizes(tmp_path / f"{turns}.db")) for turns in (20, 40))
    assert large < 2.2 * small


class Counting(TypedDict, total=False):
    """Additive keys."""

    total: Annotated[int, operator.add]


def test_additive_reducers_count_once_through_superstates(drive: Drive) -> None:
    """Three states that add one are three, however deep they stand."""
    one = {"do": lambda s: {"total": 1}}
    chart = sw.Chart(
        "adding",
        Counting,
        sw.Superstate("A", sw.State("X", **one, to="B"), sw.Superstate("B", sw.State("Y", **one, to="Z"))),
        sw.State("Z", **one, to="DONE"),
        sw.Final("DONE"),
    )
    assert drive(chart.compile()).start({"total": 0}).values["total"] == 3


def test_control_channel_is_plain_json(drive: Drive) -> None:
    """No class of ours is in a checkpoint: another release can read it."""

    def plain(value: Any) -> bool:
        if isinstance(value, dict):
            return all(type(key) is str and plain(inner) for key, inner in value.items())
        if isinstance(value, list):
            return all(plain(inner) for inner in value)
        return value is None or type(value) in (str, int, float, bool)

    driven = drive(compiled(lambda s: {"nobody": 1}, handles=["error.update"]))
    driven.start({})
    driven.resume("close")
    assert all(plain(c.values.get("stateward", {})) for c in driven.checkpoints)
