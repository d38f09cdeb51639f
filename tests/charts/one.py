"""One state with an activity, in a superstate that may handle what goes wrong; then the end."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Annotated, Any

from typing_extensions import TypedDict

import stateward as sw
from stateward.govern.policy import Policy
from stateward.run.graph import ChartGraph


class One(TypedDict, total=False):
    """Some keys of each kind."""

    text: str
    number: int
    log: Annotated[list[Any], operator.add]
    messages: sw.Messages


def one(do: Any, *, handles: Sequence[str] = (), policy: Policy | None = None, **state: Any) -> sw.Chart[One]:
    """Build the chart; an event of `handles` leads to HELP, where the chart waits for `again` or `close`."""
    return sw.Chart(
        "one",
        One,
        sw.Superstate(
            "WORK",
            sw.State("ACT", do=do, **{"to": "DONE", **state}),
            on=[sw.on(event, "HELP") for event in handles],
            policy=policy,
        ),
        sw.State("HELP", on=[sw.on("again", "WORK"), sw.on("close", "DONE")]),
        sw.Final("DONE"),
    )


def compiled(do: Any, *, box: Sequence[Any] = (), models: Any = None, **rest: Any) -> ChartGraph:
    """Build and compile the chart; the state declares every tool of `box`."""
    declared = rest.pop("tools", [tool.name for tool in box])
    return one(do, tools=declared, **rest).compile(tools=box, models=models)
