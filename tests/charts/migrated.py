"""The same chart under two definitions, and a session that goes from one to the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import stateward as sw
from stateward.migration import Migration, Report, aadopt, adopt
from stateward.run.graph import ChartGraph
from stateward.run.store.database import Database
from tests.charts.drive import Driven, policy
from tests.charts.one import One
from tests.charts.refunds import look_then_refund
from tests.charts.tools import Shop

Drive = Callable[..., Driven]


def desk(
    shop: Shop,
    *,
    work: str = "WORK",
    act: str = "ACT",
    do: Any = look_then_refund,
    rules: str = "approve_refunds",
    tools: Any = ("lookup", "refund", "mail", "broken"),
    schema: type[Any] = One,
) -> ChartGraph:
    """A superstate whose one state has work, and a state beside it that waits."""
    inside = sw.State(act, do=do, tools=list(tools), to="DONE")
    return sw.Chart(
        "desk",
        schema,
        sw.Superstate(work, inside, policy=policy(rules)),
        sw.State("HELP", on=[sw.on("close", "DONE")]),
        sw.Final("DONE"),
    ).compile(tools=shop.box)


RENAMED = Migration(states={"WORK": "JOB", "WORK.ACT": "JOB.DO"})
"""From `desk(shop)` to `renamed(shop)`."""


def renamed(shop: Shop, **rest: Any) -> ChartGraph:
    """The desk with other names."""
    return desk(shop, work="JOB", act="DO", **rest)


def migrate(driven: Driven, migration: Migration | None = None, *, dry_run: bool = False) -> Report:
    """Migrate a session the test's way."""
    if driven.how == "sync":
        return adopt(driven.session, migration, by="ann", dry_run=dry_run)
    return asyncio.run(aadopt(driven.session, migration, by="ann", dry_run=dry_run))


def notes(report: Report, kind: str) -> list[tuple[str, str]]:
    """Old and new names of the lines of one kind."""
    return [(line.name, line.to) for line in report.lines if line.kind == kind]


def dump(database: Database) -> dict[str, list[Any]]:
    """Every row of every table."""
    connection = database._connection  # pyright: ignore[reportPrivateUsage]  # the tables as they are
    with connection.read() as cur:
        return {table: cur.execute(f"SELECT * FROM {table}").fetchall() for table in sorted(connection.tables())}


class Crash(BaseException):
    """The process dies."""


def crashing(work: Any) -> Any:
    """Make an activity that dies once, after its work."""
    left = [1]

    async def dying(state: Any, run: sw.Run[Any]) -> Any:
        update = await work(state, run)
        if left.pop() if left else 0:
            raise Crash
        return update

    return dying
