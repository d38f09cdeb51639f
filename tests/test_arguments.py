"""Arguments of the wrong kind: each call of the façade says what was given and what it expects, never our inside."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

import stateward as sw
from stateward.errors import DefinitionError, InputRefused, StatewardError, UpdateRefused
from stateward.exchange.registry import Registry
from stateward.run.door.toolbox import toolbox
from tests.charts.one import One
from tests.charts.tools import Shop
from tests.charts.working import working

DOCUMENT = '<scxml xmlns="http://www.w3.org/2005/07/scxml"><state id="a"/></scxml>'
MACHINE = {"initial": "a", "states": {"a": {}}}
Call = Callable[[Any], object]

TAKES_NOTHING_ELSE: dict[str, Call] = {
    "compile tools": lambda given: working().compile(tools=given),
    "compile models": lambda given: working().compile(models=given),
    "compile checkpointer": lambda given: working().compile(checkpointer=given),
    "compile store": lambda given: working().compile(store=given),
    "compile cache": lambda given: working().compile(cache=given),
    "compile database": lambda given: working().compile(database=given),
    "check": lambda given: working().check(given),
    "check tools": lambda given: working().check(tools=given),
    "analyse bound": lambda given: working().analyse(bound=given),
    "draw format": lambda given: working().draw(format=given),
    "draw highlight": lambda given: working().draw(highlight=given),
    "draw path": lambda given: working().draw(path=given),
    "simulate": lambda given: working().simulate(given),
    "simulate complete": lambda given: working().simulate().complete(given),
    "simulate complete path": lambda given: working().simulate().complete(path=given),
    "simulate fail": lambda given: working().simulate().fail(given),
    "simulate send": lambda given: working().simulate().send(given),
    "simulate wait": lambda given: working().simulate().wait(given),
    "superstate": lambda given: working().superstate(given),
    "superstate exit_key": lambda given: working().superstate("WORKING", exit_key=given),
    "as_superstate input": lambda given: working().as_superstate("X", input=given),
    "as_superstate output": lambda given: working().as_superstate("X", output=given),
    "from_definition": lambda given: sw.Chart.from_definition(given, One),
    "from_definition schema": lambda given: sw.Chart.from_definition(working().definition, given),
    "from_scxml": lambda given: sw.Chart.from_scxml(given, schema=One),
    "from_scxml schema": lambda given: sw.Chart.from_scxml(DOCUMENT, schema=given),
    "from_scxml registry": lambda given: sw.Chart.from_scxml(DOCUMENT, schema=One, registry=given),
    "from_scxml ignoring": lambda given: sw.Chart.from_scxml(DOCUMENT, schema=One, ignoring=given),
    "from_xstate": lambda given: sw.Chart.from_xstate(given, schema=One),
    "from_xstate schema": lambda given: sw.Chart.from_xstate(MACHINE, schema=given),
    "from_xstate registry": lambda given: sw.Chart.from_xstate(MACHINE, schema=One, registry=given),
    "from_xstate ignoring": lambda given: sw.Chart.from_xstate(MACHINE, schema=One, ignoring=given),
    "to_scxml registry": lambda given: working().to_scxml(registry=given),
    "to_xstate registry": lambda given: working().to_xstate(registry=given),
    "registry guards": lambda given: Registry.of(guards=given),
    "registry actions": lambda given: Registry.of(actions=given),
    "registry activities": lambda given: Registry.of(activities=given),
    "registry events": lambda given: Registry.of(events=given),
}
THREE = {"simulate wait": "3", "analyse bound": "3"}
"""Calls that take a number: they get one as text."""


@pytest.mark.parametrize("call", TAKES_NOTHING_ELSE)
def test_what_is_of_the_wrong_kind_is_named(call: str) -> None:
    """The message has what was given, and what to do."""
    given: object = THREE.get(call, 3)
    with pytest.raises(StatewardError) as refused:
        TAKES_NOTHING_ELSE[call](given)
    assert "3" in refused.value.what or "`int`" in refused.value.what
    assert refused.value.where or refused.value.fix


@pytest.mark.parametrize("call", TAKES_NOTHING_ELSE)
@pytest.mark.parametrize("given", [object(), [object()], {1: [2]}, "?", b"?", float("nan")], ids=type)
def test_nothing_comes_from_inside(call: str, given: Any) -> None:
    """Whatever is given is taken or refused by an error of ours."""
    with suppress(StatewardError):
        TAKES_NOTHING_ELSE[call](given)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ("simulate", InputRefused, "3 is no data .* Give a dictionary"),
        ("simulate complete", UpdateRefused, "`int` is not an update"),
        ("to_scxml registry", DefinitionError, "`registry` is 3, expected a registry .* `Registry.of`"),
        ("from_scxml", DefinitionError, "`text` is 3, expected an SCXML document"),
        ("from_xstate", DefinitionError, "`machine` is 3, expected a machine: JSON"),
        ("draw highlight", DefinitionError, r"`highlight` is 3, expected paths of states, as text \(at drawing"),
        ("check tools", DefinitionError, "`tools` is 3, expected tools"),
        ("compile database", DefinitionError, r"`database` is 3, expected a database, from `stateward.open`"),
        ("compile store", DefinitionError, r"`store` is 3, expected a LangGraph store \(at working.compile"),
    ],
)
def test_messages_say_what_is_expected(call: str, error: type[StatewardError], message: str) -> None:
    """Some of them, word by word."""
    with pytest.raises(error, match=message):
        TAKES_NOTHING_ELSE[call](3)


def test_one_alone_is_taken_as_one() -> None:
    """A tool, a namespace, an event: where several may stand, one may, too."""
    alone: Any = Shop().lookup
    assert list(toolbox(alone)) == [alone.name]
    one: Any = "urn:x"
    assert sw.Chart.from_scxml(DOCUMENT, schema=One, ignoring=one).definition.nodes[1].name == "a"
