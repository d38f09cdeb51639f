"""Activities that refund orders, and the chart in which a person stands before each refund."""

from __future__ import annotations

from typing import Any

import stateward as sw
from tests.charts.drive import policy
from tests.charts.one import compiled
from tests.charts.tools import Shop, call


def statuses(results: list[sw.ToolResult]) -> dict[str, Any]:
    return {"log": [result.status for result in results]}


async def look_then_refund(state: Any, run: sw.Run[Any]) -> Any:
    await run.tool("lookup", order="A1")
    paid = await run.tool("refund", order="A1", eur=3)
    return {"log": [paid.status, paid.value]}


def look_then_refund_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    run.tool("lookup", order="A1")
    paid = run.tool("refund", order="A1", eur=3)
    return {"log": [paid.status, paid.value]}


async def two_refunds(state: Any, run: sw.Run[Any]) -> Any:
    return statuses(
        await run.tools([call("refund", order="A1"), call("lookup", order="L"), call("refund", order="A2")])
    )


def two_refunds_sync(state: Any, run: sw.SyncRun[Any]) -> Any:
    return statuses(run.tools([call("refund", order="A1"), call("lookup", order="L"), call("refund", order="A2")]))


def asking(shop: Shop, do: Any = look_then_refund, **rest: Any) -> Any:
    return compiled(do, box=shop.box, policy=policy("approve_refunds"), **rest)
