"""What a checker accepts and refuses of charts over a dataclass and a Pydantic model; run by tests/test_typing.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_type

from pydantic import BaseModel

import stateward as sw


class Tick(sw.Event):
    n: int = 1


@dataclass
class Clock:
    ticks: int = 0


class Model(BaseModel):
    ticks: int = 0


def full(state: Clock) -> bool:
    return state.ticks > 60


def count(state: Clock, event: Tick) -> sw.Update[Clock]:
    return Clock(ticks=state.ticks + event.n)


async def run_clock(state: Clock, run: sw.Run) -> Clock:
    return Clock(ticks=run.activation)


def model_full(state: Model, active: frozenset[str]) -> bool:
    return state.ticks > 60 and "A" in active


def model_count(state: Model, event: Tick) -> sw.Update[Model]:
    return Model(ticks=state.ticks + event.n)


async def run_model(state: Model, run: sw.Run) -> Model:
    return Model(ticks=run.activation)


clock = sw.Chart(
    "clock",
    Clock,
    sw.State(
        "A",
        do=run_clock,
        on=[sw.on(Tick, do=count), sw.after(lambda state: state.ticks, "END")],
        to=sw.when(full, "END"),
    ),
    sw.Final("END", data=lambda state: state.ticks),
)
assert_type(clock, sw.Chart[Clock])
model = sw.Chart(
    "model",
    Model,
    sw.State(
        "A",
        do=run_model,
        on=sw.on(Tick, do=[model_count]),
        to=sw.when(model_full, "END"),
        exit=lambda state: {"ticks": state.ticks},
    ),
    sw.Final("END"),
)
assert_type(model, sw.Chart[Model])

sw.Chart("guard", Clock, sw.State("A", to=sw.when(model_full, "A")))  # pyright: ignore[reportArgumentType]
sw.Chart("action", Model, sw.State("A", on=[sw.on(Tick, do=count)]))  # pyright: ignore[reportArgumentType]
sw.Chart("activity", Model, sw.Superstate("S", sw.State("A", do=run_clock)))  # pyright: ignore[reportArgumentType]
sw.Chart("data", Clock, sw.Final("A", data=model_full))  # pyright: ignore[reportArgumentType]
sw.Chart("field", Model, sw.State("A", to=sw.when(lambda state: state.tocks > 3, "A")))  # pyright: ignore[reportAttributeAccessIssue, reportUnknownLambdaType, reportUnknownMemberType]
