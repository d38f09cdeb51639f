"""Tools: functions with a schema and a declared effect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, cast

import pytest
from langchain_core.tools import BaseTool
from langchain_core.tools import tool as langchain_tool
from pydantic import BaseModel

import stateward as sw
from stateward.errors import DefinitionError
from stateward.run.door.tool import adapt, refusal
from tests.charts.drive import Driven, policy
from tests.charts.one import compiled

Drive = Callable[..., Driven]


class Item(BaseModel):
    sku: str
    count: int = 1


@sw.tool(effect="pure")
def order(item: Item, speed: Literal["slow", "fast"] = "slow", *, ctx: sw.ToolContext) -> str:
    """Order an item.

    With a second paragraph.
    """
    return f"{item.count} {item.sku} {speed} {ctx.path}"


def test_function_becomes_a_tool() -> None:
    """Name, description and schema come from the function; `ctx` is no argument."""
    assert (order.name, order.effect, order.takes_context) == ("order", "pure", True)
    assert order.description.startswith("Order an item.")
    assert set(order.schema["properties"]) == {"item", "speed"}


def test_default_effect_is_the_careful_one() -> None:
    """A tool that says nothing must not run twice."""
    assert sw.tool()(lambda: None).effect == "once"


def test_arguments_are_coerced_and_defaults_filled_in() -> None:
    """The function gets what its annotations say."""
    assert order.parse({"item": {"sku": "a", "count": "2"}}) == {"item": Item(sku="a", count=2), "speed": "slow"}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [({}, "item"), ({"item": {"sku": "a"}, "speed": "medium"}, "speed"), ({"item": {"sku": "a"}, "x": 1}, "x")],
)
def test_wrong_arguments_are_named(arguments: Any, named: str) -> None:
    """Missing, wrong and unknown arguments."""
    with pytest.raises(ValueError, match=named):
        order.parse(arguments)


def test_tool_without_annotations_is_refused() -> None:
    """Its arguments could not be checked."""
    with pytest.raises(DefinitionError, match="no annotation"):
        sw.tool()(lambda x: x)


def test_an_effect_that_is_none_is_refused() -> None:
    """A word that nobody knows must not decide what happens after a crash."""
    with pytest.raises(DefinitionError, match="Say one of `pure`, `idempotent`, `once`"):
        sw.tool(effect=cast("Any", "Once"))


def test_tool_with_open_arguments_is_refused() -> None:
    """Every argument has a name."""
    with pytest.raises(DefinitionError, match="Name every argument"):
        sw.tool()(lambda **anything: anything)


def test_a_bare_decorator_makes_a_careful_tool() -> None:
    """As `@sw.tool()` does: what it does may happen once."""

    @sw.tool
    def pay(amount: int) -> int:
        """Pay."""
        return amount

    assert (pay.name, pay.description, pay.effect) == ("pay", "Pay.", "once")


def test_refusal_is_json_for_the_model() -> None:
    """A model reads why its call did not run."""
    refused = refusal("order", "denied", "not here", call=2)
    assert (refused.ok, refused.call) == (False, 2)
    assert refused.text == '{"error": {"type": "denied", "tool": "order", "reason": "not here"}}'


@langchain_tool
def shout(text: str) -> str:
    """Shout."""
    return text.upper()


def test_langchain_tool_is_adapted_carefully() -> None:
    """Its effect is not declared, so it must not run twice."""
    adapted = adapt(shout)
    assert (adapted.name, adapted.effect, adapted.description) == ("shout", "once", "Shout.")


class Whisper(BaseTool):
    """A tool with an async form of its own."""

    name: str = "whisper"
    description: str = "Whisper."

    def _run(self, text: str) -> str:
        return text

    async def _arun(self, text: str) -> str:
        return text


@langchain_tool
async def mumble(text: str) -> str:
    """Mumble."""
    return text


@pytest.mark.parametrize(("source", "is_async"), [(shout, False), (mumble, True), (Whisper(), True)])
def test_langchain_tool_without_an_async_form_is_sync(source: BaseTool, is_async: bool) -> None:
    """So it gets a thread that may hang, and not one that LangChain chooses."""
    assert adapt(source).is_async == is_async


async def shouting(state: Any, run: sw.Run[Any]) -> Any:
    return {"log": [(await run.tool("shout", text="a")).value, (await run.tool("order", item={"sku": "s"})).value]}


def test_tools_of_both_kinds_run_through_the_door(drive: Drive) -> None:
    """A LangChain tool, and one with a model as argument."""
    assert drive(compiled(shouting, box=[shout, order])).start({}).values["log"] == ["A", "1 s slow WORK.ACT"]


def test_argument_that_is_a_model_can_be_asked_about(drive: Drive) -> None:
    """Arguments are shown to a person as JSON."""
    graph = compiled(shouting, box=[shout, order], policy=policy("approve_orders"))
    driven = drive(graph)
    ask = driven.start({}).asks[0]
    assert driven.session.database.asks.get(ask).arguments == {"item": {"sku": "s", "count": 1}, "speed": "slow"}
    assert driven.answer(ask).status == "completed"


@sw.tool(effect="pure")
def model_out() -> Item:
    """Return a model."""
    return Item(sku="a")


async def two_ways(state: Any, run: sw.Run[Any]) -> Any:
    first = await run.tool("model_out")
    return {"log": [first.value]}


def test_result_that_is_a_model_is_its_json(drive: Drive) -> None:
    """An activity sees the form the journal keeps."""
    assert drive(compiled(two_ways, box=[model_out])).start({}).values["log"] == [{"sku": "a", "count": 1}]


def test_tool_says_what_it_is_cleared_for() -> None:
    """Who says nothing is cleared for public data; a LangChain tool says it in its metadata."""
    cleared = sw.tool(effect="pure", cleared="personal")(model_out.fn)

    @langchain_tool
    def look(order: str) -> str:
        """Look."""
        return order

    plain = adapt(look).cleared
    look.metadata = {"cleared": "internal"}
    assert (cleared.cleared, model_out.cleared, plain, adapt(look).cleared) == (
        "personal",
        "public",
        "public",
        "internal",
    )


@pytest.mark.parametrize("name", ["wipe\0", "wipe\ud800"])
def test_a_name_that_nobody_can_keep_is_refused(name: str) -> None:
    """Of ours as of one of LangChain's; the message shows it."""
    with pytest.raises(DefinitionError, match="is no name of a tool"):
        sw.tool(name=name)(lambda: "x")
    with pytest.raises(DefinitionError, match="is no name of a tool"):
        adapt(langchain_tool("look", return_direct=False)(_look).model_copy(update={"name": name}))


def _look(what: str) -> str:
    """Look."""
    return what


async def call_deep(state: Any, run: sw.Run[Any]) -> Any:
    deep: Any = 1
    for _ in range(900):
        deep = [deep]
    return {"log": [(await run.tool("dig", what=deep)).status]}


def test_arguments_that_are_nested_too_deeply_are_an_observation(drive: Drive) -> None:
    """And no error of the activity."""

    @sw.tool(effect="pure")
    def dig(what: Any) -> str:
        """Dig."""
        return "?"

    assert drive(compiled(call_deep, box=[dig])).start({}).values["log"] == ["invalid"]


def test_clearance_that_is_no_class_of_data_is_refused() -> None:
    """The known ones are listed."""
    with pytest.raises(DefinitionError, match=r"`private` is no class of data.*`personal`"):
        sw.tool(cleared=cast("Any", "private"))
