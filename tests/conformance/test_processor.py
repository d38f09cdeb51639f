"""The session layer: each document in `documents` says what it shows, and ends in `pass` each of the three ways."""

from __future__ import annotations

from pathlib import Path

import pytest

from stateward.testing import ManualClock
from tests.conformance.document import parsed, read
from tests.conformance.processor import Processor
from tests.conformance.value import NotSupportedError
from tests.conformance.way import ASYNC, COMPILED, KERNEL, RESTORED, Way

DOCUMENTS = sorted((Path(__file__).parent / "documents").glob("*.scxml"))
LEFT_OUT = """
<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0">
  <state id="a">
    <onentry><log expr="new Date()"/></onentry>
    <transition event="error" target="b"/>
  </state>
  <final id="b"/>
</scxml>
"""
each_way = pytest.mark.parametrize("way", [KERNEL, COMPILED, RESTORED, ASYNC], ids=lambda way: way.name)


@each_way
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_a_document_ends_in_pass(path: Path, way: Way) -> None:
    """What its name says holds: it looks at it itself."""
    clock = ManualClock()
    with way.world(clock) as make:
        processor = Processor(read(path), clock=clock, make=make, latency_s=1e-6)
        processor.start()
        processor.settle(until=processor.now + 100)
        assert processor.main.atoms == ["pass"]


@each_way
def test_what_is_left_out_ends_the_run(way: Way) -> None:
    """It never becomes an event that a document could take for its own error."""
    clock = ManualClock()
    with way.world(clock) as make:
        processor = Processor(parsed(LEFT_OUT, folder=Path()), clock=clock, make=make, latency_s=1e-6)
        with pytest.raises(NotSupportedError, match="Date"):
            processor.start()
