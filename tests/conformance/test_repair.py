"""What is no legal SCXML in the suites is read as its tests mean it."""

from __future__ import annotations

from pathlib import Path

from stateward.exchange.element import parse
from tests.conformance.document import parsed
from tests.conformance.repair import repaired

HEAD = '<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0"'


def test_a_legal_document_stays_as_it_is() -> None:
    """Only what is illegal is touched."""
    root = parse(f'{HEAD} initial="a"><state id="a"><transition event="e" target="a"/></state></scxml>')
    assert repaired(root) == root


def test_transitions_of_the_root_become_those_of_a_state_around_all() -> None:
    """The chart's root has them, and the states are where they were."""
    text = f'{HEAD} initial="b"><transition event="e" target="a"/><state id="a"/><state id="b"/></scxml>'
    chart = parsed(text, folder=Path()).chart
    assert [node.path for node in chart.nodes] == ["", "a", "b"]
    assert (chart.transitions[0].source, chart.nodes[0].initial) == (0, (2,))


def test_a_transition_without_attributes_gets_a_condition() -> None:
    """It is taken whenever it is reached, as SCION takes it."""
    chart = parsed(f'{HEAD}><state id="a"><transition><log/></transition></state></scxml>', folder=Path()).chart
    assert (chart.transitions[0].kind, chart.transitions[0].guard_name) == ("always", "true")
