"""The public statechart suite, run on the bare kernel."""

from __future__ import annotations

import pytest

from tests.conformance.__main__ import is_broken
from tests.conformance.runner import run
from tests.conformance.suite import cases


@pytest.mark.conformance
def test_the_kernel_passes_the_scion_suite() -> None:
    """Every SCION test but the two that need an engine passes, parallel and delayed ones included."""
    broken = [(o.case.name, o.reason) for o in map(run, cases()) if is_broken(o)]
    assert broken == []
