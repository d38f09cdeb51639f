"""What the log is told of calls that were not made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import stateward as sw
from stateward.govern.argument import LARGEST
from stateward.govern.policy import Policy, Rule, ToolPolicy
from tests.charts.drive import Driven
from tests.charts.one import compiled
from tests.charts.tools import Shop

CLOSED = Policy(name="closed", tools=ToolPolicy(rules=(Rule(match="lookup", level="forbidden"),)))


async def lookup(state: Any, run: sw.Run[Any]) -> Any:
    return {"log": [(await run.tool("lookup", order="ann@example.org " * LARGEST)).status]}


def test_arguments_that_are_too_large_are_not_looked_through(drive: Callable[..., Driven]) -> None:
    """Sixteen million letters with a finding in each line are refused at once, and leave one short row."""
    driven = drive(compiled(lookup, box=Shop().box, policy=CLOSED))
    assert driven.start({}).values["log"] == ["denied"]
    (row,) = [row.record for row in driven.session.database.audit.rows("s1") if row.record["event"] == "denied"]
    assert row["arguments"] == {"(not shown)": "too large"}


async def invent(state: Any, run: sw.Run[Any]) -> Any:
    return {"log": [len((await run.tool("ann@example.org " * LARGEST)).text)]}


def test_a_name_of_any_length_leaves_a_short_record(drive: Callable[..., Driven]) -> None:
    """And a short observation for the model that made it up."""
    driven = drive(compiled(invent, box=Shop().box))
    assert driven.start({}).values["log"][0] < 1_000
    (row,) = [row for row in driven.session.database.audit.rows("s1") if row.record["event"] == "denied"]
    assert len(row.text) < 1_000
