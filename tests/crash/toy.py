"""A chart of seven states whose tools write their effects into a file of their own, to be killed anywhere."""

from __future__ import annotations

import operator
import sqlite3
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, Protocol

from typing_extensions import TypedDict

import stateward as sw
from stateward.run.door.tool import Effect
from stateward.run.graph import ChartGraph
from tests.charts.drive import policy
from tests.crash.kill import Killer


class Case(TypedDict, total=False):
    """What the case knows."""

    log: Annotated[list[str], operator.add]


class World(Protocol):
    """Where effects go."""

    def happen(self, tool: str, key: str) -> None: ...

    def keys(self, tool: str) -> list[str]: ...


class Effects:
    """The world outside: one row for every effect, kept whatever becomes of the process."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.execute("CREATE TABLE IF NOT EXISTS effects (tool TEXT, key TEXT)")

    def happen(self, tool: str, key: str) -> None:
        self._db.execute("INSERT INTO effects VALUES (?, ?)", (tool, key))

    def keys(self, tool: str) -> list[str]:
        return [row[0] for row in self._db.execute("SELECT key FROM effects WHERE tool = ?", (tool,))]

    def close(self) -> None:
        self._db.close()


TOOLS: Mapping[str, Effect] = {
    "look": "pure",
    "pay": "idempotent",
    "mail": "once",
    "refund": "idempotent",
    "post": "once",
}
"""Tool and effect; `mail` can be looked up, `post` cannot, `refund` needs a person."""


def box(
    world: World, killer: Killer, *, tools: Mapping[str, Effect] = TOOLS, seen: Collection[str] = ("mail",)
) -> list[Any]:
    """Make tools that leave their effects in a world, and pass by a killer before and after; some can be looked up."""

    def tool(name: str) -> Any:
        def lookup(key: str) -> str | None:
            return "done" if key in world.keys(name) else None

        def act(*, ctx: sw.ToolContext) -> str:
            """Leave an effect."""
            killer.pass_by(f"{name}:before")
            world.happen(name, ctx.idempotency_key)
            killer.pass_by(f"{name}:after")
            return "done"

        return sw.tool(effect=tools[name], name=name, lookup=lookup if name in seen else None)(act)

    return [tool(name) for name in tools]


def build(effects: Effects, killer: Killer) -> ChartGraph:
    """Compile the chart over a world and a killer."""
    chart = sw.Chart(
        "toy",
        Case,
        sw.Superstate(
            "CASE",
            sw.State("LOOK", do=calling("look"), tools=["look"], to="PAY"),
            sw.State("PAY", do=calling("pay"), tools=["pay"], to="MAIL"),
            sw.State("MAIL", do=calling("mail"), tools=["mail"], to="REFUND"),
            sw.State("REFUND", do=calling("refund"), tools=["refund"], to="HOLD"),
            sw.State("HOLD", on=[sw.on("release", "POST")]),
            sw.State("POST", do=calling("post"), tools=["post"], to="CLOSE"),
            sw.State("CLOSE", do=lambda state: {"log": ["closed"]}, to="DONE"),
            policy=policy("approve_refunds"),
        ),
        sw.Final("DONE"),
    )
    return chart.compile(tools=box(effects, killer))


def calling(name: str) -> Any:
    """Make the activity that calls a tool and logs what became of it."""

    async def call(state: Any, run: sw.Run[Any]) -> Any:
        return {"log": [f"{name} {(await run.tool(name)).status}"]}

    return call
