"""Attempts with arguments that mean more than they seem to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Any

import pytest
from pydantic import BaseModel

import stateward as sw
from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.red.world import World, acting, calling, ids, ruled

Drive = Callable[..., Driven]
ASYNC = pytest.mark.parametrize("how", ["async"], indirect=False)


class LyingFloat(float):
    """Says of itself that it is small."""

    def __le__(self, other: object) -> bool:
        return True

    def __ge__(self, other: object) -> bool:
        return True


class LyingInt(int):
    """Says of itself that it is small."""

    def __le__(self, other: object) -> bool:
        return True

    def __ge__(self, other: object) -> bool:
        return True


class LyingText(str):
    """Says of itself that it is whatever one wants."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("ann")


class Chameleon(dict[str, Any]):
    """Shows a policy one amount and the tool another."""

    def __getitem__(self, key: str) -> Any:
        return 1000

    def get(self, key: str, default: Any = None) -> Any:
        return 1000


class Amount(IntEnum):
    LOT = 1000


class Word(str, Enum):  # noqa: UP042  # what people have
    EVE = "eve"


NUMBERS: dict[str, Any] = {
    "NaN": float("nan"),
    "infinity": float("inf"),
    "minus infinity": float("-inf"),
    "1e309": json.loads("1e309"),
    "1e309 as text": "1e309",
    "1e3 as text": "1e3",
    "1000 as text": "1000",
    "NaN as text": "NaN",
    "Infinity as text": "Infinity",
    "Arabic digits": "\u0661\u0660\u0660\u0660",
    "fullwidth digits": "\uff11\uff10\uff10\uff10",
    "superscript": "10\u00b3",
    "underscores": "1_000",
    "blanks around": " 1000 ",
    "hexadecimal": "0x3e8",
    "true as 1": True,
    "false as 0": False,
    "huge integer": 10**400,
    "huge negative integer": -(10**400),
    "just above": 100.00000000000001,
    "decimal": Decimal(1000),
    "list with one large": [1, 1000],
    "list in a list": [[1, [1000]]],
    "tuple": (1, 1000),
    "set": {1000},
    "object": {"usd": 1000},
    "empty text": "",
    "float that lies": LyingFloat(1000),
    "int that lies": LyingInt(1000),
    "number of an enum": Amount.LOT,
    "bytes": b"1000",
    "complex": complex(1000),
}


@ASYNC
@pytest.mark.parametrize("what", ids(NUMBERS))
def test_an_amount_above_its_limit_is_not_paid(drive: Drive, world: World, what: Any) -> None:
    """At most 100 may be paid at once."""
    policy = ruled(argument={"min": 1, "max": 100})
    outcome = drive(compiled(acting(what), box=[world.tool()], policy=policy)).start({})
    assert world.effects == []
    assert outcome.values["log"][0] in ("denied", "invalid")


@ASYNC
@pytest.mark.parametrize("usd", ids({name: NUMBERS[name] for name in NUMBERS if name not in ("list in a list",)}))
def test_an_amount_that_is_coerced_is_judged_as_the_tool_gets_it(drive: Drive, usd: Any) -> None:
    """The tool declares a number: what a text becomes is what counts."""
    paid: list[float] = []

    @sw.tool(effect="once")
    async def pay(usd: float) -> str:
        """Pay."""
        paid.append(usd)
        return "paid"

    do = calling({"name": "pay", "args": {"usd": usd}})
    policy = ruled("pay", argument={"min": 1, "max": 100}, named="usd")
    drive(compiled(do, box=[pay], policy=policy)).start({})
    assert all(type(each) is float and 1 <= each <= 100 for each in paid)


WORDS: dict[str, Any] = {
    "capital letters": "ANN",
    "blank behind": "ann ",
    "line behind": "ann\n",
    "zero width": "a\u200bnn",
    "fullwidth": "\uff41\uff4e\uff4e",
    "Cyrillic": "\u0430nn",
    "combining mark": "ann\u0301",
    "soft hyphen": "a\u00adnn",
    "right to left mark": "\u202eann",
    "NUL": "ann\0eve",
    "two in one": "ann,eve",
    "list with another": ["ann", "eve"],
    "object with the word": {"ann": "eve"},
    "text that lies": LyingText("eve"),
    "word of an enum": Word.EVE,
    "number": 0,
    "bytes": b"eve",
}


@ASYNC
@pytest.mark.parametrize("argument", ids({"values": {"values": ("ann",)}, "pattern": {"pattern": "ann"}}))
@pytest.mark.parametrize("what", ids(WORDS))
def test_a_word_that_looks_like_another_does_not_pass(
    drive: Drive, world: World, what: Any, argument: dict[str, Any]
) -> None:
    """Only `ann` may be paid."""
    drive(compiled(acting(what), box=[world.tool()], policy=ruled(argument=argument))).start({})
    assert world.effects == []


