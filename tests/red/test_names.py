"""Attempts with names of tools that look like others."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from stateward.errors import DefinitionError
from stateward.govern.policy import Policy, ToolPolicy
from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.red.world import World, calling, ids, ruled

Drive = Callable[..., Driven]
ASYNC = pytest.mark.parametrize("how", ["async"])

LOOKALIKES = {
    "capital letters": "WIPE",
    "blank before": " wipe",
    "blank behind": "wipe ",
    "line behind": "wipe\n",
    "NUL behind": "wipe\0",
    "fullwidth": "\uff57\uff49\uff50\uff45",
    "one fullwidth letter": "\uff57ipe",
    "zero width space": "wi\u200bpe",
    "zero width joiner": "wi\u200dpe",
    "word joiner": "\u2060wipe",
    "byte order mark": "\ufeffwipe",
    "soft hyphen": "wi\u00adpe",
    "variation selector": "wipe\ufe0f",
    "Cyrillic": "wip\u0435",
    "mathematical": "\U0001d430ipe",
    "combining mark": "wipe\u0301",
    "right to left": "\u202eepiw",
    "call": "wipe()",
    "path": "./wipe",
    "scope": "tools.wipe",
    "pattern": "w.pe",
    "pattern of everything": ".*",
    "two": "look|wipe",
    "empty": "",
    "surrogate": "wipe\ud800",
}
UNREGISTRABLE = ("surrogate", "NUL behind")
"""Names that no tool can have."""


@ASYNC
@pytest.mark.parametrize("name", ids(LOOKALIKES))
@pytest.mark.parametrize("is_declared", ids({"declared": True, "not declared": False}))
def test_a_name_that_looks_like_another_reaches_nothing(
    drive: Drive, world: World, name: str, is_declared: bool
) -> None:
    """The tool `wipe` is forbidden, or there and not declared; no other spelling finds it."""
    tools = ["look", "wipe"] if is_declared else ["look"]
    policy = ruled("wipe", "forbidden") if is_declared else None
    do = calling({"name": name, "args": {"what": "all"}})
    graph = compiled(do, box=[world.tool("look"), world.tool("wipe")], tools=tools, policy=policy)
    outcome = drive(graph).start({})
    assert (world.effects, outcome.values["log"]) == ([], ["denied"])


@ASYNC
@pytest.mark.parametrize("name", ids({key: name for key, name in LOOKALIKES.items() if key not in UNREGISTRABLE}))
def test_a_tool_that_is_registered_under_such_a_name_is_not_let_in_by_a_rule_on_another(
    drive: Drive, world: World, name: str
) -> None:
    """A rule allows `wipe` and nothing else: what is spelled otherwise falls to the default."""
    do = calling({"name": name, "args": {"what": "all"}})
    graph = compiled(do, box=[world.tool(name)] if name else [], policy=ruled("wipe", default="forbidden"))
    outcome = drive(graph).start({})
    assert (world.effects, outcome.values["log"]) == ([], ["denied"])


@ASYNC
@pytest.mark.parametrize(
    "name", ids({key: name for key, name in LOOKALIKES.items() if name and key not in UNREGISTRABLE})
)
def test_a_pattern_matches_the_whole_name_only(drive: Drive, world: World, name: str) -> None:
    """Neither a part nor a line of it is enough for a rule that allows."""
    policy = ruled("^wipe$|look_.*", default="forbidden")
    do = calling({"name": name, "args": {}}, {"name": "my_look_up", "args": {}}, {"name": "look\nwipe", "args": {}})
    box = [world.tool(each) for each in (name, "my_look_up", "look\nwipe")]
    drive(compiled(do, box=box, policy=policy)).start({})
    assert world.effects == []


def test_two_tools_of_one_name_are_refused(world: World) -> None:
    """The second would take the place of the first, and its effect."""
    with pytest.raises(DefinitionError, match="Two tools"):
        compiled(calling(), box=[world.tool("wipe"), world.tool("wipe", effect="pure")])


def test_a_name_that_was_not_found_before_is_on_no_list(drive: Drive, world: World) -> None:
    """The activity calls what it does not declare, under a policy that lists what may be discovered."""
    policy = Policy(name="found", tools=ToolPolicy(default="allowed", discovered=("look",)))
    do = calling({"name": "wipe", "args": {}}, {"name": "look", "args": {}})
    outcome = drive(compiled(do, box=[world.tool("wipe")], tools=[], policy=policy)).start({})
    assert (world.effects, outcome.values["log"]) == ([], ["denied", "denied"])


@pytest.mark.parametrize("args", ids({"list": [1], "text": "x", "none": None, "number": 3}))
def test_a_batch_that_is_no_batch_does_nothing(drive: Drive, world: World, args: Any) -> None:
    """Arguments that are no mapping end the activity, and no tool has run."""
    do = calling({"name": "wipe", "args": args})
    with suppress(TypeError):
        drive(compiled(do, box=[world.tool("wipe")], policy=ruled("wipe", "allowed"))).start({})
    assert world.effects == []


def test_control_the_name_itself_is_found(drive: Drive, world: World) -> None:
    """So that the tables prove something."""
    do = calling({"name": "wipe", "args": {"what": "all"}})
    drive(compiled(do, box=[world.tool("wipe")], policy=ruled("^wipe$|look_.*", default="forbidden"))).start({})
    assert world.effects == [("wipe", "all")]
