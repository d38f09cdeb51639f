"""The run of the activity that code runs in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import stateward as sw
from stateward.errors import RunError
from tests.charts.drive import Driven
from tests.charts.one import compiled

Drive = Callable[..., Driven]


def test_each_task_sees_its_own_run(drive: Drive) -> None:
    """`current_run` belongs to the activity, also in tasks it starts."""

    async def below() -> str:
        return sw.current_run().session

    async def act(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": list(await asyncio.gather(below(), below()))}

    graph = compiled(act)
    assert drive(graph, session="a").start({}).values["log"] == ["a", "a"]
    assert drive(graph, session="b").start({}).values["log"] == ["b", "b"]


def test_a_sync_activity_has_one_too(drive: Drive) -> None:
    """Also what it calls."""

    def below() -> str:
        return sw.current_run().path

    def act(state: Any) -> Any:
        return {"log": [below()]}

    assert drive(compiled(act)).start({}).values["log"] == ["WORK.ACT"]


def test_outside_of_an_activity_there_is_none() -> None:
    """The error says where to call from."""
    with pytest.raises(RunError, match="No activity is running here"):
        sw.current_run()