NESTED: dict[str, Any] = {
    "deep": {"to": {"iban": "evil"}},
    "in a list": {"to": [{"iban": "good"}, {"iban": "evil"}]},
    "in a list of lists": {"to": [[{"iban": "good"}], [{"iban": "evil"}]]},
    "list of values": {"to": {"iban": ["good", "evil"]}},
    "dotted key": {"to.iban": "evil"},
    "not given": {},
    "null": {"to": {"iban": None}},
    "null around": {"to": None},
    "one of two not given": {"to": [{"iban": "good"}, {}]},
    "text where an object is": {"to": "evil"},
    "empty list": {"to": []},
    "other spelling": {"To": {"IBAN": "evil"}},
}


@ASYNC
@pytest.mark.parametrize("what", ids(NESTED))
def test_a_nested_value_does_not_hide(drive: Drive, world: World, what: Any) -> None:
    """The account `what.to.iban` must be given and be the good one."""
    policy = ruled(named="what.to.iban", argument={"values": ("good",), "required": True})
    drive(compiled(acting(what), box=[world.tool()], policy=policy)).start({})
    assert world.effects == []


@ASYNC
@pytest.mark.parametrize(
    "args",
    ids(
        {
            "extra key": {"what": 1, "force": True},
            "extra key in capitals": {"what": 1, "WHAT": 1000},
            "context": {"what": 1, "ctx": None},
            "self": {"what": 1, "self": 1000},
        }
    ),
)
def test_an_argument_that_the_tool_does_not_have_is_refused(drive: Drive, world: World, args: Any) -> None:
    """It is not dropped in silence either."""
    do = calling({"name": "act", "args": args})
    outcome = drive(compiled(do, box=[world.tool()], policy=ruled(argument={"max": 100}))).start({})
    assert (world.effects, outcome.values["log"]) == ([], ["invalid"])


def test_a_default_is_judged_as_well(drive: Drive) -> None:
    """What is left out is not let off."""
    paid: list[float] = []

    @sw.tool(effect="once")
    async def pay(usd: float = 1000) -> str:
        """Pay."""
        paid.append(usd)
        return "paid"

    policy = ruled("pay", named="usd", argument={"max": 100})
    drive(compiled(calling({"name": "pay", "args": {}}), box=[pay], policy=policy)).start({})
    assert paid == []


def test_an_object_that_shows_two_faces_is_passed_on_as_it_was_judged(drive: Drive) -> None:
    """A mapping that reads differently for the tool than for the policy."""
    paid: list[Any] = []

    @sw.tool(effect="once")
    async def pay(order: Any) -> str:
        """Pay."""
        paid.append(order["usd"])
        return "paid"

    do = calling({"name": "pay", "args": {"order": Chameleon(usd=1)}})
    policy = ruled("pay", named="order.usd", argument={"max": 100, "required": True})
    drive(compiled(do, box=[pay], policy=policy)).start({})
    assert all(each <= 100 for each in paid)


def test_an_argument_that_is_changed_while_the_call_waits_is_passed_on_as_it_was_judged(drive: Drive) -> None:
    """The activity keeps the order, and changes it while the call is let in."""
    paid: list[Any] = []

    @sw.tool(effect="once")
    async def pay(order: Any) -> str:
        """Pay."""
        paid.append(order["usd"])
        return "paid"

    async def do(state: Any, run: sw.Run[Any]) -> Any:
        order = {"usd": 1}
        call = asyncio.ensure_future(run.tool("pay", order=order))
        await asyncio.sleep(0)  # it is being let in now
        order["usd"] = 1000
        return {"log": [(await call).status]}

    policy = ruled("pay", named="order.usd", argument={"max": 100, "required": True})
    drive(compiled(do, box=[pay], policy=policy)).start({})
    assert all(each <= 100 for each in paid)


class Order(BaseModel):
    """What a tool takes; a secret part is left out of what is written."""

    usd: float

    model_config = {"extra": "allow"}


def test_keys_that_a_nested_model_lets_in_are_judged(drive: Drive) -> None:
    """A rule on one of them holds though the model does not name it."""
    paid: list[Any] = []

    @sw.tool(effect="once")
    async def pay(order: Order) -> str:
        """Pay."""
        paid.append(order)
        return "paid"

    do = calling({"name": "pay", "args": {"order": {"usd": 1, "tip": 1000}}})
    drive(compiled(do, box=[pay], policy=ruled("pay", named="order.tip", argument={"max": 100}))).start({})
    assert paid == []


@pytest.mark.parametrize(
    ("what", "argument"),
    [
        (7, {"min": 1, "max": 100}),
        ("7", {"min": 1, "max": 100}),
        ([1, 100], {"max": 100}),
        ("ann", {"values": ("ann",)}),
        ("ann", {"pattern": "ann"}),
    ],
)
def test_control_what_meets_its_rule_is_passed_on(drive: Drive, world: World, what: Any, argument: Any) -> None:
    """So that the tables prove something."""
    drive(compiled(acting(what), box=[world.tool()], policy=ruled(argument=argument))).start({})
    assert world.done() == [what]
