"""What a legal configuration is."""

from __future__ import annotations

from stateward.chart.configuration import Configuration
from stateward.chart.definition import Definition


def assert_legal(chart: Definition, configuration: Configuration) -> None:
    """Fail unless a configuration obeys SCXML 3.11."""
    active = set(configuration.active)
    assert list(configuration.active) == sorted(active)
    assert 0 in active
    for node in (chart.nodes[state] for state in active):
        children = [child for child in node.children if chart.nodes[child].kind != "history"]
        inside = [child for child in children if child in active]
        assert node.kind != "history"
        assert node.parent in active | {-1}
        assert node.kind != "compound" or len(inside) == 1
        assert node.kind != "parallel" or inside == children
