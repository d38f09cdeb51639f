"""The state schema: validated, coerced, and loud about keys nobody declared."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, cast

import pytest
from langgraph.graph.message import add_messages
from langgraph.types import Overwrite
from pydantic import BaseModel
from typing_extensions import TypedDict

import stateward as sw
from stateward.errors import DefinitionError, UpdateRefused
from stateward.run.state import declared_types, schema_json
from stateward.testing import How, run_graph
from tests.charts.one import One


class AsDict(TypedDict, total=False):
    number: int
    log: Annotated[list[str], operator.add]


@dataclass
class AsData:
    number: int = 0
    log: Annotated[list[str], operator.add] = field(default_factory=list)


class AsModel(BaseModel):
    number: int = 0
    log: Annotated[list[str], operator.add] = []


def put(held: list[str], one: Any) -> list[str]:
    return [*held, one] if isinstance(one, str) else [*held, *one]


class Loose(TypedDict, total=False):
    log: Annotated[list[str], put]


def number(state: Any) -> int:
    return cast("Mapping[str, int]", state)["number"] if isinstance(state, Mapping) else state.number


def chart(schema: Any) -> sw.Chart[Any]:
    return sw.Chart(
        "schema",
        schema,
        sw.State("A", do=lambda state: {"number": number(state) + 1, "log": ["a"]}, to=[sw.when(big, "DONE"), "A"]),
        sw.Final("DONE"),
    )


def big(state: Any) -> bool:
    return number(state) >= 3


@pytest.mark.parametrize("schema", [AsDict, AsData, AsModel])
def test_activities_and_guards_get_the_state_in_its_own_form(how: How, schema: Any) -> None:
    """A TypedDict is a mapping; a dataclass or Pydantic model is an instance."""
    values = run_graph(chart(schema).compile(), {"number": 1}, how=how)
    assert values == {"number": 3, "log": ["a", "a"]}


def schema_of(declared: Any) -> Any:
    return sw.Chart("s", declared, sw.Final("DONE")).compile().machine.schema


def test_unknown_key_names_the_known_ones() -> None:
    """A key nobody declared is refused with the list of keys."""
    with pytest.raises(UpdateRefused, match="log, number"):
        schema_of(AsDict).normalise("nobody", 1, base=None, where="A")


def test_value_is_coerced() -> None:
    """The declared type decides what is committed."""
    assert schema_of(AsDict).normalise("number", "7", base=None, where="A") == 7


def test_update_a_reducer_understands_is_taken(how: How) -> None:
    """A reducer may take another type than it holds, when the result fits."""

    loose = sw.Chart("l", Loose, sw.State("A", do=lambda s: {"log": "one"}, to="DONE"), sw.Final("DONE"))
    assert run_graph(loose.compile(), {"log": ["zero"]}, how=how)["log"] == ["zero", "one"]


def test_messages_get_their_ids_once() -> None:
    """Normalising twice keeps the id."""
    schema = schema_of(One)
    once = schema.normalise("messages", [("user", "hi")], base=None, where="A")
    assert schema.normalise("messages", once, base=None, where="A") == once


def test_schema_without_keys_is_refused() -> None:
    """A state that holds nothing is a mistake."""

    class Empty(TypedDict):
        pass

    with pytest.raises(DefinitionError, match="no keys"):
        declared_types(Empty)


def test_name_of_the_control_channel_is_taken() -> None:
    """`stateward` is no key of a user's."""
    with pytest.raises(DefinitionError, match="own"):
        declared_types(TypedDict("Bad", {"stateward": int}))


class Plain(TypedDict):
    log: list[str]


class Added(TypedDict):
    log: Annotated[list[str], operator.add]


class Numbers(TypedDict):
    log: list[int]


def test_schema_hash_changes_with_types_and_reducers() -> None:
    """What a schema hash is taken over tells two schemas apart."""
    described = {str(schema_json(declared_types(each))) for each in (Plain, Added, Numbers)}
    assert len(described) == 3


def test_add_messages_becomes_the_linear_channel() -> None:
    """LangGraph's own annotation is understood and made linear on disk."""

    class Chat(TypedDict, total=False):
        messages: Annotated[list[Any], add_messages]

    assert schema_of(Chat).messages == {"messages"}


class Records(TypedDict, total=False):
    team: Annotated[dict[str, Any], operator.or_]


FORMS = (
    Overwrite({"z": 1}),
    {"__overwrite__": {"z": 1}},
    {"type": "__overwrite__", "value": {"z": 1}},
    {"type": "a record", "value": 1},
)


@pytest.mark.parametrize("last", FORMS)
def test_a_reduced_value_is_what_langgraphs_channel_comes_to(last: Any) -> None:
    """Whichever way LangGraph is told to put a value in the place of all before it; what was there stays as it is."""
    state = sw.Chart("c", Records, sw.State("A", do=lambda state: None, to="B"), sw.Final("B")).compile().machine.schema
    base, updates = {"a": 1}, [{"b": 1}, last, {"c": 1}]
    channel = state.channels["team"].from_checkpoint(dict(base))
    channel.update(updates)
    assert (state.reduce("team", base, list(updates)), base) == (channel.get(), {"a": 1})
