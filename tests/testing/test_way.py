"""Both ways to run a graph."""

from __future__ import annotations

import asyncio

from stateward.testing import How, run_graph
from tests.charts.one import compiled


def test_run_graph_covers_both_ways(how: How) -> None:
    """One test, `invoke` and `ainvoke`."""
    seen: list[bool] = []

    def act(state: object) -> None:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            seen.append(False)

    assert run_graph(compiled(act), {"text": "x"}, how=how)["text"] == "x"
    assert seen == [False]
