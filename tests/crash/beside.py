"""The toy's tools in regions that run beside each other, to be killed anywhere."""

from __future__ import annotations

import stateward as sw
from stateward.run.graph import ChartGraph
from tests.charts.drive import policy
from tests.crash.kill import Killer
from tests.crash.toy import Case, Effects, box, calling


def build(effects: Effects, killer: Killer) -> ChartGraph:
    """Compile the chart over a world and a killer."""
    chart = sw.Chart(
        "beside",
        Case,
        sw.Parallel(
            "CASE",
            sw.Superstate(
                "A",
                sw.State("LOOK", do=calling("look"), tools=["look"], to="PAY"),
                sw.State("PAY", do=calling("pay"), tools=["pay"], to="END"),
                sw.Final("END"),
            ),
            sw.Superstate(
                "B",
                sw.State("MAIL", do=calling("mail"), tools=["mail"], to="REFUND"),
                sw.State("REFUND", do=calling("refund"), tools=["refund"], to="END"),
                sw.Final("END"),
            ),
            sw.Superstate(
                "C",
                sw.State("HOLD", on=[sw.on("release", "POST")]),
                sw.State("POST", do=calling("post"), tools=["post"], to="END"),
                sw.Final("END"),
            ),
            policy=policy("approve_refunds"),
            to="CLOSE",
        ),
        sw.State("CLOSE", do=lambda state: {"log": ["closed"]}, to="DONE"),
        sw.Final("DONE"),
    )
    return chart.compile(tools=box(effects, killer))
