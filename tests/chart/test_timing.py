"""Keys that two regions may write."""

from __future__ import annotations

from stateward.chart.compiler import build
from stateward.chart.explore import explore
from stateward.chart.finding import Finding
from stateward.chart.state import Final, Parallel, State, Superstate
from stateward.chart.timing import timing
from tests.chart.machines.working import think

LAST = {"best": "the last write wins", "note": "the last write wins"}


def found(left: set[str] | None, right: set[str] | None) -> list[Finding]:
    """Return what is found when the activities of two regions write these keys."""
    regions = [Superstate(name, State("DO", do=think, to="END"), Final("END")) for name in ("L", "R")]
    graph = explore(build("pair", [Parallel("P", *regions, to="DONE"), Final("DONE")]))
    by_path = graph.chart.by_path
    given = {by_path["P.L.DO"]: left, by_path["P.R.DO"]: right}
    writes = {state: None if keys is None else frozenset(keys) for state, keys in given.items()}
    return list(timing(graph, writes=writes, sensitive=LAST))


def test_a_key_that_both_regions_write_is_found() -> None:
    """With the reason, and the way to where both run."""
    (finding,) = found({"best", "sum"}, {"best", "sum", "note"})
    assert (finding.rule, finding.severity, finding.path) == ("timing", "warning", "P")
    assert "both write `best`" in finding.message
    assert [hop.at for hop in finding.witness] == [("P.L.DO", "P.R.DO")]


def test_keys_of_their_own_and_keys_without_order_are_no_matter() -> None:
    """Nor what only one of them writes."""
    assert found({"best", "sum"}, {"note", "sum"}) == []


def test_what_is_not_known_is_told() -> None:
    """As a note, unless the known one writes nothing that could clash."""
    (finding,) = found(None, {"best"})
    assert (finding.severity, "not known which keys `P.L.DO` may write" in finding.message) == ("note", True)
    assert found(None, {"sum"}) == []


def test_activities_one_after_the_other_are_no_matter() -> None:
    """Only one of them runs at a time."""
    graph = explore(build("row", [State("A", do=think, to="B"), State("B", do=think, to="C"), Final("C")]))
    same = dict.fromkeys((1, 2), frozenset({"best"}))
    assert list(timing(graph, writes=same, sensitive=LAST)) == []
