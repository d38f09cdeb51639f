"""What a checker accepts and refuses of a chart over a TypedDict; run by tests/test_typing.py, never imported."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, TypedDict, assert_type

from langchain_core.runnables import RunnableLambda

import stateward as sw


class Trip(TypedDict, total=False):
    city: str
    days: int


class Order(TypedDict):
    article: str


class Change(sw.Event):
    days: int = 1


class Close(sw.Event):
    reason: str = ""


# Functions that fit.


def long(state: Trip) -> bool:
    return state.get("days", 0) > 7


def longer(trip: Trip, event: Change) -> bool:
    return event.days > trip.get("days", 0)


def beside(state: Trip, active: frozenset[str]) -> bool:
    return "P.R.WAIT" in active and "city" in state


def everything(event: Change, active: frozenset[str], state: Trip) -> bool:
    return bool(event.days and active and state)


def only_active(active: frozenset[str]) -> bool:
    return "P" in active


def take_days(state: Trip, event: Change) -> sw.Update[Trip]:
    return {"days": event.days}


def note(event: Change) -> dict[str, int]:
    return {"days": event.days}


def keyword_only(state: Trip, *, event: Change) -> list[str | sw.Delayed]:
    return ["told", sw.Delayed(event, after_s=3, id="again")]


def forget() -> object:
    return None


def any_mapping(state: Mapping[str, object]) -> bool:
    return bool(state)


def above(state: Trip, limit: int) -> bool:
    return state.get("days", 0) > limit


def patience(state: Trip) -> float:
    return 60.0 * state.get("days", 1)


def plan(state: Trip) -> sw.Update[Trip]:
    return {"days": 3}


async def ask(state: Trip, run: sw.Run) -> sw.Update[Trip]:
    return {"city": str(run.activation)}


def ask_sync(state: Trip, run: sw.SyncRun, event: Change) -> Trip:
    return {"days": event.days}


async def only_run(run: sw.Run) -> None:
    run.emit("alive")


class Desk:
    async def work(self, state: Trip, run: sw.Run) -> dict[str, Any]:
        return {"city": state.get("city"), "n": run.activation}


trip = sw.Chart(
    "trip",
    Trip,
    sw.State("PLAN", do=plan, to=[sw.when(long, "ASK"), sw.when(longer, "ASK"), ["P.L.A", "P.R.B"]]),
    sw.State("ASK", do=ask, on=[sw.on(Change, "PLAN", when=longer, do=[take_days, note, keyword_only])], to="DESK"),
    sw.State("DESK", do=Desk().work, on=sw.after(patience, "PLAN", when=beside), to="BEAT"),
    sw.State(
        "BEAT", do=only_run, on=[sw.after(5, "PLAN", do=lambda state: {"days": state.get("days", 0) + 1})], to="P"
    ),
    sw.Parallel(
        "P",
        sw.Superstate("L", sw.State("A", do=ask_sync, to=sw.when(everything, "END")), sw.Final("END", data=long)),
        sw.Superstate(
            "R",
            sw.State(
                "B", do=RunnableLambda(plan), always=sw.when(only_active, "END", do=lambda: sw.Delayed.cancel("x"))
            ),
            sw.Final("END", data=lambda state, event: (state.get("city"), event)),
            entry=lambda state, event: {"days": state.get("days"), "of": event},
            exit=any_mapping and take_days,
        ),
        on=[
            sw.on("close", "DONE", when=partial(above, limit=3)),
            sw.on(Close, "DONE", when=lambda event: bool(event.reason)),
        ],
        to="DONE",
        history="deep",
    ),
    sw.Final("DONE"),
    always=sw.when(any_mapping, "DONE"),
    on=[sw.on(Change, do=note), sw.on("back", sw.History("P"), do=lambda state: None)],
)
assert_type(trip, sw.Chart[Trip])

# Written apart from the chart, and in functions that name no type argument.

waiting = sw.State("WAITING", on=[sw.on(Change, "WAITING", do=note), sw.on("x", when=long, do=take_days)], exit=plan)
assert_type(waiting, sw.State[Trip])
assert_type(sw.Superstate("S", waiting, sw.Final("END")), sw.Superstate[Trip])
assert_type(sw.State("BARE"), sw.State[Any])


def part(name: str) -> sw.Superstate:
    return sw.Superstate(name, sw.State("IN", do=plan), sw.Parallel("BOTH", sw.State("X"), sw.State("Y")))


assert_type(sw.Chart("apart", Trip, waiting, part("A"), sw.Final("END")), sw.Chart[Trip])


# Functions that do not fit.


def of_order(state: Order) -> bool:
    return bool(state["article"])


def of_order_event(state: Order, event: Change) -> dict[str, str]:
    return {"article": state["article"] * event.days}


async def order_run(state: Order, run: sw.Run) -> None:
    run.emit(state["article"])


def misnamed(state: Trip, evnet: Change) -> bool:
    return bool(state and evnet)


def wrong_event(state: Trip, event: Close) -> bool:
    return bool(state and event.reason)


def wrong_active(state: Trip, active: list[str]) -> bool:
    return bool(state and active)


async def slow(state: Trip) -> dict[str, int]:
    return {"days": state.get("days", 0)}


def number(state: Trip) -> int:
    return state.get("days", 0)


def text(state: Trip) -> str:
    return state.get("city", "")


sw.Chart("guard", Trip, sw.State("A", to=sw.when(of_order, "A")))  # pyright: ignore[reportArgumentType]
sw.Chart("always", Trip, sw.State("A"), always=[sw.when(of_order, "A")])  # pyright: ignore[reportArgumentType]
sw.Chart("on guard", Trip, sw.State("A", on=sw.on("x", when=of_order)))  # pyright: ignore[reportArgumentType]
sw.Chart("action", Trip, sw.State("A", on=[sw.on(Change, do=of_order_event)]))  # pyright: ignore[reportArgumentType]
sw.Chart("entry", Trip, sw.State("A", entry=of_order_event))  # pyright: ignore[reportArgumentType]
sw.Chart("exits", Trip, sw.State("A", exit=[of_order_event]))  # pyright: ignore[reportArgumentType]
sw.Chart("activity", Trip, sw.State("A", do=order_run))  # pyright: ignore[reportArgumentType]
sw.Chart("deep", Trip, sw.Parallel("P", sw.State("A", do=order_run)))  # pyright: ignore[reportArgumentType]
sw.Chart("data", Trip, sw.Final("A", data=of_order))  # pyright: ignore[reportArgumentType]
sw.Chart("delay", Trip, sw.State("A", on=sw.after(number, "A", when=of_order)))  # pyright: ignore[reportArgumentType]
sw.Chart("key", Trip, sw.State("A", to=sw.when(lambda state: state["dayz"] > 3, "A")))  # pyright: ignore[reportGeneralTypeIssues, reportUnknownLambdaType]
sw.State("two", do=plan, to=sw.when(of_order, "A"))  # pyright: ignore[reportArgumentType]
sw.when(misnamed, "A")  # pyright: ignore[reportArgumentType]
sw.when(wrong_active, "A")  # pyright: ignore[reportArgumentType]
sw.on(Change, "A", when=wrong_event)  # pyright: ignore[reportArgumentType, reportCallIssue]
sw.on("x", do=slow)  # pyright: ignore[reportArgumentType, reportCallIssue]
sw.State("A", entry=number)  # pyright: ignore[reportArgumentType]
sw.State("A", do=number)  # pyright: ignore[reportArgumentType]
sw.after(text, "A")  # pyright: ignore[reportArgumentType]
sw.Parallel("P", sw.Final("END"))  # pyright: ignore[reportArgumentType]
