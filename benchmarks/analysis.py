"""How long `stateward check` takes on charts of growing size, policies and properties included.

Each chart is clean: superstates of ten states with history, a loop inside, and events that pause and resume; or
parallel regions. What is measured is `Chart.analyse`, from the chart to the report; building the chart is not in it.

    python -m benchmarks.analysis
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TypedDict

import stateward as sw
from stateward.analysis import Report
from stateward.govern.policy import Fuses, Policy, Rule, ToolPolicy
from stateward.properties import always_before, eventually

LIMIT_S = 1.0
"""What a clean chart of 200 states may take, in seconds."""
GROUP = 9
"""States in one superstate."""


class Work(TypedDict, total=False):
    """The state."""

    n: int


def step(state: Work) -> None:
    """Stand for the work of a state."""


def more(state: Work) -> bool:
    """Tell whether another round is due."""
    return state.get("n", 0) < 3


def policy() -> Policy:
    """Return what binds every chart."""
    rules = (Rule(match="look", level="allowed", max_calls=3), Rule(match="pay", level="restricted"))
    return Policy(name="bench", fuses=Fuses(calls=20, turns=12), tools=ToolPolicy(rules=rules), call_timeout_s=20)


def nested(states: int) -> sw.Chart[Work]:
    """Return a chart of superstates in a row.

    Args:
        states: How many states it has, about.
    """
    groups = max(states // (GROUP + 1), 1)
    tops = [_group(number, last=number + 1 == groups) for number in range(groups)]
    paused = sw.State("PAUSED", on=[sw.on("resume", sw.History("G0")), sw.on("restart", "G0")])
    stated = (always_before("G0", "DONE"), eventually("DONE"))
    return sw.Chart("nested", Work, *tops, paused, sw.Final("DONE"), policy=policy(), properties=stated)


def _group(number: int, *, last: bool) -> sw.Superstate[Work]:
    after = "DONE" if last else f"G{number + 1}"
    inside = [
        sw.State(f"S{place}", do=step, tools=["look", "pay"], to=f"S{place + 1}", on=[sw.on("skip", after)])
        for place in range(GROUP - 1)
    ]
    end = sw.State(f"S{GROUP - 1}", do=step, tools=["look"], to=[sw.when(more, "S0"), after])
    history = "shallow" if number == 0 else None
    return sw.Superstate(f"G{number}", *inside, end, history=history, on=[sw.on("pause", "PAUSED")])


def parallel(regions: int, *, states: int) -> sw.Chart[Work]:
    """Return a chart of regions side by side.

    Args:
        regions: How many.
        states: How many states each has.
    """
    inside = [_region(number, states) for number in range(regions)]
    box = sw.Parallel("BOX", *inside, to="DONE")
    return sw.Chart("parallel", Work, box, sw.Final("DONE"), policy=policy(), properties=[eventually("DONE")])


def _region(number: int, states: int) -> sw.Superstate[Work]:
    row = [sw.State(f"S{place}", do=step, to=f"S{place + 1}") for place in range(states - 1)]
    return sw.Superstate(f"R{number}", *row, sw.State(f"S{states - 1}", do=step, to="END"), sw.Final("END"))


def measure(chart: sw.Chart[Work], *, rounds: int = 3) -> tuple[float, Report]:
    """Analyse a chart.

    Args:
        chart: The chart.
        rounds: How often; the fastest counts.

    Returns:
        Seconds, and the report.
    """
    best, report = float("inf"), None
    for _ in range(rounds):
        begun = time.perf_counter()
        report = chart.analyse()
        best = min(best, time.perf_counter() - begun)
    assert report is not None
    return best, report


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table.

    Raises:
        SystemExit: A chart of 200 states took longer than it may.
    """
    charts = [nested(size) for size in (20, 50, 100, 200, 400)]
    charts += [parallel(2, states=10), parallel(3, states=10), parallel(4, states=9)]
    print(f"{'chart':10} {'states':>7} {'configurations':>15} {'explored':>9} {'errors':>7} {'seconds':>8}")
    slow = False
    for chart in charts:
        taken, report = measure(chart)
        errors = sum(finding.severity == "error" for finding in report.findings)
        explored = "all" if report.exact else "coarse"
        print(f"{chart.name:10} {report.states:7} {report.configurations:15} {explored:>9} {errors:7} {taken:8.3f}")
        slow = slow or (chart.name == "nested" and report.states <= 210 and taken > LIMIT_S)
    if slow:
        raise SystemExit(f"a chart of 200 states took more than {LIMIT_S:g} s")


if __name__ == "__main__":
    main()
