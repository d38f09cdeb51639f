"""What is written and read again is the same chart, whatever is in it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from stateward.chart.definition import Definition
from stateward.errors import DefinitionError
from stateward.exchange.registry import Registry
from stateward.exchange.scxml_reader import read_scxml
from stateward.exchange.scxml_writer import write_scxml
from stateward.exchange.xstate_reader import read_xstate
from stateward.exchange.xstate_writer import write_xstate, xstate_text
from tests.exchange.drawn import Features, charts

SLOW = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
OTHERWISE = ("stands before", "Two timers", "leaves the parallel", "XState asks", "XState keeps", "XState skips")
"""What XState would do otherwise; every drawn chart without such a thing can be written."""


@SLOW
@given(charts())
def test_scxml_brings_every_chart_back(chart: Definition) -> None:
    """The same tables, and from them the same document."""
    text = write_scxml(chart)
    back = read_scxml(text, registry=Registry.of_chart(chart))
    assert back.to_json() == chart.to_json()
    assert write_scxml(back) == text


@SLOW
@given(charts(Features(deep_initial=False)))
def test_xstate_brings_back_every_chart_that_means_the_same_there(chart: Definition) -> None:
    """The same tables, and from them the same machine."""
    try:
        text = xstate_text(write_xstate(chart))
    except DefinitionError as refused:
        if any(reason in str(refused) for reason in OTHERWISE):
            return
        raise
    back = read_xstate(text, registry=Registry.of_chart(chart))
    assert back.to_json() == chart.to_json()
    assert xstate_text(write_xstate(back)) == text


def test_what_is_not_in_the_registry_does_not_come_back() -> None:
    """It is an error that names it, not a chart without it."""
    content = '<state><onentry><action xmlns="urn:stateward:1" name="ring"/></onentry></state>'
    with pytest.raises(DefinitionError, match="`ring` is not among the registry's actions"):
        read_scxml(f'<scxml xmlns="http://www.w3.org/2005/07/scxml">{content}</scxml>')
