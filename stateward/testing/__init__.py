"""What tests of charts need: a scripted model, a clock moved by hand, both ways to run, and machines made of charts.

`chart_machine` needs Hypothesis, which the extra `test` brings; everything else comes with the package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from stateward.testing.clock import ManualClock
from stateward.testing.model import Reply, ScriptedModel, calls
from stateward.testing.way import How, run_graph

if TYPE_CHECKING:
    from stateward.testing.machine import chart_machine

__all__ = ["How", "ManualClock", "Reply", "ScriptedModel", "calls", "chart_machine", "run_graph"]


def __getattr__(name: str) -> object:
    if name != "chart_machine":
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    try:
        return import_module("stateward.testing.machine").chart_machine
    except ModuleNotFoundError as missing:
        if missing.name != "hypothesis":
            raise
        raise ImportError(
            "`chart_machine` needs Hypothesis, which is not installed. Install `stateward[test]`.", name="hypothesis"
        ) from missing
