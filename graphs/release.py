"""`release`: built, then checked, scanned and reviewed at the same time, then shipped; `hold` at any moment."""

from __future__ import annotations

import stateward as sw
from nodes.release import Release, assemble, check, remind, scan, ship
from stateward.properties import always_before, eventually

HOUR_S = 3600.0
DAY_S = 24 * HOUR_S
CHECK_S = 600.0
"""What a check may take."""


def chart(*, silence: str = "HELD") -> sw.Chart[Release]:
    """Draw the chart.

    Args:
        silence: The path of the state that follows when a reviewer has not answered a day after the reminder.

    Returns:
        The chart.

    Raises:
        UnknownTarget: There is no such state.
    """
    review = sw.Parallel(
        "REVIEW",
        sw.Superstate("SCAN", sw.State("RUN", do=scan, timeout_s=CHECK_S, to="CLEAN"), sw.Final("CLEAN")),
        sw.Superstate(
            "TESTS",
            sw.State("UNIT", do=check, timeout_s=CHECK_S, to="TYPES"),
            sw.State("TYPES", do=check, timeout_s=CHECK_S, to="GREEN"),
            sw.Final("GREEN"),
        ),
        sw.Superstate(
            "PERSON",
            sw.State("ASKED", on=[sw.on("approve", "AGREED"), sw.after(HOUR_S, "REMINDED")]),
            sw.State("REMINDED", entry=remind, on=[sw.on("approve", "AGREED"), sw.after(DAY_S, silence)]),
            sw.Final("AGREED"),
        ),
        to="SHIP",
    )
    return sw.Chart(
        "release",
        Release,
        sw.Superstate(
            "WORK",
            sw.State("BUILD", do=assemble, to="REVIEW"),
            review,
            sw.State("SHIP", do=ship, to="OUT"),
            sw.Final("OUT"),
            history="deep",
            on=sw.on("hold", "HELD"),
            to="DONE",
        ),
        sw.State("HELD", on=sw.on("resume", sw.History("WORK"))),
        sw.Final("DONE"),
        properties=[always_before("WORK.REVIEW.PERSON.AGREED", "WORK.SHIP"), eventually("DONE")],
    )


def build() -> sw.ChartGraph:
    """Compile the chart.

    Returns:
        An ordinary LangGraph graph, compiled without a saver: sessions and the dev server bring theirs.
    """
    return chart().compile()


graph = build()
